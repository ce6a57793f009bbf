//! The hardware and software counters that can be asked for.
//!
//! `SHMEM_COUNTERS=cycles,page-faults` (`oshrun --counters`) reads them at the begin and the end of each timed call and of each
//! region. Reading is a system call, some hundred nanoseconds: nothing is read unless it is asked for.

use crate::segment::extra::COUNTERS;

/// Who counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The processor.
    Hardware,
    /// The kernel.
    Software,
    /// The kernel, in kernel mode: where it does not show that, the counter would always be 0.
    SoftwareInKernel,
}

/// One counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// As perf has it.
    pub name: &'static str,
    /// Who counts.
    pub kind: Kind,
}

const fn known(name: &'static str, kind: Kind) -> Known {
    Known { name, kind }
}

/// Every counter.
pub const KNOWN: [Known; 20] = [
    known("cycles", Kind::Hardware),
    known("instructions", Kind::Hardware),
    known("cache-references", Kind::Hardware),
    known("cache-misses", Kind::Hardware),
    known("branches", Kind::Hardware),
    known("branch-misses", Kind::Hardware),
    known("bus-cycles", Kind::Hardware),
    known("ref-cycles", Kind::Hardware),
    known("stalled-cycles-frontend", Kind::Hardware),
    known("stalled-cycles-backend", Kind::Hardware),
    known("L1-dcache-load-misses", Kind::Hardware),
    known("LLC-load-misses", Kind::Hardware),
    known("dTLB-load-misses", Kind::Hardware),
    known("task-clock", Kind::Software),
    known("page-faults", Kind::Software),
    known("minor-faults", Kind::Software),
    known("major-faults", Kind::Software),
    known("context-switches", Kind::SoftwareInKernel),
    known("cpu-migrations", Kind::SoftwareInKernel),
    known("alignment-faults", Kind::Software),
];

/// Understands a list of names, separated by commas: indices of [`KNOWN`], each once.
///
/// # Errors
/// What is wrong with it.
pub fn parse(list: &str) -> Result<Vec<usize>, &'static str> {
    let mut found = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let at = KNOWN.iter().position(|known| known.name == name).ok_or(
            "unknown counter; there are cycles, instructions, cache-references, cache-misses, branches, branch-misses, \
             bus-cycles, ref-cycles, stalled-cycles-frontend, stalled-cycles-backend, L1-dcache-load-misses, \
             LLC-load-misses, dTLB-load-misses, task-clock, page-faults, minor-faults, major-faults, context-switches, \
             cpu-migrations, alignment-faults",
        )?;
        if !found.contains(&at) {
            found.push(at);
        }
    }
    match found.len() {
        0 => Err("expected names of counters, separated by commas"),
        1..=COUNTERS => Ok(found),
        _ => Err("at most 8 counters at a time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names() {
        assert_eq!(parse("cycles, page-faults,cycles"), Ok(vec![0, 14]));
        let message = parse("cicles").unwrap_err();
        assert!(KNOWN.iter().all(|known| message.contains(known.name)), "{message}");
        assert!(parse(" , ").is_err());
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        assert!(parse(&names[..COUNTERS].join(",")).is_ok() && parse(&names.join(",")).is_err());
    }
}
