//! The machine as the kernel describes it: hardware threads of a core, cores of a socket, memory nodes.

use pellucid_core::os::numa;
use std::collections::BTreeMap;
use std::fs;

/// The hardware threads of the core of a CPU.
pub fn siblings(cpu: usize) -> Vec<usize> {
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    fs::read_to_string(file).map(|text| parse_list(&text)).unwrap_or_default()
}

/// The CPUs of each NUMA node, as far as they are among these.
pub fn nodes(cpus: &[usize]) -> Vec<Vec<usize>> {
    let mut nodes = BTreeMap::new();
    for entry in fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("node")?.parse::<u32>().ok());
        let (Some(number), Ok(list)) = (number, fs::read_to_string(entry.path().join("cpulist"))) else { continue };
        nodes.insert(number, parse_list(&list));
    }
    among(nodes.into_values(), cpus)
}

/// The CPUs of each socket, as far as they are among these.
pub fn sockets(cpus: &[usize]) -> Vec<Vec<usize>> {
    let mut sockets: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for cpu in cpus {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        let number = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        if let Some(number) = number {
            sockets.entry(number).or_default().push(*cpu);
        }
    }
    among(sockets.into_values(), cpus)
}

fn among(groups: impl Iterator<Item = Vec<usize>>, cpus: &[usize]) -> Vec<Vec<usize>> {
    let allowed = |group: Vec<usize>| group.into_iter().filter(|cpu| cpus.contains(cpu)).collect::<Vec<_>>();
    groups.map(allowed).filter(|group| !group.is_empty()).collect()
}

/// Reads `0-3,8`.
fn parse_list(text: &str) -> Vec<usize> {
    numa::ranges(text).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse_list("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(parse_list(""), [] as [usize; 0]);
        assert_eq!(among([vec![0, 1], vec![2, 3]].into_iter(), &[1, 4]), [[1]]);
    }

    #[test]
    fn every_cpu_of_this_process_is_on_one_socket() {
        let cpus = crate::sys::cpu::CpuSet::of_this_process().list();
        let mut all: Vec<usize> = sockets(&cpus).concat();
        all.sort_unstable();
        assert!(all.is_empty() || all == cpus, "{all:?}");
    }
}
