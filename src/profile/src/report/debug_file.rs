//! The file that has the debug information of a program or library from which it was taken out: distributions ship it
//! in packages of its own, `objcopy --add-gnu-debuglink` says how it is named.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use libc::{Elf64_Ehdr, Elf64_Shdr};

use super::build_id::build_id;

/// Where such files are that belong to no directory.
const ROOT: &str = "/usr/lib/debug";
/// Most bytes of the names of sections, and of a link.
const NAMES: usize = 1 << 20;

/// The file with the debug information of `path`: by its build id below `/usr/lib/debug/.build-id`, or by the name in
/// its link, beside it, in `.debug` beside it, or below `/usr/lib/debug`. `None` where `path` has its own, or there is
/// none of the same build.
pub(super) fn debug_file(path: &Path) -> Option<PathBuf> {
    debug_file_below(path, Path::new(ROOT))
}

fn debug_file_below(path: &Path, root: &Path) -> Option<PathBuf> {
    // A path in a profile may be anything, and opening some things waits.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    let sections = Sections::of(&file)?;
    if sections.find(b".debug_info").is_some() {
        return None;
    }
    let id = build_id(path);
    let by_id = id.as_ref().and_then(|id| {
        let (begin, rest) = id.split_at_checked(2)?;
        Some(root.join(".build-id").join(begin).join(format!("{rest}.debug")))
    });
    if let Some(found) = by_id.filter(|found| build_id(found) == id) {
        return Some(found);
    }
    let (name, sum) = link(&sections.find(b".gnu_debuglink")?)?;
    let dir = path.parent()?;
    let below = root.join(dir.canonicalize().ok()?.strip_prefix("/").ok()?);
    [dir.to_owned(), dir.join(".debug"), below].into_iter().map(|dir| dir.join(&name)).find(|found| {
        let theirs = build_id(found);
        if id.is_some() && theirs.is_some() { id == theirs } else { sum_of(found) == Some(sum) }
    })
}

/// What a link says: the name of a file, without its directory, and the checksum of its bytes.
fn link(section: &[u8]) -> Option<(OsString, u32)> {
    let end = section.iter().position(|&byte| byte == 0)?;
    let sum = section.get((end + 1).next_multiple_of(4)..)?.get(..4)?;
    let name = Path::new(OsStr::from_bytes(&section[..end])).file_name()?;
    Some((name.to_owned(), u32::from_le_bytes(sum.try_into().ok()?)))
}

fn sum_of(path: &Path) -> Option<u32> {
    let is_file = path.metadata().ok()?.is_file();
    let mut file = File::open(path).ok().filter(|_| is_file)?;
    let (mut hasher, mut part) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
    loop {
        match std::io::Read::read(&mut file, &mut part).ok()? {
            0 => return Some(hasher.finalize()),
            read => hasher.update(&part[..read]),
        }
    }
}

/// The sections of a file.
struct Sections<'f> {
    file: &'f File,
    /// Of each: where its name is among the names, where its bytes are, and how many.
    rows: Vec<(usize, u64, u64)>,
    names: Vec<u8>,
}

impl Sections<'_> {
    fn of(file: &File) -> Option<Sections<'_>> {
        let head = bytes(file, 0, size_of::<Elf64_Ehdr>())?;
        if !head.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let size = number(&head, offset_of!(Elf64_Ehdr, e_shentsize), 2);
        let count = number(&head, offset_of!(Elf64_Ehdr, e_shnum), 2);
        let begin = number(&head, offset_of!(Elf64_Ehdr, e_shoff), 8);
        let row = |at: u64| {
            let header = bytes(file, begin.checked_add(at * size)?, size_of::<Elf64_Shdr>())?;
            let field = |at: usize, size: usize| number(&header, at, size);
            let name = field(offset_of!(Elf64_Shdr, sh_name), 4) as usize;
            Some((name, field(offset_of!(Elf64_Shdr, sh_offset), 8), field(offset_of!(Elf64_Shdr, sh_size), 8)))
        };
        let rows: Vec<_> = (0..count).filter_map(row).collect();
        let (_, at, size) = *rows.get(number(&head, offset_of!(Elf64_Ehdr, e_shstrndx), 2) as usize)?;
        let names = short(file, at, size)?;
        Some(Sections { file, rows, names })
    }

    /// The begin of a section's bytes, as far as a link is long.
    fn find(&self, name: &[u8]) -> Option<Vec<u8>> {
        let is_it =
            |at: usize| self.names.get(at..).is_some_and(|text| text.split(|&byte| byte == 0).next() == Some(name));
        let (_, at, size) = *self.rows.iter().find(|(at, ..)| is_it(*at))?;
        short(self.file, at, size.min(NAMES as u64))
    }
}

/// What a damaged file says may be anything.
fn short(file: &File, at: u64, size: u64) -> Option<Vec<u8>> {
    bytes(file, at, usize::try_from(size).ok().filter(|&size| size <= NAMES)?)
}

fn bytes(file: &File, at: u64, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    file.read_exact_at(&mut bytes, at).is_ok().then_some(bytes)
}

fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of three sections: none, a link, and names.
    fn linked(link: &[u8]) -> Vec<u8> {
        let names = b"\0.gnu_debuglink\0.shstrtab\0";
        let (head, row) = (size_of::<Elf64_Ehdr>(), size_of::<Elf64_Shdr>());
        let begin = head + 3 * row;
        let mut file = vec![0; begin];
        let mut put = |at: usize, value: &[u8]| file[at..at + value.len()].copy_from_slice(value);
        put(0, b"\x7fELF\x02\x01");
        put(offset_of!(Elf64_Ehdr, e_shoff), &(head as u64).to_le_bytes());
        put(offset_of!(Elf64_Ehdr, e_shentsize), &(row as u16).to_le_bytes());
        put(offset_of!(Elf64_Ehdr, e_shnum), &3_u16.to_le_bytes());
        put(offset_of!(Elf64_Ehdr, e_shstrndx), &2_u16.to_le_bytes());
        for (at, name, offset, size) in [(1, 1_u32, begin, link.len()), (2, 16, begin + link.len(), names.len())] {
            let at = head + at * row;
            put(at + offset_of!(Elf64_Shdr, sh_name), &name.to_le_bytes());
            put(at + offset_of!(Elf64_Shdr, sh_offset), &(offset as u64).to_le_bytes());
            put(at + offset_of!(Elf64_Shdr, sh_size), &(size as u64).to_le_bytes());
        }
        [&file, link, names].concat()
    }

    #[test]
    fn a_link_is_followed_to_the_file_that_it_means() {
        let dir = std::env::temp_dir().join(format!("pellucid-debug-file-{}", std::process::id()));
        let root = dir.join("root");
        let program = dir.join("program");
        std::fs::create_dir_all(dir.join(".debug")).unwrap();
        let debug = b"its debug information";
        let link = [&b"p.debug\0"[..], &crc32fast::hash(debug).to_le_bytes()].concat();
        std::fs::write(&program, linked(&link)).unwrap();
        let found = || debug_file_below(&program, &root);
        assert_eq!(found(), None);
        // Another build's does not have its lines.
        std::fs::write(dir.join("p.debug"), b"of another build").unwrap();
        assert_eq!(found(), None);
        let below = root.join(dir.canonicalize().unwrap().strip_prefix("/").unwrap());
        std::fs::create_dir_all(&below).unwrap();
        for place in [below, dir.join(".debug"), dir.clone()] {
            std::fs::write(place.join("p.debug"), debug).unwrap();
            assert_eq!(found(), Some(place.join("p.debug")));
        }
        let whole = linked(&link);
        for cut in 0..whole.len() {
            std::fs::write(&program, &whole[..cut]).unwrap();
            assert_eq!(found(), None, "torn at {cut}");
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
