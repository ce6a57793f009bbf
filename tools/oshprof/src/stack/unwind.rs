//! The calls on a stack, by the tables that compilers write for exceptions.

use std::collections::HashMap;
use std::path::PathBuf;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EndianSlice, NativeEndian, Register, RegisterRule, UnwindContext, UnwindSection,
};
use object::{Object, ObjectKind, ObjectSection, ObjectSegment};
use pellucid_profile::live::find;

use super::thread::Stopped;

/// Number of the stack pointer and of the next instruction.
const STACK_POINTER: u16 = 7;
const INSTRUCTION: u16 = 16;

/// A piece of a file in the memory of a process.
struct MappedFile {
    begin: u64,
    end: u64,
    offset: u64,
    path: PathBuf,
}

/// The files that a process runs.
pub(super) struct Image(Vec<MappedFile>);

impl Image {
    /// What a process has mapped to run; `None`: that cannot be read.
    pub(super) fn of(pid: u32) -> Option<Image> {
        let maps = find::read(format!("/proc/{pid}/maps")).ok()?;
        Some(Image(maps.lines().filter_map(parse_mapping).collect()))
    }

    /// Files and addresses in them that calls return to, innermost first; the first is behind where the thread is.
    pub(super) fn calls(&self, stopped: &Stopped, most: usize) -> Vec<(PathBuf, u64)> {
        let mut files = HashMap::new();
        let mut registers = stopped.registers.map(Some);
        let mut calls = Vec::new();
        while calls.len() < most {
            let Some(at) = registers[usize::from(INSTRUCTION)].filter(|at| *at != 0) else { break };
            let Some(mapped) = self.0.iter().find(|mapped| (mapped.begin..mapped.end).contains(&at)) else { break };
            let Some(file) = files.entry(&mapped.path).or_insert_with(|| File::open(&mapped.path)) else { break };
            let Some(address) = file.address(at - mapped.begin + mapped.offset) else { break };
            // A return address is behind its call, which may be the last instruction of a function.
            let first = calls.is_empty();
            calls.push((mapped.path.clone(), if first { address + 1 } else { address }));
            let inside = if first { address } else { address - 1 };
            let Some(before) = file.before(inside, &registers, stopped) else { break };
            registers = before;
        }
        calls
    }
}

/// A line of `/proc/PID/maps`: begin, end, permissions, offset, device, inode, file.
fn parse_mapping(line: &str) -> Option<MappedFile> {
    let mut words = line.splitn(6, ' ');
    let (begin, end) = words.next()?.split_once('-')?;
    let runs = words.next()?.contains('x');
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = number(words.next()?)?;
    let path = words.nth(2)?.trim_start();
    let is_file = runs && path.starts_with('/');
    is_file.then_some(MappedFile { begin: number(begin)?, end: number(end)?, offset, path: path.into() })
}

/// What is needed of a file.
struct File {
    /// Offset in the file, address, bytes.
    segments: Vec<(u64, u64, u64)>,
    frames: Vec<u8>,
    bases: BaseAddresses,
}

type Registers = [Option<u64>; 17];

impl File {
    fn open(path: &PathBuf) -> Option<File> {
        let bytes = std::fs::read(path).ok()?;
        let file = object::File::parse(bytes.as_slice()).ok()?;
        if !matches!(file.kind(), ObjectKind::Executable | ObjectKind::Dynamic) {
            return None;
        }
        let segments = file.segments().map(|segment| (segment.file_range().0, segment.address(), segment.size()));
        let frames = file.section_by_name(".eh_frame")?;
        let address = |name: &str| file.section_by_name(name).map_or(0, |section| section.address());
        let bases =
            BaseAddresses::default().set_eh_frame(frames.address()).set_text(address(".text")).set_got(address(".got"));
        Some(File { segments: segments.collect(), frames: frames.data().ok()?.to_vec(), bases })
    }

    /// The address that something at an offset in the file has by its tables.
    fn address(&self, offset: u64) -> Option<u64> {
        let holds = |(from, _, bytes): &&(u64, u64, u64)| (*from..from.saturating_add(*bytes)).contains(&offset);
        self.segments.iter().find(holds).map(|(from, address, _)| address + (offset - from))
    }

    /// The registers of the caller of the function that an address is in.
    fn before(&self, address: u64, registers: &Registers, stopped: &Stopped) -> Option<Registers> {
        let frames = EhFrame::from(EndianSlice::new(&self.frames, NativeEndian));
        let mut context = UnwindContext::new();
        let find = EhFrame::cie_from_offset;
        let row = frames.unwind_info_for_address(&self.bases, &mut context, address, find).ok()?;
        let frame = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                registers.get(usize::from(register.0)).copied().flatten()?.checked_add_signed(*offset)?
            }
            CfaRule::Expression(_) => return None,
        };
        let mut before = [None; 17];
        for (number, value) in (0_u16..).zip(&mut before) {
            *value = match row.register(Register(number)) {
                Some(RegisterRule::Offset(offset)) => stopped.word(frame.checked_add_signed(offset)?),
                Some(RegisterRule::ValOffset(offset)) => frame.checked_add_signed(offset),
                Some(RegisterRule::Register(other)) => registers.get(usize::from(other.0)).copied().flatten(),
                Some(RegisterRule::SameValue) => registers[usize::from(number)],
                // Those that a call need not keep are not wanted by any caller; the others are as they were.
                Some(RegisterRule::Undefined) | None if number != INSTRUCTION => registers[usize::from(number)],
                _ => None,
            };
        }
        before[usize::from(STACK_POINTER)] = Some(frame);
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_read() {
        let line = "55d0c0a01000-55d0c0a02000 r-xp 00001000 fe:01 1234                       /home/a b/prog";
        let found = parse_mapping(line).unwrap();
        assert_eq!((found.begin, found.offset, found.path), (0x55d0_c0a0_1000, 0x1000, "/home/a b/prog".into()));
        assert!(parse_mapping("7ffd1000-7ffd2000 r-xp 00000000 00:00 0      [vdso]").is_none());
        assert!(parse_mapping("55d0c0a00000-55d0c0a01000 r--p 00000000 fe:01 1234  /prog").is_none());
    }
}
