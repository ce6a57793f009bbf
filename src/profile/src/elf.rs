//! What is read of ELF files and of objects that are loaded: the build id that a linker gave them.

/// The kind of a note that is a build id, and whose it is.
const BUILD_ID: (u32, &[u8]) = (3, b"GNU\0");

/// The build id among notes, in hexadecimal digits.
pub(crate) fn build_id_among(notes: &[u8]) -> Option<String> {
    id_among(notes).map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The build id among notes: each has the lengths of name and contents, its kind, and both, filled up to four bytes.
fn id_among(mut notes: &[u8]) -> Option<&[u8]> {
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name, contents) = (word(0) as usize, word(4) as usize);
        let (owner, rest) = rest.split_at_checked(name.checked_next_multiple_of(4)?)?;
        let (text, rest) = rest.split_at_checked(contents.checked_next_multiple_of(4)?)?;
        if (word(8), &owner[..name]) == BUILD_ID {
            return Some(&text[..contents]);
        }
        notes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_among_notes() {
        let note = |name: &[u8], kind: u32, contents: &[u8]| {
            let mut note = Vec::new();
            [name.len() as u32, contents.len() as u32, kind].iter().for_each(|n| note.extend(n.to_ne_bytes()));
            for part in [name, contents] {
                note.extend(part);
                note.resize(note.len().next_multiple_of(4), 0);
            }
            note
        };
        let others = [note(b"GNU\0", 5, &[9; 7]), note(b"stapsdt\0", 3, &[1])].concat();
        assert_eq!(id_among(&others), None);
        assert_eq!(id_among(&[others.clone(), note(b"GNU\0", 3, &[0xa, 0xff, 1])].concat()), Some(&[0xa, 0xff, 1][..]));
        let mut torn = note(b"GNU\0", 3, &[7; 20]);
        torn.truncate(30);
        assert_eq!(id_among(&torn), None);
        assert_eq!(id_among(&u32::MAX.to_ne_bytes().repeat(4)), None);
    }
}
