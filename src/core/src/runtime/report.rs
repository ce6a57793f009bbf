//! What the library prints at start-up when asked, and warnings about the environment.

use crate::base::env;
use crate::base::text::visible_lines;
use crate::base::unknown_env::{Unknown, unknown};

/// Version line.
pub fn version_line() -> String {
    format!("Pellucid {}, OpenSHMEM 1.6", env!("CARGO_PKG_VERSION"))
}

/// Prints what `SHMEM_VERSION` and `SHMEM_INFO` ask for, on standard output, and warns of variables that are not known.
pub fn at_start(launcher: &str) {
    if env::is_set("VERSION") {
        println!("{}", version_line());
    }
    if env::is_set("INFO") {
        print!("{}\nStarted by {launcher}\n{}", version_line(), env::info());
    }
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for Unknown { name, hint } in unknown(names) {
        let name = visible_lines(&name.replace('\n', " "));
        eprintln!("pellucid: warning: environment variable {name} is not known; {hint}");
    }
}
