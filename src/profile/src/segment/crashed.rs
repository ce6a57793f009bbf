//! Words for where a PE crashed.

use super::current::{Phase, in_file};
use super::map::Segment;
use crate::text::{has_line, with_line};

/// Calls of the program that are named.
const CALLS: usize = 3;
/// Objects that are nobody's program: what crashes in them, as an exception that nobody catches, was called by it.
const SYSTEM: [&str; 11] = [
    "libc.so",
    "libpthread.so",
    "ld-linux",
    "libm.so",
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libgcc_s.so",
    "libgfortran.so",
    "libgomp.so",
    "libomp.so",
];
/// Begins of the names of functions of this library, where it is part of the executable.
const OURS: [&str; 2] = ["shmem_", "pshmem_"];

/// Whose code a call is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Program,
    Library,
    System,
}

impl Segment {
    /// `in inner at crash.c:6, address 0x0, called from main at crash.c:15`, of a PE that crashed: words for the
    /// address that it could not use, and the calls under way, innermost first; each is an address that is returned to,
    /// and whether it is known to be of this library. `line` is that of
    /// [`super::CurrentOp::called_from`]. `None`: the files are not known.
    pub fn crashed(
        &self,
        pe: u32,
        (address, calls): &(Option<String>, Vec<(u64, bool)>),
        line: impl Fn(&str, u64) -> Option<String>,
    ) -> Option<String> {
        let region = self.region(pe)?;
        let files = calls.iter().filter_map(|&(call, is_ours)| Some((in_file(region, call)?, is_ours)));
        let mut shown = Vec::new();
        for ((path, at), is_ours) in files {
            shown.push(named(&path, at, is_ours, &line));
            if is_enough(&shown) {
                break;
            }
        }
        let first = shown.first()?;
        let by = crashing(&shown);
        let address = address.as_ref().map(|words| format!(", {words}")).unwrap_or_default();
        let current = self.current(pe).into_iter().next().filter(|current| current.phase != Phase::Returned);
        let (place, skip) = match (by, current) {
            // A handler of the program's.
            (Whose::Program, Some(current)) if current.phase == Phase::Inside => {
                let text = format!("{}, in {}{address}", current.phrase(self.objects(pe)), first.0);
                return Some(with_line(&(text + &current.called_from(line))));
            }
            (_, Some(current)) if current.phase == Phase::Inside => (current.phrase(self.objects(pe)), 0),
            (Whose::Library, Some(current)) => (format!("in {}", current.routine), 0),
            _ => (format!("in {}", first.0), 1),
        };
        let callers = shown.iter().skip(skip).filter(|(_, whose)| *whose == Whose::Program);
        let callers: String = callers.map(|(name, _)| format!(", called from {name}")).collect();
        Some(with_line(&(place + &address + &callers)))
    }
}

/// Whether these calls, innermost first, are all that are to be named: what called `main` is nobody's.
fn is_enough(shown: &[(String, Whose)]) -> bool {
    let of_program = || shown.iter().filter(|(_, whose)| *whose == Whose::Program);
    let Some((name, whose)) = shown.last() else { return false };
    match whose {
        Whose::Program => of_program().count() >= CALLS || is_main(name),
        Whose::System => of_program().next().is_some(),
        Whose::Library => false,
    }
}

/// Whether a name is that of `main`, or of what is inlined in it: `inner at crash.c:6, inlined in main at crash.c:15`.
fn is_main(name: &str) -> bool {
    let last = name.rsplit(", inlined in ").next().unwrap_or(name);
    last.strip_prefix("main").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '+']))
}

/// Whose call has crashed. What the library has called of the system, as to copy memory, does the library's work.
fn crashing(shown: &[(String, Whose)]) -> Whose {
    let innermost = shown.iter().map(|(_, whose)| *whose).find(|whose| *whose != Whose::System);
    innermost
        .filter(|whose| *whose == Whose::Library)
        .or(shown.first().map(|(_, whose)| *whose))
        .unwrap_or(Whose::System)
}

/// The name of a call, and whose it is. `is_ours`: it is known to be this library's, in a file that it is part of.
/// Neither it nor the C library has lines there: what has some is the program's, even where the library has called it
/// by its name, as a `malloc` of the program.
fn named(path: &str, at: u64, is_ours: bool, line: &impl Fn(&str, u64) -> Option<String>) -> (String, Whose) {
    let file = path.rsplit('/').next().unwrap_or(path);
    let found = line(path, at);
    let is_ours = is_ours && !found.as_deref().is_some_and(has_line);
    let whose = if SYSTEM.iter().any(|name| file.starts_with(name)) {
        Whose::System
    } else if is_ours
        || file.starts_with("libsma.so")
        || found.as_ref().is_some_and(|name| name.contains("pellucid_") || OURS.iter().any(|it| name.starts_with(it)))
    {
        Whose::Library
    } else {
        Whose::Program
    };
    // Those of the system are seldom installed with names.
    let unnamed = || if whose == Whose::System { file.to_owned() } else { format!("{file}+{at:#x}") };
    (found.unwrap_or_else(unnamed), whose)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Whose::{Library, Program, System};

    fn calls(list: &[(&str, Whose)]) -> Vec<(String, Whose)> {
        list.iter().map(|(name, whose)| ((*name).to_owned(), *whose)).collect()
    }

    #[test]
    fn what_the_library_calls_of_the_system_is_its_own() {
        let of = |list: &[Whose]| crashing(&list.iter().map(|whose| (String::new(), *whose)).collect::<Vec<_>>());
        assert_eq!(of(&[System, Library, Program]), Library);
        assert_eq!(of(&[System, System, Library, Library, Program]), Library);
        // What the program has called itself, and what the system calls of the program.
        assert_eq!(of(&[System, Program]), System);
        assert_eq!(of(&[System, Program, Library, Program]), System);
        assert_eq!(of(&[Program, System, Program]), Program);
        assert_eq!(of(&[Program, System, Library, Program]), Program);
        assert_eq!(of(&[System]), System);
    }

    #[test]
    fn a_file_that_the_library_is_part_of() {
        let of = |name: Option<&str>, is_ours| named("/a/prog", 0x10, is_ours, &|_: &str, _| name.map(str::to_owned)).1;
        assert_eq!(of(None, true), Library);
        assert_eq!(of(Some("__memcpy_avx+0x8"), true), Library);
        assert_eq!(of(Some("malloc at mine.c:3"), true), Program);
        assert_eq!(of(Some("__memcpy_avx+0x8"), false), Program);
        assert_eq!(of(Some("shmem_long_put+0x8"), false), Library);
    }

    #[test]
    fn calls_are_named_up_to_main() {
        for (name, is_last) in [
            ("main", true),
            ("main at a.c:7", true),
            ("main+0x10", true),
            ("inner at a.c:3, inlined in main at a.c:7", true),
            ("mainly at a.c:7", false),
            ("main_loop+0x8", false),
            ("main at a.c:7, inlined in start at a.c:9", false),
        ] {
            assert_eq!(is_enough(&calls(&[(name, Program)])), is_last, "{name}");
        }
        assert!(is_enough(&calls(&[("a", Program), ("libc.so.6", System)])));
        assert!(!is_enough(&calls(&[("libc.so.6", System), ("a", Program)])));
        assert!(is_enough(&calls(&[("a", Program), ("b", Program), ("c", Program)])));
    }
}
