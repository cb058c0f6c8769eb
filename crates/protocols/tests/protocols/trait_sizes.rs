//! The traits that algorithms implement stay small.

use std::path::Path;

/// File, trait, methods at most.
const LIMITS: &[(&str, &str, usize)] = &[
    ("src/controllers/mod.rs", "Controller", 9),
    ("src/dtn/mechanism.rs", "Mechanism", 12),
    ("src/dtn/router.rs", "Router", 12),
];

/// Methods that `source` declares for a trait; `None` if there is no such trait.
fn methods(source: &str, name: &str) -> Option<usize> {
    let heads = [format!("pub trait {name} {{"), format!("pub trait {name}: Send {{")];
    let body = source.lines().skip_while(|line| !heads.iter().any(|head| head == line)).skip(1);
    let body: Vec<&str> = body.take_while(|line| *line != "}").collect();
    (!body.is_empty()).then(|| body.iter().filter(|line| line.starts_with("    fn ")).count())
}

#[test]
fn no_trait_has_more_methods_than_its_limit() {
    for (file, name, limit) in LIMITS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let source = std::fs::read_to_string(&path).expect("the file is there");
        let count = methods(&source, name).unwrap_or_else(|| panic!("{file} has no trait {name}"));
        assert!(count <= *limit, "{name} has {count} methods; at most {limit}");
    }
}

#[test]
fn provided_and_required_methods_count_alike() {
    let source = "pub trait Pair {\n    /// fn in a comment\n    fn one(&self);\n    fn two(&self) {\n        fn inner() {}\n    }\n}\nfn free() {}\n";
    assert_eq!(methods(source, "Pair"), Some(2));
    assert_eq!(methods(source, "Other"), None);
}
