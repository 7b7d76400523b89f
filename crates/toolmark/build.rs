//! How the binary is linked.

fn main() {
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    // The hook runs before every call of an agent. A position-independent binary
    // would spend a third of that time on moving its tables to where it happens
    // to be loaded.
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bin=toolmark=-no-pie");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
