//! What the library prints at start-up when asked, and warnings about the environment.

use crate::base::env;
use crate::base::text::visible_lines;
use crate::base::unknown_env::{Unknown, unknown};
use crate::transport::registry;
use std::io::{self, Write};

/// Version line.
pub fn version_line() -> String {
    format!("Pellucid {}, OpenSHMEM 1.6", env!("CARGO_PKG_VERSION"))
}

/// Where standard output cannot be written to, the program goes on.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints what `SHMEM_VERSION` and `SHMEM_INFO` ask for, on standard output, and warns of variables that are not known.
pub fn at_start(launcher: &str) {
    if env::is_set("VERSION") {
        print(&format!("{}\n", version_line()));
    }
    if env::is_set("INFO") {
        let transports = registry::about();
        print(&format!("{}\nStarted by {launcher}\n{}{transports}", version_line(), env::info()));
    }
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for Unknown { name, hint } in unknown(names) {
        let name = visible_lines(&name.replace('\n', " "));
        crate::say!("pellucid: warning: environment variable {name} is not known; {hint}");
    }
}
