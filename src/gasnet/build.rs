//! Compiles the C shim: what Rust cannot say (thread-local storage with the initial-exec model, a variable argument
//! list, variables that are weak), and POSIX's locks in the room that a header has.

fn main() {
    println!("cargo:rerun-if-changed=shim");
    cc::Build::new()
        .files(["shim/thread.c", "shim/fatal.c", "shim/hooks.c", "shim/locks.c"])
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-fvisibility=hidden")
        .compile("pellucid_gasnet_shim");
}
