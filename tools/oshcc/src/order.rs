//! Profilers that come too late on the command line.
//!
//! A PSHMEM profiler defines `shmem_X`; the first library that does so wins. After `-lsma` it is never called, and
//! nothing says so, neither when linking nor when running.

use std::ffi::OsString;
use std::path::Path;

/// The library under its names.
const OURS: &[&str] = &["sma", "smaf", "psma", "openshmem", "shmem"];

/// Parts of names that profilers have.
const PROFILERS: &[&str] = &["prof", "trac", "tau", "scorep", "instr", "wrap", "interpos", "monitor", "tool", "extrae"];

/// What a library refers to that goes on to the routines.
const SHIFTED: &[u8] = b"pshmem_";

/// A sentence for each profiler that would be left out.
pub fn warnings(args: &[OsString]) -> Vec<String> {
    let mut ours: Option<String> = None;
    let mut found = Vec::new();
    let names: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let after = |at: usize, option: &str| match names[at].strip_prefix(option) {
        Some("") => names.get(at + 1).copied(),
        value => value,
    };
    let folders: Vec<&str> = (0..names.len()).filter_map(|at| after(at, "-L")).collect();
    for (at, arg) in names.iter().enumerate() {
        let library = after(at, "-l");
        if library.is_some_and(|name| OURS.contains(&name)) {
            ours = ours.or(library.map(str::to_owned));
            continue;
        }
        let Some(before) = &ours else { continue };
        let is_tool = match library {
            Some(name) => PROFILERS.iter().any(|part| name.contains(part)) || is_in(&folders, name),
            None => [".a", ".so"].iter().any(|end| arg.ends_with(end)) && goes_on(Path::new(arg)),
        };
        if is_tool {
            let name = library.map_or_else(|| (*arg).to_owned(), |name| format!("-l{name}"));
            found.push(format!(
                "{name} comes after -l{before}: a profiler there is never called. \
                 Leave -l{before} out, it is added at the end"
            ));
        }
    }
    found
}

/// Whether the library that the linker would take goes on to `pshmem_X`, as profilers do whatever their name.
fn is_in(folders: &[&str], name: &str) -> bool {
    let files =
        folders.iter().flat_map(|folder| ["so", "a"].map(|end| Path::new(folder).join(format!("lib{name}.{end}"))));
    files.into_iter().find(|file| file.is_file()).is_some_and(|file| goes_on(&file))
}

fn goes_on(file: &Path) -> bool {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.strip_prefix("lib"));
    if stem.is_some_and(|stem| OURS.contains(&stem)) {
        return false;
    }
    std::fs::read(file).is_ok_and(|bytes| bytes.windows(SHIFTED.len()).any(|window| window == SHIFTED))
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

    #[test]
    fn profilers_by_what_they_refer_to() {
        let folder = std::env::temp_dir().join(format!("oshcc-order-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("libcounter.a"), b"...\0pshmem_putmem\0").unwrap();
        std::fs::write(folder.join("libother.so"), b"...\0shmem_putmem\0").unwrap();
        std::fs::write(folder.join("libsma.a"), b"...\0pshmem_putmem\0").unwrap();
        let place = folder.to_str().unwrap();
        for (line, count) in [
            (format!("a.c -L{place} -lsma -lcounter"), 1),
            (format!("a.c -lsma -L {place} -lcounter -lother"), 1),
            (format!("a.c -L{place} -lcounter -lsma -lother"), 0),
            (format!("a.c -lsma {place}/libcounter.a"), 1),
            (format!("a.c -lsma {place}/libother.so a.o"), 0),
            (format!("a.c -L{place} -lsma -lpsma {place}/libsma.a"), 0),
        ] {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(warnings(&args).len(), count, "{line}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
