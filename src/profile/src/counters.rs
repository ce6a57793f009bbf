//! The hardware and software counters that can be asked for.
//!
//! `SHMEM_COUNTERS=cycles,page-faults` (`oshrun --counters`) reads them at the begin and the end of each timed call and
//! of each region. Reading is a system call, some hundred nanoseconds: nothing is read unless it is asked for.

use crate::segment::counters::COUNTERS;

/// Who counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterKind {
    /// The processor.
    Hardware,
    /// The kernel.
    Software,
    /// The kernel, in kernel mode: where it does not show that, the counter would always be 0.
    SoftwareInKernel,
}

/// One counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterInfo {
    /// As perf has it.
    pub name: &'static str,
    /// Who counts.
    pub kind: CounterKind,
    /// What is counted, for people.
    pub what: &'static str,
}

const fn known(name: &'static str, kind: CounterKind, what: &'static str) -> CounterInfo {
    CounterInfo { name, kind, what }
}

/// Every counter.
pub const KNOWN: [CounterInfo; 20] = [
    known("cycles", CounterKind::Hardware, "clock cycles of the processor"),
    known("instructions", CounterKind::Hardware, "instructions that were carried out"),
    known("cache-references", CounterKind::Hardware, "accesses to the last cache"),
    known("cache-misses", CounterKind::Hardware, "accesses that no cache had"),
    known("branches", CounterKind::Hardware, "branch instructions"),
    known("branch-misses", CounterKind::Hardware, "branches that were predicted wrong"),
    known("bus-cycles", CounterKind::Hardware, "cycles of the bus"),
    known("ref-cycles", CounterKind::Hardware, "cycles at the nominal clock rate"),
    known("stalled-cycles-frontend", CounterKind::Hardware, "cycles in which no instruction could be fetched"),
    known("stalled-cycles-backend", CounterKind::Hardware, "cycles in which instructions waited for data or units"),
    known("L1-dcache-load-misses", CounterKind::Hardware, "loads that the first cache did not have"),
    known("LLC-load-misses", CounterKind::Hardware, "loads that the last cache did not have"),
    known("dTLB-load-misses", CounterKind::Hardware, "loads whose page the processor had to look up"),
    known("task-clock", CounterKind::Software, "time on a processor"),
    known("page-faults", CounterKind::Software, "pages that were not mapped at their access"),
    known("minor-faults", CounterKind::Software, "of these, found in memory: a first touch"),
    known("major-faults", CounterKind::Software, "of these, read from disk"),
    known("context-switches", CounterKind::SoftwareInKernel, "times that another thread took the processor"),
    known("cpu-migrations", CounterKind::SoftwareInKernel, "moves to another core"),
    known("alignment-faults", CounterKind::Software, "accesses that the kernel had to put together"),
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
