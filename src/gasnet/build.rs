//! Compiles the C shim: thread-local storage with the initial-exec model, and a variable argument list.

fn main() {
    println!("cargo:rerun-if-changed=shim");
    cc::Build::new()
        .files(["shim/thread.c", "shim/fatal.c"])
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-fvisibility=hidden")
        .compile("pellucid_gasnet_shim");
}
