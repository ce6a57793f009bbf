//! Which objects are loaded where: by this a reader finds the source line of a return address, after the process is
//! gone.
//!
//! A library may be unloaded, and another one loaded at its addresses. It is looked at what is loaded before a call
//! site gets a row, and from time to time; where an object is found at the addresses of another one, that one's call
//! sites are moved first ([`super::replaced`]). Between the two looks calls from an address that both call from are
//! counted for the wrong one.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::{claim, names, replaced};
use crate::elf;
use crate::segment::layout::{Region, SlotHead};
use crate::segment::names::{MODULES, Module, REPLACED, REPLACED_EACH, is_replaced};
use crate::text::path_text;

/// From one look at what is loaded to the next, in nanoseconds, where no call site is new.
const LOOK_NS: u64 = 10_000_000;

/// When it is time for the next, in ticks.
static DUE: AtomicU64 = AtomicU64::new(0);
/// How often objects had been loaded or unloaded when they were noted.
static NOTED: AtomicU64 = AtomicU64::new(0);
/// How often an object was found at the addresses of another one.
static REPLACEMENTS: AtomicU32 = AtomicU32::new(0);
/// Where those that were replaced were loaded, by number.
static HOMES: [AtomicU64; MODULES] = [const { AtomicU64::new(0) }; MODULES];

/// Notes the objects that are loaded now and were not yet noted.
pub(super) fn note(region: &Region) {
    names::locked(&region.names, |_| visit_all(region));
}

/// As [`note`], where objects were loaded or unloaded since. It waits for nobody: the next look may do it as well.
#[cold]
#[inline(never)]
pub(super) fn look() {
    if let Some(region) = claim::region_unchecked().filter(|_| changes() != NOTED.load(Relaxed)) {
        names::if_unlocked(&region.names, || visit_all(region));
    }
}

/// When it is time to look, in ticks.
#[inline(always)]
pub(super) fn due() -> u64 {
    DUE.load(Relaxed)
}

/// Looks, if it is time; gives when it is time again, in ticks.
pub(super) fn look_if_due(head: &SlotHead, now: u64) -> u64 {
    if now >= due() {
        let ticks = (u128::from(LOOK_NS) << 32) / u128::from(head.clock_mult.load(Relaxed).max(1));
        DUE.store(now.saturating_add(ticks as u64), Relaxed);
        look();
    }
    due()
}

/// How often an object was found at the addresses of another one: an address is in the object that it was in, as long
/// as this stays what it was.
#[inline(always)]
pub(crate) fn replacements() -> u32 {
    REPLACEMENTS.load(Acquire)
}

/// How often the process has loaded or unloaded an object.
fn changes() -> u64 {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, changes: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description, and `changes` a number.
        unsafe { *changes.cast::<u64>() = (*info).dlpi_adds.wrapping_add((*info).dlpi_subs) };
        1
    }
    let mut changes = 0_u64;
    // SAFETY: the callback matches the documented signature, and `changes` lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut changes).cast()) };
    changes
}

/// Notes what is loaded now. For who has the names to himself.
fn visit_all(region: &Region) {
    let before = changes();
    // SAFETY: the callback matches the documented signature, and `region` lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::from_ref(region).cast_mut().cast()) };
    NOTED.store(before, Relaxed);
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, region: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description, and `visit_all` a region.
    let (info, region) = unsafe { (&*info, &*region.cast::<Region>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: as many program headers as the description says.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let code = headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0);
    let start = code.clone().map(|h| info.dlpi_addr + h.p_vaddr).min();
    let end = code.map(|h| info.dlpi_addr + h.p_vaddr + h.p_memsz).max();
    let (Some(start), Some(end)) = (start, end) else { return 0 };
    c_int::from(!put(region, &Loaded { info, headers, start, end }))
}

/// An object that is loaded.
struct Loaded<'a> {
    info: &'a libc::dl_phdr_info,
    headers: &'a [libc::Elf64_Phdr],
    start: u64,
    end: u64,
}

impl Loaded<'_> {
    /// Whether it is the object of a row that is or was at this address.
    fn is(&self, row: &Module, start: u64) -> bool {
        let length = row.end.load(Relaxed).saturating_sub(row.start.load(Relaxed));
        if start != self.start || length != self.end - self.start {
            return false;
        }
        let name = name(self.info);
        // The program stays.
        name.is_empty() || (row.path.is_cut(&name) && row.build_id.is_cut(&build_id(self.info, self.headers)))
    }
}

/// Notes an object, where it is not noted. Gives whether there was room.
fn put(region: &Region, loaded: &Loaded<'_>) -> bool {
    let rows = &region.names.modules;
    let used = rows.iter().position(|row| row.start.load(Relaxed) == 0).unwrap_or(MODULES);
    let mut own = None;
    for (number, row) in rows[..used].iter().enumerate() {
        let start = row.start.load(Relaxed);
        if is_replaced(start) {
            if loaded.is(row, HOMES[number].load(Relaxed)) {
                own = Some(number);
            }
        } else if loaded.is(row, start) {
            return true;
        } else if start < loaded.end && loaded.start < row.end.load(Relaxed) {
            HOMES[number].store(start, Relaxed);
            let place = REPLACED + number as u64 * REPLACED_EACH + start % PAGE;
            place_at(region, row, place, row.base.load(Relaxed).wrapping_add(place).wrapping_sub(start));
        }
    }
    // It may have come back.
    if let Some(number) = own {
        place_at(region, &rows[number], loaded.start, loaded.info.dlpi_addr);
        return true;
    }
    let Some(row) = rows.get(used) else { return false };
    row.base.store(loaded.info.dlpi_addr, Relaxed);
    row.end.store(loaded.end, Relaxed);
    row.path.set(&path(loaded.info, loaded.headers));
    row.build_id.set(&build_id(loaded.info, loaded.headers));
    row.start.store(loaded.start, Relaxed);
    true
}

/// What is below a page: the same wherever an object is.
const PAGE: u64 = 4096;

/// An object is at another place from now on, with all that was recorded of it.
fn place_at(region: &Region, row: &Module, to: u64, base: u64) {
    let (start, end) = (row.start.load(Relaxed), row.end.load(Relaxed));
    // No address is in it meanwhile.
    row.end.store(0, Release);
    row.base.store(base, Relaxed);
    row.start.store(to, Release);
    row.end.store(to + (end - start), Release);
    replaced::Move { from: start..end, to }.apply(region);
    REPLACEMENTS.fetch_add(1, Release);
}

/// What of the loaded objects an address is in.
pub(crate) struct Object {
    /// Which of them.
    pub(crate) number: u32,
    /// Where its code begins.
    pub(crate) start: u64,
    /// How long that is.
    pub(crate) length: u64,
    region: &'static Region,
}

impl Object {
    /// Where it ends, what is added to addresses of its file, its build id and its path: as a trace has them.
    pub(crate) fn words(&self) -> String {
        let module = &self.region.names.modules[self.number as usize];
        let (end, base, id) = (module.end.load(Relaxed), module.base.load(Relaxed), module.build_id.get());
        let id = if id.is_empty() { "-" } else { &id };
        format!("{end:x} {base:x} {id} {}", module.path.get())
    }
}

/// Looks for an address among those that are noted, and then among those that were loaded since.
#[cold]
pub(crate) fn object_of(address: u64) -> Option<Object> {
    let region = claim::region_unchecked().filter(|_| address != 0)?;
    let find = || {
        let noted = region.names.modules.iter().take_while(|module| module.start.load(Relaxed) != 0);
        let (number, module) = noted
            .enumerate()
            .find(|(_, module)| (module.start.load(Relaxed)..module.end.load(Relaxed)).contains(&address))?;
        let start = module.start.load(Relaxed);
        Some(Object { number: number as u32, start, length: module.end.load(Relaxed) - start, region })
    };
    find().or_else(|| {
        look();
        find()
    })
}

/// The build id that the linker gave an object, in hexadecimal digits; empty where there is none.
fn build_id(info: &libc::dl_phdr_info, headers: &[libc::Elf64_Phdr]) -> String {
    let is_loaded = |note: &&libc::Elf64_Phdr| {
        let covers = |h: &libc::Elf64_Phdr| {
            let end = note.p_vaddr.checked_add(note.p_memsz);
            h.p_type == libc::PT_LOAD
                && h.p_flags & libc::PF_R != 0
                && h.p_vaddr <= note.p_vaddr
                && end.is_some_and(|end| end <= h.p_vaddr + h.p_filesz)
        };
        note.p_type == libc::PT_NOTE && headers.iter().any(covers)
    };
    for header in headers.iter().filter(is_loaded) {
        let begin = (info.dlpi_addr + header.p_vaddr) as usize as *const u8;
        // SAFETY: the note is inside of a segment of the file that the loader mapped for reading.
        let notes = unsafe { std::slice::from_raw_parts(begin, header.p_memsz as usize) };
        if let Some(id) = elf::build_id_among(notes) {
            return id;
        }
    }
    String::new()
}

/// What the loader calls an object; empty for the executable.
fn name(info: &libc::dl_phdr_info) -> Cow<'_, str> {
    if info.dlpi_name.is_null() {
        return "".into();
    }
    // SAFETY: it is a C string of the loader.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) };
    name.to_str().map_or_else(|_| path_text(name.to_bytes()).into(), Cow::from)
}

/// File of an object.
fn path(info: &libc::dl_phdr_info, headers: &[libc::Elf64_Phdr]) -> String {
    match name(info) {
        name if !name.is_empty() => name.into_owned(),
        _ => program(headers.as_ptr() as u64)
            .or_else(|| Some(path_text(std::env::current_exe().ok()?.as_os_str().as_bytes())))
            .unwrap_or_default(),
    }
}

/// The file of the program, whose headers are at this address, where the kernel was not asked for it: a loader that was
/// started with the program as its argument is what the kernel calls the executable. `None`: the kernel knows.
fn program(headers: u64) -> Option<String> {
    // SAFETY: asks for a value, which is 0 where the kernel has loaded no loader beside the program.
    if unsafe { libc::getauxval(libc::AT_BASE) } != 0 {
        return None;
    }
    let maps = std::fs::read("/proc/self/maps").ok()?;
    file_at(&path_text(&maps), headers)
}

/// The file that is mapped at an address: of lines such as `55d0-55d4 r--p 00000000 08:01 77  /a/prog`.
fn file_at(maps: &str, address: u64) -> Option<String> {
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let range = u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?;
        let path = rest.splitn(5, ' ').nth(4)?.trim_start();
        (range.contains(&address) && path.starts_with('/')).then(|| path.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_at_an_address() {
        let maps = "1000-3000 r--p 00000000 08:01 7 \n\
                    4000-5000 r-xp 00000000 08:01 77                         /a b/prog\n\
                    5000-6000 rw-p 00000000 00:00 0                          [heap]\n";
        assert_eq!(file_at(maps, 0x4fff).as_deref(), Some("/a b/prog"));
        for address in [0xfff, 0x1000, 0x3000, 0x5000] {
            assert_eq!(file_at(maps, address), None, "{address:#x}");
        }
    }
}
