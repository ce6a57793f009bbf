//! The processes that this one was started by, as far as the kernel shows them.

/// How far up it goes: a daemon may start a shell, that a script, and that the program.
const GENERATIONS: usize = 8;

/// The file behind a library of this name (`libpmix.so.2`, also `libpmix.so.2.5.1`) in the nearest ancestor that has
/// one loaded. `None`: there is none, or they are another user's.
pub fn library(name: &str) -> Option<String> {
    let mut pid = std::process::id();
    for _ in 0..GENERATIONS {
        pid = parent(&super::proc::read(format!("/proc/{pid}/status")).ok()?).filter(|pid| *pid > 1)?;
        let maps = super::proc::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        if let Some(path) = loaded_library(&maps, name) {
            return Some(path.to_owned());
        }
    }
    None
}

fn parent(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn loaded_library<'a>(maps: &'a str, name: &str) -> Option<&'a str> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    // What was replaced since then ends with " (deleted)", and is not to be opened any more.
    paths.filter(|path| !path.ends_with(')')).find(|path| {
        let rest = path.rsplit('/').next().and_then(|file| file.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_by_its_name_in_what_is_mapped() {
        let maps = "7f00-7f01 r--p 00000000 fe:00 12  /opt/a b/lib/libpmix.so.2.13.5\n\
                    7f02-7f03 r--p 00000000 fe:00 13  /usr/lib/libpmix.so.20\n\
                    7f04-7f05 rw-p 00000000 00:00 0\n\
                    7f06-7f07 r--p 00000000 fe:00 14  /lib/libother.so.1 (deleted)\n";
        assert_eq!(loaded_library(maps, "libpmix.so.2"), Some("/opt/a b/lib/libpmix.so.2.13.5"));
        assert_eq!(loaded_library(maps, "libpmix.so.3"), None);
        assert_eq!(loaded_library(maps, "libother.so.1"), None);
        assert_eq!(parent("Name:\tx\nPPid:\t17\n"), Some(17));
        assert_eq!(library("libno-such-thing.so.9"), None);
    }
}
