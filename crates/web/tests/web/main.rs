//! The crate as a page uses it: natively, and as WebAssembly under Node.

#[path = "../../examples/bindings.rs"]
mod bindings;
mod built;
mod digests;
mod playing;
#[path = "../../../../tests/skip.rs"]
mod skip;
