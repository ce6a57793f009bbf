//! What the kernel does not execute. Where it refuses a file, the C library has a shell read it, which takes the bytes
//! of a program for another machine, or of one that was not copied as a whole, for commands.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of a file that are looked at: as many as the kernel reads.
const HEAD: usize = 256;
/// Bytes of the header of a 64-bit ELF file.
const ELF_HEADER: usize = 64;
/// `e_machine` of what this one executes: 64 bits, and 32.
#[cfg(target_arch = "x86_64")]
const MACHINES: (u16, u16) = (62, 3);
/// The same.
#[cfg(target_arch = "aarch64")]
const MACHINES: (u16, u16) = (183, 40);

/// Why a file is no program for this machine; `None` for programs, scripts, and files that cannot be read.
pub fn why_not(file: &Path) -> Option<&'static str> {
    let mut head = Vec::new();
    let open = File::open(file).ok()?;
    let len = open.metadata().ok()?.len();
    open.take(HEAD as u64).read_to_end(&mut head).ok()?;
    refusal(&head, len, has_other_formats())
}

/// Whether the kernel was told of interpreters for other formats, such as an emulator of another machine.
fn has_other_formats() -> bool {
    let entries = std::fs::read_dir("/proc/sys/fs/binfmt_misc").into_iter().flatten().flatten();
    entries.filter(|entry| !["register", "status"].iter().any(|own| entry.file_name() == *own)).count() > 0
}

fn refusal(head: &[u8], len: u64, has_other_formats: bool) -> Option<&'static str> {
    if !head.starts_with(b"\x7fELF") {
        // As shells do: a text has no zero byte in its first line.
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_text = head.starts_with(b"#!") || !line.contains(&0);
        return (!is_text && !has_other_formats).then_some("it is neither a program nor a script");
    }
    let word = |at: usize| head.get(at..at + 2).map_or(0, |bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
    let machine = match head.get(4) {
        Some(2) => MACHINES.0,
        _ => MACHINES.1,
    };
    if head.len() < ELF_HEADER {
        return Some("the file is damaged: it ends in its header");
    }
    if word(18) != machine {
        return (!has_other_formats).then_some("it is a program for another kind of machine");
    }
    if head[4] == 2 {
        let begin = u64::from_ne_bytes(head[32..40].try_into().unwrap_or_default());
        let end = begin.checked_add(u64::from(word(54)) * u64::from(word(56)));
        if word(56) == 0 || end.is_none_or(|end| end > len) {
            return Some("the file is damaged: it ends in its headers");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of 64 bits with one program header behind it.
    fn elf(machine: u16) -> Vec<u8> {
        let mut head = b"\x7fELF\x02\x01\x01".to_vec();
        head.resize(ELF_HEADER + 56, 0);
        head[18..20].copy_from_slice(&machine.to_ne_bytes());
        head[32] = 64;
        (head[54], head[56]) = (56, 1);
        head
    }

    #[test]
    fn what_the_kernel_refuses_is_no_script() {
        let whole = elf(MACHINES.0);
        let of = |head: &[u8]| refusal(head, head.len() as u64, false);
        assert_eq!(of(&whole), None);
        assert!(of(&whole[..whole.len() - 1]).is_some_and(|why| why.contains("damaged")));
        assert!(of(&whole[..40]).is_some_and(|why| why.contains("damaged")));
        assert!(of(&elf(8)).is_some_and(|why| why.contains("another kind of machine")));
        assert_eq!(refusal(&elf(8), 120, true), None);
        assert!(of(b"ab\0cd\n").is_some_and(|why| why.contains("neither")));
        for script in [b"#!/bin/sh\n".as_slice(), b"echo x\n", b"", b"echo x\n\0\0"] {
            assert_eq!(of(script), None);
        }
        assert_eq!(why_not(Path::new("/bin/sh")), None);
        assert_eq!(why_not(Path::new("/nonexistent")), None);
    }
}
