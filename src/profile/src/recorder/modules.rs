//! Which objects are loaded where: by this a reader finds the source line of a return address, after the process is
//! gone.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::elf;
use crate::segment::layout::Region;
use crate::segment::names::{MODULES, Names};

/// Notes the objects that are loaded now and were not yet noted.
pub(super) fn note(region: &Region) {
    // SAFETY: the callback matches the documented signature, and `names` lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::from_ref(&region.names).cast_mut().cast()) };
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description, and `note` a table.
    let (info, names) = unsafe { (&*info, &*names.cast::<Names>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: as many program headers as the description says.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let code = headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0);
    let start = code.clone().map(|h| info.dlpi_addr + h.p_vaddr).min();
    let end = code.map(|h| info.dlpi_addr + h.p_vaddr + h.p_memsz).max();
    let (Some(start), Some(end)) = (start, end) else { return 0 };
    for module in &names.modules[..MODULES] {
        let found = module.start.load(Relaxed);
        if found == start {
            return 0;
        }
        if found == 0 {
            module.base.store(info.dlpi_addr, Relaxed);
            module.end.store(end, Relaxed);
            module.path.set(&path(info, headers));
            module.build_id.set(&build_id(info, headers));
            module.start.store(start, Relaxed);
            return 0;
        }
    }
    1
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
    /// Looks among what is loaded are this many: code that no file has would ask for one at each of its calls.
    const LOOKS: u32 = 64;
    static LOOKED: AtomicU32 = AtomicU32::new(0);
    let region = super::claim::region_unchecked().filter(|_| address != 0)?;
    let find = || {
        let noted = region.names.modules.iter().take_while(|module| module.start.load(Relaxed) != 0);
        let (number, module) = noted
            .enumerate()
            .find(|(_, module)| (module.start.load(Relaxed)..module.end.load(Relaxed)).contains(&address))?;
        let start = module.start.load(Relaxed);
        Some(Object { number: number as u32, start, length: module.end.load(Relaxed) - start, region })
    };
    find().or_else(|| {
        if LOOKED.fetch_add(1, Relaxed) >= LOOKS {
            return None;
        }
        note(region);
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

/// File of an object. The executable has an empty name.
fn path(info: &libc::dl_phdr_info, headers: &[libc::Elf64_Phdr]) -> String {
    // SAFETY: the name is null or a C string of the loader.
    let name = (!info.dlpi_name.is_null()).then(|| unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy());
    match name {
        Some(name) if !name.is_empty() => name.into_owned(),
        _ => program(headers.as_ptr() as u64)
            .or_else(|| Some(std::env::current_exe().ok()?.to_string_lossy().into_owned()))
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
    file_at(&String::from_utf8_lossy(&maps), headers)
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
