//! Compiles the C shim: stable Rust has no thread-local storage with the initial-exec model.

fn main() {
    println!("cargo::rerun-if-changed=shim/slot.c");
    cc::Build::new().file("shim/slot.c").opt_level(2).compile("pellucid_profile_slot");
}
