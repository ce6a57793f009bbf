//! Where `libsma` is: in the tree that `PELLUCID_PREFIX` names, else in the one that `./x build` makes. With
//! `PELLUCID_LINK=static` it becomes a part of the program, as in programs that are static themselves (`crt-static`),
//! which could load nothing.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=PELLUCID_PREFIX");
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let prefix = std::env::var_os("PELLUCID_PREFIX").map_or_else(|| here.join("../../target/pellucid"), PathBuf::from);
    // Neither this script nor the linker runs where cargo was started, and programs would look for the library where
    // they run.
    assert!(prefix.is_absolute(), "PELLUCID_PREFIX={}: an absolute path is expected", prefix.display());
    let lib = prefix.join("lib");
    // Not resolved: what only checks the source needs no library.
    println!("cargo::rustc-link-search=native={}", lib.display());
    println!("cargo::rerun-if-env-changed=PELLUCID_LINK");
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static_program = features.split(',').any(|feature| feature == "crt-static");
    if !is_static_program {
        // For build scripts of programs: DEP_SMA_LIB. A static one does not start with a RUNPATH.
        println!("cargo::metadata=lib={}", lib.display());
    }
    if is_static_program || std::env::var("PELLUCID_LINK").is_ok_and(|how| how == "static") {
        // Not bundled: whatever is linked to this package takes the archive from where it is.
        println!("cargo::rustc-link-lib=static:-bundle=sma");
        // Of either kind, as the program is: "dylib" would have it loaded in any case.
        println!("cargo::rustc-link-lib=m");
    } else {
        println!("cargo::rustc-link-lib=dylib=sma");
        // Of this package's own programs and tests.
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", lib.display());
    }
}
