//! Compiles the C shim: what stable Rust cannot sign or compute.

fn main() {
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-changed=../include/shmemx.h");
    cc::Build::new()
        .files(["shim/by_value.c", "shim/kernels.c", "shim/thread.c", "shim/threads.c"])
        .include("../include")
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-fvisibility=hidden")
        .compile("pellucid_shim");
}
