//! Which cores there are, which are in use by other jobs, and which PE gets which.
//!
//! Jobs of one user keep off each other's cores by claims ([`crate::sys::claim`]). What other users do cannot take a core
//! away: their claims do not count, and cores that processes of theirs are bound to come last.

use crate::options::Bind;
use crate::sys::claim::{Claim, claim};
use crate::sys::cpu::CpuSet;
use pellucid_core::os::socket::user;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

/// A core: its hardware threads, or one of them where there are more PEs than cores.
type Core = Vec<usize>;

/// Where the PEs run.
pub struct Binding {
    /// A set a PE; empty: anywhere.
    pub sets: Vec<CpuSet>,
    /// What keeps other jobs of this kind off the cores while this one runs.
    _claims: Vec<OwnedFd>,
}

/// Chooses cores for `pes` PEs.
///
/// Without `--bind`, PEs are bound where each finds a core that no other job has claimed, and where they are not meant to
/// run threads of their own. With `--bind core` they always are; cores are shared when they run out.
pub fn bind(pes: usize, choice: Option<Bind>) -> Binding {
    let nowhere = Binding { sets: Vec::new(), _claims: Vec::new() };
    let threads = || std::env::var("OMP_NUM_THREADS").is_ok_and(|n| n.trim() != "1");
    let must = match choice {
        Some(Bind::None) => return nowhere,
        Some(Bind::Core) => true,
        None if pes == 1 || threads() => return nowhere,
        None => false,
    };
    let cpus = CpuSet::of_this_process().list();
    if cpus.is_empty() || (!must && pes > cpus.len()) {
        return nowhere;
    }
    let mut units = units(pes, &cpus, siblings);
    let bound = Bound::find(cpus.len());
    units.sort_by_key(|unit| unit.iter().any(|cpu| bound.others.contains(cpu)));
    let (free, claims) = claim_units(&units, pes, &bound.own);
    match assign(pes, &units, &free, must) {
        Some(sets) => Binding { sets, _claims: claims },
        None => nowhere,
    }
}

/// A set a PE: free units first, then, where it must be, those of others, round and round.
fn assign(pes: usize, units: &[Core], free: &[usize], must: bool) -> Option<Vec<CpuSet>> {
    if free.len() < pes && !must {
        return None;
    }
    let others = (0..units.len()).filter(|unit| !free.contains(unit));
    let mut order: Vec<usize> = free.iter().copied().chain(others).collect();
    order[..pes.min(free.len())].sort_unstable();
    Some((0..pes).map(|pe| CpuSet::of(&units[order[pe % order.len()]])).collect())
}

/// Whole cores where they suffice, hardware threads (one of each core first) where they do not.
fn units(pes: usize, cpus: &[usize], siblings: impl Fn(usize) -> Vec<usize>) -> Vec<Core> {
    let mut cores: Vec<Core> = Vec::new();
    for cpu in cpus {
        if cores.iter().any(|core| core.contains(cpu)) {
            continue;
        }
        let mut core: Core = siblings(*cpu).into_iter().filter(|c| cpus.contains(c)).collect();
        if !core.contains(cpu) {
            core = vec![*cpu];
        }
        cores.push(core);
    }
    if pes <= cores.len() {
        return cores;
    }
    let most = cores.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|turn| cores.iter().filter_map(move |core| core.get(turn).map(|cpu| vec![*cpu]))).collect()
}

/// Claims up to `pes` units for this job: their numbers, and what holds the claims. Where it cannot be told whether a CPU is
/// claimed, it is where a process of this user is `bound` to it.
fn claim_units(units: &[Core], pes: usize, bound: &[usize]) -> (Vec<usize>, Vec<OwnedFd>) {
    let user = user();
    let mut free = Vec::new();
    let mut claims = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        if free.len() == pes {
            break;
        }
        let mut held = Vec::new();
        let is_free = unit.iter().all(|cpu| match claim(&format!("pellucid-{user}-cpu-{cpu}")) {
            Claim::Ours(fd) => {
                held.push(fd);
                true
            }
            Claim::Taken => false,
            Claim::Unknown => !bound.contains(cpu),
        });
        if is_free {
            free.push(number);
            claims.extend(held);
        }
    }
    (free, claims)
}

/// CPUs that processes are bound to: those that may use fewer CPUs than this job.
#[derive(Default)]
struct Bound {
    own: Vec<usize>,
    others: Vec<usize>,
}

impl Bound {
    /// Of this user, and of others; not of root, whose kernel threads have a CPU each.
    fn find(cpus: usize) -> Bound {
        let mut found = Bound::default();
        let user = user();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            let Ok(owner) = entry.metadata().map(|data| data.uid()) else { continue };
            if owner == 0 && user != 0 {
                continue;
            }
            let list = CpuSet::of_process(pid).list();
            if list.len() < cpus && !is_kernel_thread(pid, owner) {
                if owner == user { &mut found.own } else { &mut found.others }.extend(list);
            }
        }
        found
    }
}

/// Whether a process of root is a thread of the kernel: it has no memory of its own.
fn is_kernel_thread(pid: i32, owner: u32) -> bool {
    owner == 0 && fs::read(format!("/proc/{pid}/statm")).is_ok_and(|text| text.starts_with(b"0 "))
}

/// The hardware threads of the core of a CPU.
fn siblings(cpu: usize) -> Vec<usize> {
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    fs::read_to_string(file).map(|text| parse_list(&text)).unwrap_or_default()
}

/// Reads `0-3,8`.
fn parse_list(text: &str) -> Vec<usize> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            cpus.extend(first..=last);
        }
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four cores of two threads: 0 and 4, 1 and 5, ...
    fn pairs(cpu: usize) -> Vec<usize> {
        vec![cpu % 4, cpu % 4 + 4]
    }

    #[test]
    fn cores_first_then_threads() {
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(units(4, &all, pairs), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(units(5, &all, pairs), [[0], [1], [2], [3], [4], [5], [6], [7]]);
        assert_eq!(units(2, &[1, 2, 6], pairs), [vec![1], vec![2, 6]]);
        assert_eq!(units(2, &[1, 3], |_| Vec::new()), [[1], [3]]);
    }

    #[test]
    fn cores_of_other_jobs_come_last() {
        let units: Vec<Core> = (0..4).map(|cpu| vec![cpu]).collect();
        let lists = |sets: Option<Vec<CpuSet>>| sets.map(|s| s.iter().map(|set| set.list()[0]).collect::<Vec<_>>());
        assert_eq!(lists(assign(2, &units, &[1, 3], false)), Some(vec![1, 3]));
        assert_eq!(lists(assign(3, &units, &[1, 3], false)), None);
        assert_eq!(lists(assign(3, &units, &[1, 3], true)), Some(vec![1, 3, 0]));
        assert_eq!(lists(assign(6, &units, &[], true)), Some(vec![0, 1, 2, 3, 0, 1]));
    }

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse_list("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(parse_list(""), [] as [usize; 0]);
    }
}
