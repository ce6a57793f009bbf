//! Which cores there are, which are in use by other jobs, and which PE gets which.
//!
//! Jobs of one user keep off each other's cores by claims ([`crate::sys::claim`]). What other users do cannot take a
//! core away: their claims do not count, and cores that processes of theirs are bound to come last.

mod topology;

use crate::bind::{self, Bind, Wanted};
use crate::sys::claim::{Claim, claim};
use crate::sys::cpu::CpuSet;
use pellucid_core::os::socket::user;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use topology::siblings;

/// A core: its hardware threads, or one of them where there are more PEs than cores.
type Core = Vec<usize>;

/// Where the PEs run.
#[derive(Default)]
pub struct Binding {
    /// A set a PE; empty: anywhere.
    pub sets: Vec<CpuSet>,
    /// What the user should know of it.
    pub note: Option<String>,
    /// What keeps other jobs of this kind off the cores while this one runs.
    _claims: Vec<OwnedFd>,
}

impl Binding {
    fn of(sets: Vec<CpuSet>) -> Self {
        Self { sets, ..Self::default() }
    }

    /// `PE 0: CPU 0; PE 1: CPU 1`, or that there is none.
    pub fn text(&self) -> String {
        let one = |(pe, set): (usize, &CpuSet)| format!("PE {pe}: CPU {}", bind::shown(&set.list()));
        match self.sets.as_slice() {
            [] => "none".into(),
            sets => sets.iter().enumerate().map(one).collect::<Vec<_>>().join("; "),
        }
    }
}

/// Chooses CPUs for `pes` PEs; `threads`: their OMP_NUM_THREADS. Error: what cannot be.
///
/// Without `--bind`, PEs are bound where each finds a core that no other job has claimed, and where they are not meant
/// to run threads of their own. With `--bind core` they always are; cores are shared when they run out.
pub fn bind(pes: usize, wanted: &Wanted, threads: Option<&str>) -> Result<Binding, String> {
    let cpus = CpuSet::of_this_process().list();
    let has_threads = threads.is_some_and(|n| n.trim() != "1");
    let mut binding = match (&wanted.bind, wanted.cores) {
        (Some(Bind::None), None) => Binding::default(),
        (Some(Bind::List(list)), None) => listed(pes, list, &cpus)?,
        (Some(Bind::Numa), None) => shared(pes, &topology::nodes(&cpus), "NUMA node")?,
        (Some(Bind::Socket), None) => shared(pes, &topology::sockets(&cpus), "socket")?,
        (None | Some(Bind::Core), Some(cores)) => on_cores(pes, cores as usize, &cpus, true)?,
        (Some(Bind::Core), None) => on_cores(pes, 1, &cpus, true)?,
        (None, None) if pes == 1 || has_threads || pes > cpus.len() => Binding::default(),
        (None, None) => on_cores(pes, 1, &cpus, false)?,
        (Some(other), Some(_)) => return Err(format!("--cores-per-pe goes with --bind core, not with --bind {other}")),
    };
    let is_strict = wanted.cores.is_some() || matches!(wanted.bind, Some(Bind::Core | Bind::List(_)));
    binding.note = too_many_threads(&binding.sets, threads)
        .or_else(|| is_strict.then(|| sharing(&binding.sets, siblings)).flatten());
    Ok(binding)
}

/// Each on so many cores, as far as there are; with `must` they are shared when they run out.
fn on_cores(pes: usize, each: usize, cpus: &[usize], must: bool) -> Result<Binding, String> {
    if cpus.is_empty() {
        return Ok(Binding::default());
    }
    let mut units = units(if each == 1 { pes } else { 1 }, cpus, siblings);
    if each > units.len() {
        return Err(format!("--cores-per-pe {each}: oshrun may use {} core(s) of this host", units.len()));
    }
    if each > 1 {
        units = units.chunks_exact(each).map(<[Core]>::concat).collect();
    }
    let bound = Bound::find(cpus.len());
    units.sort_by_key(|unit| unit.iter().any(|cpu| bound.others.contains(cpu)));
    let (free, claims) = claim_units(&units, pes, &bound.own);
    let sets = assign(pes, &units, &free, must);
    Ok(sets.map_or_else(Binding::default, |sets| Binding { sets, _claims: claims, note: None }))
}

/// Each on the next of these sets, round and round.
fn listed(pes: usize, list: &[Vec<usize>], cpus: &[usize]) -> Result<Binding, String> {
    if let Some(cpu) = list.iter().flatten().find(|cpu| !cpus.contains(cpu)) {
        return Err(format!("--bind list: oshrun may not use CPU {cpu}, only {}", bind::shown(cpus)));
    }
    Ok(Binding::of((0..pes).map(|pe| CpuSet::of(&list[pe % list.len()])).collect()))
}

/// Each on one of these groups, neighbours together.
fn shared(pes: usize, groups: &[Vec<usize>], what: &str) -> Result<Binding, String> {
    if groups.is_empty() {
        return Err(format!("--bind: the kernel describes no {what}"));
    }
    Ok(Binding::of((0..pes).map(|pe| CpuSet::of(&groups[pe * groups.len() / pes])).collect()))
}

/// What is said where two PEs have one core.
fn sharing(sets: &[CpuSet], siblings: impl Fn(usize) -> Vec<usize>) -> Option<String> {
    let mut owners: Vec<(usize, usize)> = Vec::new();
    for (pe, set) in sets.iter().enumerate() {
        for cpu in set.list() {
            let core = siblings(cpu).into_iter().min().unwrap_or(cpu);
            match owners.iter().find(|(taken, _)| *taken == core) {
                Some((_, other)) if *other != pe => {
                    return Some(format!("PEs {other} and {pe} share a core (CPU {cpu}): {} PEs in all", sets.len()));
                }
                Some(_) => {}
                None => owners.push((core, pe)),
            }
        }
    }
    None
}

/// What is said where a PE would start more threads than it has hardware threads for.
fn too_many_threads(sets: &[CpuSet], threads: Option<&str>) -> Option<String> {
    // Of levels, `4,2`, the outermost counts.
    let threads = threads?.split(',').next()?.trim().parse::<usize>().ok()?;
    let has = sets.iter().map(|set| set.list().len()).min()?;
    let how = "--cores-per-pe N gives more, --bind none all";
    (threads > has).then(|| format!("OMP_NUM_THREADS is {threads}, and a PE has {has} hardware thread(s): {how}"))
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

/// Claims up to `pes` units for this job: their numbers, and what holds the claims. Where it cannot be told whether a
/// CPU is claimed, it is where a process of this user is `bound` to it.
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
    fn what_is_asked_for_is_what_there_is() {
        let lists = |binding: Binding| binding.sets.iter().map(CpuSet::list).collect::<Vec<_>>();
        assert_eq!(lists(listed(3, &[vec![0], vec![2, 3]], &[0, 1, 2, 3]).unwrap()), [vec![0], vec![2, 3], vec![0]]);
        assert!(listed(1, &[vec![7]], &[0, 1]).err().unwrap().contains("may not use CPU 7, only 0-1"));
        let nodes = [vec![0, 1], vec![2, 3]];
        assert_eq!(lists(shared(4, &nodes, "").unwrap()), [[0, 1], [0, 1], [2, 3], [2, 3]]);
        assert_eq!(lists(shared(2, &nodes, "").unwrap()), nodes);
        assert!(shared(2, &[], "NUMA node").err().unwrap().contains("no NUMA node"));
        let many = on_cores(1, 5000, &[0], true).err().unwrap();
        assert!(many.contains("--cores-per-pe 5000: oshrun may use 1 core(s)"), "{many}");
    }

    #[test]
    fn what_the_user_should_know_is_said() {
        let sets = |list: &[&[usize]]| list.iter().map(|cpus| CpuSet::of(cpus)).collect::<Vec<_>>();
        assert_eq!(sharing(&sets(&[&[0, 4], &[1, 5]]), pairs), None);
        assert!(sharing(&sets(&[&[0], &[1], &[4]]), pairs).unwrap().starts_with("PEs 0 and 2 share a core (CPU 4)"));
        assert_eq!(too_many_threads(&sets(&[&[0, 4]]), Some("2")), None);
        assert_eq!(too_many_threads(&sets(&[]), Some("2")), None);
        assert!(too_many_threads(&sets(&[&[0, 4]]), Some("4,2")).unwrap().contains("OMP_NUM_THREADS is 4"));
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
}
