//! The writable data of the main executable, and which executable it is, as its program headers describe it.
#![allow(unsafe_code)]

use super::mmap::{self, round_up};
use std::sync::OnceLock;

/// A page-aligned range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: usize,
    /// First address behind it.
    pub end: usize,
    /// Pages from here on hold no bytes of the file: those that were never touched are zero.
    pub zero_from: usize,
    /// Of constants between writable pages: where they are in the executable's file.
    pub constants_at: Option<usize>,
}

/// A segment of the executable.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// First address.
    pub addr: usize,
    /// Bytes in memory.
    pub memory: usize,
    /// Bytes that come from the file.
    pub file: usize,
    /// Where these begin in the file.
    pub offset: usize,
    /// Whether it is code.
    pub is_code: bool,
}

/// Between ranges that are one for the other PEs: with `-mcmodel=medium`, data of many bytes have a segment of their
/// own (`.ldata`), some pages behind the others, or behind constants of many bytes (`.lrodata`); an object that is
/// aligned to more than a page begins a segment at a multiple of that.
const NEAR: usize = 64 << 20;

/// The ranges of writable pages of the executable that stay writable after relocation (`.data` and `.bss` without
/// RELRO), in their order: the largest, and those near it. Constants that lie between them are ranges, too.
pub fn writable_data() -> Vec<Range> {
    choose(&find())
}

/// Whether bytes lie in what the executable has that nobody writes to, as constants do; without those with addresses in
/// them (`.data.rel.ro`), which differ from process to process.
pub fn is_constant(addr: usize, bytes: usize) -> bool {
    static FIXED: OnceLock<Vec<Segment>> = OnceLock::new();
    let fixed = FIXED.get_or_init(|| find().fixed);
    fixed.iter().any(|part| addr >= part.addr && part.memory.checked_sub(addr - part.addr).is_some_and(|n| n >= bytes))
}

/// What is loaded of the executable.
pub fn parts() -> Vec<Segment> {
    let Found { mut fixed, writable, .. } = find();
    fixed.extend(writable);
    fixed
}

fn find() -> Found {
    let mut found = Found { page: mmap::page(), ..Found::default() };
    // SAFETY: the callback only touches `found`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first_object), (&raw mut found).cast()) };
    found
}

/// A number of the executable's build ID, which linkers give each build that differs; 0 where it has none.
pub fn build_id() -> u64 {
    find().build_id
}

/// Type of the note with the build ID.
const NT_GNU_BUILD_ID: u32 = 3;

/// The build ID of a segment of notes, as a number; 0: there is none. A note is the lengths of its name and of its
/// contents, its type, and both, at multiples of four bytes.
fn build_id_in(mut notes: &[u8]) -> u64 {
    while let Some((header, rest)) = notes.split_at_checked(12) {
        let word = |at: usize| u32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (name_len, len, kind) = (word(0) as usize, word(4) as usize, word(8));
        let from = name_len.next_multiple_of(4);
        let (Some(name), Some(id)) = (rest.get(..name_len), rest.get(from..from.saturating_add(len))) else { break };
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" && !id.is_empty() {
            // FNV-1a; never 0.
            let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            return id.iter().fold(0xcbf2_9ce4_8422_2325, add).max(1);
        }
        let Some(next) = rest.get(from + len.next_multiple_of(4)..) else { break };
        notes = next;
    }
    0
}

#[derive(Default)]
struct Found {
    /// Bytes of the kernel's pages.
    page: usize,
    done: bool,
    build_id: u64,
    writable: Vec<Segment>,
    fixed: Vec<Segment>,
    relro: Vec<Segment>,
}

/// The main program is the first object that the loader reports.
unsafe extern "C" fn first_object(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> i32 {
    // SAFETY: the loader passes a valid record, and `found` is the pointer given to dl_iterate_phdr.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
    if found.done || info.dlpi_phdr.is_null() {
        return 1;
    }
    found.done = true;
    // SAFETY: the record's array has dlpi_phnum entries.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    for header in headers {
        let segment = Segment {
            addr: info.dlpi_addr as usize + header.p_vaddr as usize,
            memory: header.p_memsz as usize,
            file: header.p_filesz as usize,
            offset: header.p_offset as usize,
            is_code: header.p_flags & libc::PF_X != 0,
        };
        match header.p_type {
            libc::PT_LOAD if header.p_flags & libc::PF_W != 0 => found.writable.push(segment),
            libc::PT_LOAD => found.fixed.push(segment),
            libc::PT_GNU_RELRO => found.relro.push(segment),
            libc::PT_NOTE if found.build_id == 0 => {
                // SAFETY: notes of a program lie in what the loader has mapped of it.
                let notes = unsafe { std::slice::from_raw_parts(segment.addr as *const u8, segment.memory) };
                found.build_id = build_id_in(notes);
            }
            _ => {}
        }
    }
    1
}

/// Takes the largest group of writable ranges that are near each other, and the constants between these.
fn choose(found: &Found) -> Vec<Range> {
    let mut groups: Vec<Vec<Range>> = Vec::new();
    for range in writable_ranges(found) {
        let before = groups.last_mut().and_then(|group| {
            let between = constants_between(found, group.last()?.end, range.start)?;
            group.extend(between);
            Some(group)
        });
        match before {
            Some(group) => group.push(range),
            None => groups.push(vec![range]),
        }
    }
    let bytes = |range: &Range| if range.constants_at.is_none() { range.end - range.start } else { 0 };
    groups.into_iter().max_by_key(|group| group.iter().map(bytes).sum::<usize>()).unwrap_or_default()
}

/// Subtracts RELRO, and joins ranges that touch.
fn writable_ranges(found: &Found) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for segment in &found.writable {
        let page = found.page;
        let mut start = segment.addr & !(page - 1);
        let end = round_up(segment.addr + segment.memory, page);
        for protected in &found.relro {
            // The loader protects whole pages only, rounding the end down: what shares the last page stays writable.
            let protected_end = (protected.addr + protected.memory) & !(page - 1);
            if protected.addr & !(page - 1) <= start && protected_end > start {
                start = protected_end.min(end);
            }
        }
        let zero_from = round_up(segment.addr + segment.file, page).clamp(start, end);
        match ranges.last_mut() {
            Some(last) if last.end >= start && end > last.end => {
                last.end = end;
                last.zero_from = zero_from;
            }
            _ if start < end => ranges.push(Range { start, end, zero_from, constants_at: None }),
            _ => {}
        }
    }
    ranges
}

/// The constants between two addresses. `None`: there is code, or too much of nothing.
fn constants_between(found: &Found, from: usize, to: usize) -> Option<Vec<Range>> {
    let mut between: Vec<Range> = Vec::new();
    let mut at = from;
    for segment in found.fixed.iter().filter(|s| s.addr < to && s.addr + s.memory > from) {
        let start = (segment.addr & !(found.page - 1)).max(at);
        let end = round_up(segment.addr + segment.memory, found.page).min(to);
        if segment.is_code || start - at > NEAR {
            return None;
        }
        let constants_at = Some((segment.offset + start).wrapping_sub(segment.addr));
        if start < end {
            between.push(Range { start, end, zero_from: end, constants_at });
            at = end;
        }
    }
    (to.checked_sub(at)? <= NEAR).then_some(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seg(addr: usize, memory: usize, file: usize) -> Segment {
        Segment { addr, memory, file, offset: addr & 0xffff, is_code: false }
    }

    fn range(start: usize, end: usize, zero_from: usize) -> Range {
        Range { start, end, zero_from, constants_at: None }
    }

    fn of(writable: &[Segment], fixed: &[Segment], relro: &[Segment]) -> Vec<Range> {
        let (writable, fixed, relro) = (writable.to_vec(), fixed.to_vec(), relro.to_vec());
        choose(&Found { page: 4096, done: true, build_id: 0, writable, fixed, relro })
    }

    #[test]
    fn relro_is_left_out() {
        let ranges = of(&[seg(0x3db8, 0x9000, 0x300)], &[], &[seg(0x3db8, 0x248, 0x248)]);
        assert_eq!(ranges, [range(0x4000, 0xd000, 0x5000)]);
    }

    #[test]
    fn without_relro_the_first_page_counts() {
        let ranges = of(&[seg(0x3e10, 0x10, 0x10)], &[], &[]);
        assert_eq!(ranges, [range(0x3000, 0x4000, 0x4000)]);
    }

    #[test]
    fn two_segments_as_lld_makes_them() {
        let writable = [seg(0x3000, 0x200, 0x200), seg(0x5200, 0x4000, 0x20)];
        let ranges = of(&writable, &[], &[seg(0x3000, 0x1000, 0x200)]);
        assert_eq!(ranges, [range(0x5000, 0xa000, 0x6000)]);
    }

    #[test]
    fn large_data_behind_the_others() {
        let writable = [seg(0x3db0, 0x1000, 0x2a8), seg(0x6a80, 0x2_0000, 0x2_0000)];
        let (small, large) = (range(0x3000, 0x5000, 0x5000), range(0x6000, 0x2_7000, 0x2_7000));
        assert_eq!(of(&writable, &[], &[]), [small, large]);
        // Far away, or behind code: only the largest.
        let code = Segment { is_code: true, ..seg(0x5100, 0x10, 0x10) };
        assert_eq!(of(&writable, &[code], &[]), [large]);
        assert_eq!(of(&[writable[0], seg(0x4000_0a80, 0x2_0000, 0)], &[], &[]).len(), 1);
    }

    #[test]
    fn constants_between_data_come_along() {
        let writable = [seg(0x3db0, 0x1000, 0x2a8), seg(0x20_6080, 0x10_0000, 0x10_0000)];
        let constants = Segment { offset: 0x3080, ..seg(0x10_5080, 0x10_0000, 0x10_0000) };
        let of = |fixed| of(&writable, fixed, &[]);
        let between = Range { constants_at: Some(0x3000), ..range(0x10_5000, 0x20_6000, 0x20_6000) };
        assert_eq!(of(&[constants]), [range(0x3000, 0x5000, 0x5000), between, range(0x20_6000, 0x30_7000, 0x30_7000)]);
        // An object that is aligned to 2 MiB.
        let aligned = [seg(0x3db0, 0x2a0, 0x2a0), seg(0x20_0000, 0x40_0000, 0)];
        let found = Found { page: 4096, writable: aligned.to_vec(), ..Found::default() };
        assert_eq!(choose(&found), [range(0x3000, 0x5000, 0x5000), range(0x20_0000, 0x60_0000, 0x20_0000)]);
    }

    #[test]
    fn ranges_are_of_the_pages_that_the_kernel_has() {
        let writable = vec![seg(0x1_3db8, 0x3_0000, 0x300)];
        let found = |page| Found {
            page,
            writable: writable.clone(),
            relro: vec![seg(0x1_3db8, 0x248, 0x248)],
            ..Found::default()
        };
        assert_eq!(choose(&found(0x1000)), [range(0x1_4000, 0x4_4000, 0x1_5000)]);
        // What shares its page with constants is as writable as they are.
        assert_eq!(choose(&found(0x1_0000)), [range(0x1_0000, 0x5_0000, 0x2_0000)]);
    }

    #[test]
    fn a_build_id_is_found_among_other_notes() {
        let note = |kind: u32, name: &[u8], id: &[u8]| {
            let mut bytes: Vec<u8> =
                [name.len() as u32, id.len() as u32, kind].iter().flat_map(|n| n.to_ne_bytes()).collect();
            for part in [name, id] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let other = note(1, b"GNU\0", &[0; 16]);
        let of = |id: &[u8]| build_id_in(&[other.clone(), note(5, b"stapsdt\0", b"x"), note(3, b"GNU\0", id)].concat());
        assert!(of(b"one") != 0 && of(b"one") != of(b"two") && of(b"one") == of(b"one"));
        assert_eq!((build_id_in(&other), build_id_in(&[]), of(b"")), (0, 0, 0));
        // Notes that end too soon.
        let whole = note(3, b"GNU\0", b"one");
        (0..whole.len() - 1).for_each(|len| assert_eq!(build_id_in(&whole[..len]), 0));
    }

    #[test]
    fn this_program_has_data() {
        static WITNESS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(7);
        let data = writable_data();
        let at = WITNESS.as_ptr() as usize;
        assert!(data.iter().any(|range| (range.start..range.end).contains(&at)) && !is_constant(at, 4));
    }

    #[test]
    fn this_program_has_constants() {
        static CONSTANTS: [u64; 100] = [7; 100];
        let at = CONSTANTS.as_ptr() as usize;
        assert!(is_constant(at, 800) && !is_constant(at, usize::MAX) && !is_constant(0, 1));
    }
}
