//! `lightlag plot`: one figure of a sweep or a run.

use crate::lightlag::running::link_of;
use crate::lightlag::{Place, WALKERS, repository};
use serde_json::Value;

fn specification(place: &Place, words: &[&str]) -> Value {
    place.good(&[&["plot"], words, &["--out", "f.vl.json"]].concat());
    serde_json::from_slice(&place.read("f.vl.json")).expect("it is JSON")
}

fn swept() -> Place {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("\"none\"", "[\"none\", \"credit\"]"));
    place.good(&["sweep", "s.toml", "--set", "buffer=[\"300 kB\", \"500 kB\"]", "--out", "done"]);
    place
}

#[test]
fn a_metric_of_a_sweep_is_drawn_over_its_axes() {
    let place = swept();
    let made = specification(&place, &["done", "--metric", "delivery_prob"]);
    let values = made["data"]["values"].as_array().expect("marks");
    assert_eq!(values.len(), 4, "{made}");
    assert!(values.iter().all(|value| value["low"].is_number()), "two seeds have an interval: {made}");
    assert_eq!((&values[0]["series"], &values[0]["x"]), (&"none".into(), &300.0.into()));
    let turned = specification(
        &place,
        &["done", "--metric", "dropped", "--x", "mechanism", "--series", "buffer", "--title", "Drops"],
    );
    assert_eq!(turned["title"], "Drops");
    assert_eq!(turned["data"]["values"][0]["series"], "300 kB");
    let html = place.good(&["plot", "done", "--metric", "created", "--out", "figures/f.html"]);
    assert_eq!(html, "figures/f.html\n");
    assert!(
        String::from_utf8_lossy(&place.read("figures/f.html")).contains("vega"),
        "it works without a network"
    );
}

#[test]
fn the_series_of_a_run_is_drawn_over_time() {
    let place = Place::new();
    place.write("link.toml", format!("sample_every = \"1 s\"\n{}", link_of("1 Mbit/s", "")));
    place.good(&["run", "link.toml", "--out", "one"]);
    let made = specification(&place, &["one", "--metric", "window"]);
    assert_eq!(made["encoding"]["x"]["title"], "time (s)");
    assert!(made["data"]["values"].as_array().is_some_and(|values| values.len() > 10), "{made}");
    place.write("s.toml", format!("{WALKERS}\n[world]\nsample_every = \"1 min\"\n"));
    place.good(&["run", "s.toml", "--out", "two"]);
    let made = specification(&place, &["two", "--metric", "buffer_fill"]);
    assert!(made.to_string().contains("node 3"), "{made}");
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_can() {
    let place = swept();
    place.good(&["run", "s.toml", "--out", "plain"]);
    for (words, right) in [
        (
            &["done", "--metric", "speed", "--out", "f.html"][..],
            "the sweep has no metric `speed`; it has sim_time, created, ",
        ),
        (
            &["done", "--metric", "created", "--x", "router", "--out", "f.html"],
            "--x: the sweep does not vary `router`; it varies",
        ),
        (
            &["done", "--metric", "created", "--out", "f.pdf"],
            "name a file that ends in .svg, .png, .html or .vl.json",
        ),
        (
            &["plain", "--metric", "created", "--out", "f.html"],
            "or of `run --out` of a scenario with `sample_every`",
        ),
    ] {
        let line = place.refused(&[&["plot"], words].concat());
        assert!(line.contains(right), "{line}");
    }
}

#[test]
fn a_picture_is_drawn_where_its_library_is_and_otherwise_the_line_says_how_to_get_it() {
    let place = swept();
    let words = ["plot", "done", "--metric", "created", "--out", "f.svg"];
    let done = place.command(&words).env("PATH", place.path("nothing")).output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("`pip install vl-convert-python`") && said.lines().count() == 1, "{said}");
    let python = repository(".venv/bin");
    if !python.join("python3").exists() {
        return crate::skip::skip("there is no .venv with vl-convert");
    }
    for file in ["f.svg", "f.png"] {
        let words = ["plot", "done", "--metric", "created", "--out", file];
        let done = place.command(&words).env("PATH", &python).output().expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let bytes = place.read(file);
        assert!(bytes.starts_with(b"<svg") || bytes.starts_with(b"\x89PNG"), "{file}");
    }
}
