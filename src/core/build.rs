//! Compiles the C shim: weak references, which stable Rust cannot make.

fn main() {
    println!("cargo:rerun-if-changed=shim");
    cc::Build::new()
        .files(["shim/loader.c", "shim/sanitizer.c", "shim/thread.c"])
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-fvisibility=hidden")
        .compile("pellucid_core_shim");
}
