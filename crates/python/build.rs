//! Which commit the package is built from; an indirection, as a package may only have a build script inside itself.

#[path = "../../tools/commit.rs"]
mod commit;

fn main() {
    commit::main();
}
