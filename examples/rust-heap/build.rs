//! Where `libsma` is: in the tree that `PELLUCID_PREFIX` names, else in the one that `./x build` makes.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=PELLUCID_PREFIX");
    if std::env::var_os("CARGO_FEATURE_LIBSMA").is_none() {
        return;
    }
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let prefix = std::env::var_os("PELLUCID_PREFIX").map_or_else(|| here.join("../../target/pellucid"), PathBuf::from);
    assert!(prefix.is_absolute(), "PELLUCID_PREFIX={}: an absolute path is expected", prefix.display());
    let lib = prefix.join("lib").canonicalize().unwrap_or_else(|error| panic!("{}: {error}", prefix.display()));
    println!("cargo::rustc-link-search=native={}", lib.display());
    println!("cargo::rustc-link-lib=dylib=sma");
    println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{}", lib.display());
}
