//! What the kernel does not execute. Where it refuses a file, the C library has a shell read it, which takes the bytes
//! of a program for another machine, or of one that was not copied as a whole, for commands.

use object::read::elf::FileHeader;
use object::{Endianness, ReadCache, ReadRef, elf};
use std::fs::File;
use std::path::Path;

/// Bytes of a file that is no ELF file that are looked at: as many as the kernel reads.
const HEAD: u64 = 256;
/// Machines whose programs this one executes: of 64 bits, and of 32.
#[cfg(target_arch = "x86_64")]
const MACHINES: (elf::Machine, elf::Machine) = (elf::EM_X86_64, elf::EM_386);
/// The same.
#[cfg(target_arch = "aarch64")]
const MACHINES: (elf::Machine, elf::Machine) = (elf::EM_AARCH64, elf::EM_ARM);

/// Why a file is no program for this machine; `None` for programs, scripts, and files that cannot be read.
pub fn why_not(file: &Path) -> Option<&'static str> {
    refusal(&ReadCache::new(File::open(file).ok()?), has_other_formats())
}

/// Whether the kernel was told of interpreters for other formats, such as an emulator of another machine.
fn has_other_formats() -> bool {
    let entries = std::fs::read_dir("/proc/sys/fs/binfmt_misc").into_iter().flatten().flatten();
    entries.filter(|entry| !["register", "status"].iter().any(|own| entry.file_name() == *own)).count() > 0
}

fn refusal<'data>(file: impl ReadRef<'data>, has_other_formats: bool) -> Option<&'static str> {
    let head = file.read_bytes_at(0, file.len().ok()?.min(HEAD)).ok()?;
    if !head.starts_with(&elf::ELFMAG) {
        // As shells do: a text has no zero byte in its first line.
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_text = head.starts_with(b"#!") || !line.contains(&0);
        return (!is_text && !has_other_formats).then_some("it is neither a program nor a script");
    }
    let (is_own, is_whole) = if let Ok(header) = elf::FileHeader64::<Endianness>::parse(file) {
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, file);
        (header.e_machine(endian) == MACHINES.0, segments.is_ok_and(|list| !list.is_empty()))
    } else if let Ok(header) = elf::FileHeader32::<Endianness>::parse(file) {
        (header.e_machine(header.endian().ok()?) == MACHINES.1, true)
    } else {
        return Some("the file is damaged: it ends in its header");
    };
    if !is_own {
        return (!has_other_formats).then_some("it is a program for another kind of machine");
    }
    (!is_whole).then_some("the file is damaged: it ends in its headers")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of 64 bits with one program header behind it.
    fn elf(machine: u16) -> Vec<u8> {
        let mut head = b"\x7fELF\x02\x01\x01".to_vec();
        head.resize(64 + 56, 0);
        head[18..20].copy_from_slice(&machine.to_ne_bytes());
        head[32] = 64;
        (head[54], head[56]) = (56, 1);
        head
    }

    #[test]
    fn what_the_kernel_refuses_is_no_script() {
        let whole = elf(MACHINES.0.0);
        let of = |head: &[u8]| refusal(head, false);
        assert_eq!(of(&whole), None);
        assert!(of(&whole[..whole.len() - 1]).is_some_and(|why| why.contains("damaged")));
        assert!(of(&whole[..40]).is_some_and(|why| why.contains("damaged")));
        assert!(of(&elf(8)).is_some_and(|why| why.contains("another kind of machine")));
        assert_eq!(refusal(elf(8).as_slice(), true), None);
        assert!(of(b"ab\0cd\n").is_some_and(|why| why.contains("neither")));
        for script in [b"#!/bin/sh\n".as_slice(), b"echo x\n", b"", b"echo x\n\0\0"] {
            assert_eq!(of(script), None);
        }
        assert_eq!(why_not(Path::new("/bin/sh")), None);
        assert_eq!(why_not(Path::new("/nonexistent")), None);
    }
}
