//! The build id that a linker gave a file.

use std::io::Read;
use std::path::Path;

/// How much of a file is looked through: linkers put notes at the begin.
const HEAD: u64 = 1 << 16;
/// What is before a build id: length of the owner's name, length of the id, the kind of note, and the owner.
const OWNER: [u8; 4] = 4_u32.to_le_bytes();
const KIND: [u8; 8] = *b"\x03\0\0\0GNU\0";
/// Longest id.
const LONGEST: usize = 64;

/// The build id of a file, in hexadecimal digits; `None` where it has none, or is no plain file.
pub fn build_id(path: &Path) -> Option<String> {
    // A path in a profile may be anything, and opening some things waits.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    find(&bytes).map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn find(bytes: &[u8]) -> Option<&[u8]> {
    let is_note = |note: &&[u8]| note[..4] == OWNER && note[8..] == KIND;
    // Notes begin at multiples of four bytes.
    let starts = (0..bytes.len().saturating_sub(16)).step_by(4);
    starts.filter(|&at| is_note(&&bytes[at..at + 16])).find_map(|at| {
        let length = u32::from_le_bytes([bytes[at + 4], bytes[at + 5], bytes[at + 6], bytes[at + 7]]) as usize;
        (1..=LONGEST).contains(&length).then(|| bytes.get(at + 16..at + 16 + length)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_length_are_found() {
        for length in [8_u32, 16, 20] {
            let id: Vec<u8> = (1..=length as u8).collect();
            let file = [vec![7; 40], OWNER.to_vec(), length.to_le_bytes().to_vec(), KIND.to_vec(), id.clone()].concat();
            assert_eq!(find(&file), Some(&id[..]), "{length}");
            assert_eq!(find(&file[..file.len() - 1]), None, "{length}: torn");
        }
        assert_eq!(find(&[0; 3]), None);
        assert_eq!((build_id(Path::new("/dev/zero")), build_id(Path::new("/no/such"))), (None, None));
    }
}
