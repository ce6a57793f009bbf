//! Frames of Python, of 3.9, 3.10, 3.11, 3.13 and 3.14. A thread's own frames stay as they are while it is in a call,
//! and hold what they refer to, so that it may read them without the lock. No reference is taken: their counts are
//! changed under the lock alone. But for 3.11, nothing that is exported by these versions writes a stack without the
//! lock; what does in 3.11 takes a system call for each number, and writes all of the stack.
//!
//! Where things are, later versions say themselves, in a table for debuggers (`_Py_DebugOffsets`); in the others,
//! headers that programs are compiled with have it.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::find;

/// As many frames as Python itself shows.
const FRAMES: usize = 100;
/// Of the name of a file or a function, what is read.
const NAME: usize = 1024;

/// A function that Python is in: its file, the line, its name.
pub struct Frame<'a> {
    pub file: &'a str,
    pub line: u32,
    pub name: &'a str,
}

/// Offsets in what the names say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// In the state of a thread, what has the innermost frame, and where it has that; `None`: the state has it.
    record: Option<usize>,
    innermost: usize,
    /// The frame that called it, in a frame.
    caller: usize,
    /// What it executes, in a frame.
    code: usize,
    /// The type, in an object.
    kind: usize,
    /// The names, in an object of code.
    file: usize,
    name: usize,
    /// The function that gives the line of a frame.
    line: &'static CStr,
    /// Where that is of an instruction of an object of code: the instruction, in a frame, and the first one, in the
    /// code.
    instruction: Option<[usize; 2]>,
}

/// Of 3.9 and 3.10, in the headers of both.
const BEFORE: Layout = Layout {
    record: None,
    innermost: 24,
    caller: 24,
    code: 32,
    kind: 8,
    file: 104,
    name: 112,
    line: c"PyFrame_GetLineNumber",
    instruction: None,
};

/// Of 3.11, in its headers.
const OF_3_11: Layout = Layout {
    record: Some(56),
    innermost: 8,
    caller: 48,
    code: 32,
    kind: 8,
    file: 112,
    name: 120,
    line: c"PyCode_Addr2Line",
    instruction: Some([56, 184]),
};

/// Where the parts of the table begin, which differs between versions: in words, the first of each a size.
struct Parts {
    version: u64,
    thread: usize,
    frame: usize,
    code: usize,
    object: usize,
}

const PARTS: [Parts; 2] = [
    Parts { version: 0x030d, thread: 19, frame: 28, code: 34, object: 44 },
    Parts { version: 0x030e, thread: 22, frame: 31, code: 39, object: 50 },
];

/// The words of the table that are read.
const WORDS: usize = 52;

/// The layout that a table describes. `None`: of a version that is not known, or of one without the interpreter's lock,
/// where a thread that is not attached may not ask for lines.
fn described(table: &[u64; WORDS]) -> Option<Layout> {
    let [cookie, version, without_lock, ..] = *table;
    let parts = PARTS.iter().find(|parts| parts.version == version >> 16)?;
    let is_released = version & 0xf0 == 0xf0;
    if cookie != u64::from_ne_bytes(*b"xdebugpy") || without_lock != 0 || !is_released {
        return None;
    }
    // What is not within its own size is of another table.
    let of = |part: usize, at: usize| (table[part + at] < table[part]).then_some(table[part + at] as usize);
    Some(Layout {
        record: None,
        innermost: of(parts.thread, 4)?,
        caller: of(parts.frame, 1)?,
        code: of(parts.frame, 2)?,
        kind: of(parts.object, 1)?,
        file: of(parts.code, 1)?,
        name: of(parts.code, 2)?,
        line: c"PyUnstable_InterpreterFrame_GetLine",
        instruction: None,
    })
}

/// Gives a line.
#[derive(Clone, Copy)]
enum LineOf {
    Frame(extern "C" fn(*const c_void) -> c_int),
    /// Of an object of code, and bytes from its first instruction.
    Code(extern "C" fn(*const c_void, c_int) -> c_int, [usize; 2]),
}

/// What is needed of Python to read its frames.
#[derive(Clone, Copy)]
pub struct Frames {
    layout: Layout,
    code_type: usize,
    line: LineOf,
    length: extern "C" fn(*const c_void) -> isize,
    character: extern "C" fn(*const c_void, isize) -> u32,
}

impl Frames {
    /// Of the Python in this process.
    pub fn find() -> Option<Frames> {
        // SAFETY: gives a constant text.
        let version = unsafe {
            let ask = std::mem::transmute::<usize, extern "C" fn() -> *const c_char>(find(c"Py_GetVersion")?);
            CStr::from_ptr(ask()).to_bytes()
        };
        let layout = if version.starts_with(b"3.9.") || version.starts_with(b"3.10.") {
            BEFORE
        } else if version.starts_with(b"3.11.") {
            OF_3_11
        } else {
            // SAFETY: the table is the first part of what has this name since 3.13; before, that is larger as well.
            described(unsafe { &*(find(c"_PyRuntime")? as *const [u64; WORDS]) })?
        };
        let (line, code_type) = (find(layout.line)?, find(c"PyCode_Type")?);
        let (length, character) = (find(c"PyUnicode_GetLength")?, find(c"PyUnicode_ReadChar")?);
        // SAFETY: these are the signatures of Python's functions.
        unsafe {
            let line = match layout.instruction {
                None => LineOf::Frame(std::mem::transmute::<usize, extern "C" fn(*const c_void) -> c_int>(line)),
                Some(at) => {
                    type OfCode = extern "C" fn(*const c_void, c_int) -> c_int;
                    LineOf::Code(std::mem::transmute::<usize, OfCode>(line), at)
                }
            };
            Some(Frames {
                layout,
                code_type,
                line,
                length: std::mem::transmute::<usize, extern "C" fn(*const c_void) -> isize>(length),
                character: std::mem::transmute::<usize, extern "C" fn(*const c_void, isize) -> u32>(character),
            })
        }
    }

    /// Visits the functions that a thread is in, innermost first, until `visit` gives false.
    ///
    /// # Safety
    /// The state is that of the calling thread.
    pub unsafe fn visit(&self, state: *mut c_void, visit: &mut dyn FnMut(&Frame) -> bool) {
        let (mut file, mut name) = ([0; NAME], [0; NAME]);
        // SAFETY: the caller's state, of this layout; so are its frames and their code, whose type is looked at, since
        // the interpreter has frames of its own as well.
        unsafe {
            let record = self.layout.record.map_or(state as usize, |at| word(state as usize + at));
            if record == 0 {
                return;
            }
            let mut frame = word(record + self.layout.innermost);
            for _ in 0..FRAMES {
                if frame == 0 {
                    return;
                }
                // Later versions mark references in the lowest bits.
                let code = word(frame + self.layout.code) & !7;
                if code != 0 && word(code + self.layout.kind) == self.code_type {
                    let line = self.line(frame, code);
                    let file = self.text(word(code + self.layout.file), &mut file);
                    let name = self.text(word(code + self.layout.name), &mut name);
                    if !visit(&Frame { file, line, name }) {
                        return;
                    }
                }
                frame = word(frame + self.layout.caller);
            }
        }
    }

    /// The line that a frame is at; 0: it is not known.
    ///
    /// # Safety
    /// A frame of this layout, and its code.
    unsafe fn line(&self, frame: usize, code: usize) -> u32 {
        let line = match self.line {
            LineOf::Frame(line) => line(frame as *const c_void),
            LineOf::Code(line, [instruction, first]) => {
                // SAFETY: the caller's.
                let at = unsafe { word(frame + instruction) }.wrapping_sub(code + first);
                line(code as *const c_void, at as c_int)
            }
        };
        u32::try_from(line).unwrap_or(0)
    }

    /// A string of Python, as far as there is room: its own conversions may allocate.
    fn text<'a>(&self, string: usize, room: &'a mut [u8; NAME]) -> &'a str {
        let string = string as *const c_void;
        let mut used = 0;
        for at in 0..(self.length)(string) {
            let character = char::from_u32((self.character)(string, at)).unwrap_or(char::REPLACEMENT_CHARACTER);
            let Some(place) = room.get_mut(used..used + character.len_utf8()) else { break };
            used += character.encode_utf8(place).len();
        }
        std::str::from_utf8(&room[..used]).unwrap_or_default()
    }
}

/// # Safety
/// A word is there.
unsafe fn word(at: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { *(at as *const usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python 3.13.0 has there.
    fn table() -> [u64; WORDS] {
        let mut table = [0; WORDS];
        table[..3].copy_from_slice(&[u64::from_ne_bytes(*b"xdebugpy"), 0x030d_00f0, 0]);
        table[19..24].copy_from_slice(&[304, 0, 8, 16, 72]);
        table[28..34].copy_from_slice(&[80, 8, 0, 56, 72, 70]);
        table[34..37].copy_from_slice(&[208, 112, 120]);
        table[44..46].copy_from_slice(&[16, 8]);
        table
    }

    #[test]
    fn the_table_says_where_things_are() {
        let layout = described(&table()).expect("a known table");
        let numbers = [layout.innermost, layout.caller, layout.code, layout.kind, layout.file, layout.name];
        assert_eq!(numbers, [72, 8, 0, 8, 112, 120]);
    }

    #[test]
    fn other_tables_are_left_alone() {
        // No table, a later version, one that was not finished, no lock, an offset behind the end.
        let others = [(0, 1), (1, 0x030f_00f0), (1, 0x030d_00b1), (2, 1), (23, 304), (29, 80), (45, 16)];
        for (word, value) in others {
            let mut table = table();
            table[word] = value;
            assert_eq!(described(&table), None, "word {word}");
        }
    }
}
