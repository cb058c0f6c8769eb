//! Gives the shared library the name under which programs look for it.

fn main() {
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system != "macos" && system != "windows" {
        let major = env!("CARGO_PKG_VERSION_MAJOR");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liblightlag.so.{major}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
