//! Words for where a PE crashed.

use super::current::{Phase, in_file};
use super::map::Segment;
use crate::text::with_line;

/// Calls of the program that are named.
const CALLS: usize = 3;
/// Objects that are nobody's program: what crashes in them was called by it.
const SYSTEM: [&str; 4] = ["libc.so", "libpthread.so", "ld-linux", "libm.so"];
/// Begins of the names of functions of this library, where it is part of the executable.
const OURS: [&str; 2] = ["shmem_", "pshmem_"];

/// Whose code a call is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Program,
    Library,
    System,
}

impl Segment {
    /// `in inner at crash.c:6, address 0x0, called from main at crash.c:15`, of a PE that crashed at this address with
    /// these calls under way, innermost first; each is an address that is returned to. `line` is that of
    /// [`super::CurrentOp::called_from`]. `None`: the files are not known.
    pub fn crashed(
        &self,
        pe: u32,
        (address, calls): &(Option<u64>, Vec<u64>),
        line: impl Fn(&str, u64) -> Option<String>,
    ) -> Option<String> {
        let region = self.region(pe)?;
        let files = calls.iter().filter_map(|&call| in_file(region, call));
        let mut shown = Vec::new();
        for (path, at) in files {
            let call = named(&path, at, &line);
            let whose = call.1;
            shown.push(call);
            if shown.iter().filter(|(_, whose)| *whose == Whose::Program).count() >= CALLS
                || (whose == Whose::System && shown.iter().any(|(_, whose)| *whose == Whose::Program))
            {
                break;
            }
        }
        let first = shown.first()?;
        let address = address.map(|address| format!(", address {address:#x}")).unwrap_or_default();
        let current = self.current(pe).into_iter().next().filter(|current| current.phase != Phase::Returned);
        let (place, skip) = match (first.1, current) {
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

fn named(path: &str, at: u64, line: &impl Fn(&str, u64) -> Option<String>) -> (String, Whose) {
    let file = path.rsplit('/').next().unwrap_or(path);
    let found = line(path, at);
    let whose = if SYSTEM.iter().any(|name| file.starts_with(name)) {
        Whose::System
    } else if file.starts_with("libsma.so")
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
