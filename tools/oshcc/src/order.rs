//! Profilers that come too late on the command line.
//!
//! A PSHMEM profiler defines `shmem_X`; the first library that does so wins. After `-lsma` it is never called, and nothing
//! says so, neither when linking nor when running.

use std::ffi::OsString;

/// The library under its names.
const OURS: &[&str] = &["sma", "openshmem", "shmem"];

/// Parts of names that profilers have.
const PROFILERS: &[&str] = &["prof", "trac", "tau", "scorep", "instr", "wrap", "interpos", "monitor", "tool", "extrae"];

/// A sentence for each profiler that would be left out.
pub fn warnings(args: &[OsString]) -> Vec<String> {
    let mut ours: Option<&str> = None;
    let mut found = Vec::new();
    let names: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    for (at, arg) in names.iter().enumerate() {
        let name = match arg.strip_prefix("-l") {
            Some("") => names.get(at + 1).copied().unwrap_or_default(),
            Some(name) => name,
            None => continue,
        };
        if OURS.contains(&name) {
            ours = ours.or(Some(name));
        } else if let Some(before) = ours
            && PROFILERS.iter().any(|part| name.contains(part))
        {
            found.push(format!(
                "-l{name} comes after -l{before}: a profiler there is never called. \
                 Leave -l{before} out, it is added at the end"
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_profilers_after_the_library() {
        for (line, count) in [
            ("a.c -lmyprof", 0),
            ("a.c -lmyprof -lsma", 0),
            ("a.c -lsma -lmyprof", 1),
            ("a.c -l sma -l myprof", 1),
            ("a.c -lsma -lm -lpthread", 0),
            ("a.c -lsma -lTAU -ltau", 1),
            ("a.c -lopenshmem -lscorep_adapter -lmytracer", 2),
        ] {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(warnings(&args).len(), count, "{line}");
        }
    }
}
