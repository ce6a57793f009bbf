//! NUMA nodes: parts of a machine whose CPUs and memory are near each other.
#![allow(unsafe_code)]

use super::cpu::MASK_WORDS;
use std::fs;
use std::ops::RangeInclusive;

/// Nodes that a mask of this module has room for.
const NODES: usize = 1024;
/// Memory of the node that asks for it, unless the process wants it otherwise.
const MPOL_DEFAULT: libc::c_int = 0;
/// Memory of the given nodes, and of no others.
const MPOL_BIND: libc::c_int = 2;

/// The node of the CPU that this thread runs on; 0 where the kernel knows of none.
pub fn current_node() -> u32 {
    let (mut cpu, mut node) = (0u32, 0u32);
    // SAFETY: both places are writable; the third argument is not used any more.
    unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, std::ptr::null_mut::<libc::c_void>()) };
    node
}

/// The node that all CPUs of a mask belong to; `None` where they are of several.
pub fn node_of(mask: &[u64; MASK_WORDS]) -> Option<u32> {
    let nodes = fs::read_dir("/sys/devices/system/node").ok()?;
    let numbers = nodes.flatten().filter_map(|entry| entry.file_name().to_str()?.strip_prefix("node")?.parse().ok());
    numbers.into_iter().find(|node: &u32| {
        let list = fs::read_to_string(format!("/sys/devices/system/node/node{node}/cpulist")).unwrap_or_default();
        let cpus = cpus(&list);
        mask.iter().zip(cpus).all(|(mine, theirs)| mine & !theirs == 0)
    })
}

/// A list of CPUs as the kernel writes it, `0-3,8`, as ranges.
pub fn ranges(list: &str) -> impl Iterator<Item = RangeInclusive<usize>> {
    list.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    })
}

fn cpus(list: &str) -> [u64; MASK_WORDS] {
    let mut mask = [0; MASK_WORDS];
    for range in ranges(list) {
        for cpu in *range.start()..=(*range.end()).min(64 * MASK_WORDS - 1) {
            mask[cpu / 64] |= 1 << (cpu % 64);
        }
    }
    mask
}

/// Has pages of a mapping come from a node, whoever touches them first. Error: of the system.
///
/// # Safety
/// The range is mapped, and begins with a page.
pub unsafe fn bind(start: *mut u8, bytes: usize, node: u32) -> Result<(), i32> {
    let mut mask = [0u64; NODES / 64];
    *mask.get_mut(node as usize / 64).ok_or(libc::EINVAL)? |= 1 << (node % 64);
    // SAFETY: the caller's; the mask has the bits that are said, of which the kernel takes one fewer.
    let error = unsafe { libc::syscall(libc::SYS_mbind, start, bytes, MPOL_BIND, mask.as_ptr(), NODES + 1, 0) };
    if error == 0 {
        return Ok(());
    }
    match std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL) {
        // A kernel without nodes: all memory is of the one that there is.
        libc::ENOSYS if node == 0 => Ok(()),
        libc::ENOSYS => Err(libc::EINVAL),
        error => Err(error),
    }
}

/// Has pages of a mapping come from where any do: a part of a file stays bound when it is mapped anew.
///
/// # Safety
/// As [`bind`].
pub unsafe fn unbind(start: *mut u8, bytes: usize) {
    let none = std::ptr::null::<u64>();
    // A kernel that refuses has bound nothing either. SAFETY: the caller's; there is no mask.
    unsafe { libc::syscall(libc::SYS_mbind, start, bytes, MPOL_DEFAULT, none, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        let bits = |list| cpus(list)[..2].to_vec();
        assert_eq!(bits("0-3,8\n"), [0x10f, 0]);
        assert_eq!(bits("63-64"), [1 << 63, 1]);
        assert_eq!(bits("\n"), [0, 0]);
        assert_eq!(cpus("1020-5000")[MASK_WORDS - 1], 0xf << 60);
    }

    #[test]
    fn this_thread_runs_on_a_node() {
        assert!((current_node() as usize) < NODES);
        let mine = crate::os::cpu::affinity();
        assert!(node_of(&mine).is_none_or(|node| (node as usize) < NODES));
        assert_eq!(node_of(&[u64::MAX; MASK_WORDS]), None);
    }
}
