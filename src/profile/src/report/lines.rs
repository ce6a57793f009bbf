//! Source lines of addresses, from the debug information of executables and libraries.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use super::debug_file::debug_file;
use super::{Frame, Symbols, script_line};
use crate::text::path_of;
use addr2line::Loader;

/// Reads each file once, when it is first asked for.
#[derive(Default)]
pub struct Resolver {
    loaded: RefCell<HashMap<String, Option<Loader>>>,
    offsets: bool,
}

impl Resolver {
    /// Says how far in a function an address is where it knows no line.
    pub fn with_offsets() -> Resolver {
        Resolver { offsets: true, ..Resolver::default() }
    }
}

impl Symbols for Resolver {
    fn frames(&self, path: &str, address: u64) -> Vec<Frame> {
        if let Some(line) = script_line(path, address) {
            return vec![line];
        }
        let mut loaded = self.loaded.borrow_mut();
        let loader = loaded.entry(path.to_owned()).or_insert_with(|| load(path));
        let Some(loader) = loader else { return Vec::new() };
        let mut frames = Vec::new();
        if let Ok(mut found) = loader.find_frames(address) {
            while let Ok(Some(frame)) = found.next() {
                let function = frame.function.as_ref().and_then(|f| f.raw_name().ok().map(readable));
                let place = frame.location;
                frames.push(Frame {
                    function: function.unwrap_or_default(),
                    file: place.as_ref().and_then(|l| l.file).unwrap_or_default().to_owned(),
                    line: place.and_then(|l| l.line).unwrap_or(0),
                });
            }
        }
        if frames.iter().all(|frame| frame.function.is_empty())
            && let Some(symbol) = loader.find_symbol_info(address)
        {
            // Without debug information there is the symbol table, with names as compilers make them.
            let name = readable(symbol.name().into());
            let line = frames.pop().unwrap_or_default();
            // What is asked for is the byte before an address that is returned to.
            let offset = format!("+{:#x}", address + 1 - symbol.address());
            let offset = if self.offsets && line.file.is_empty() { offset } else { String::new() };
            frames = vec![Frame { function: format!("{name}{offset}"), ..line }];
        }
        let inlined = frames.iter().take_while(|frame| is_interface(frame)).count();
        frames.drain(..inlined.min(frames.len().saturating_sub(1)));
        frames
    }

    fn object(&self, path: &str, address: u64) -> Option<(String, u64)> {
        let mut loaded = self.loaded.borrow_mut();
        let loader = loaded.entry(path.to_owned()).or_insert_with(|| load(path)).as_ref()?;
        let symbol = loader.find_symbol_info(address)?;
        Some((readable(symbol.name().into()), address - symbol.address()))
    }
}

/// The debug information of a file, its own or that in a file beside it; where there is none, its symbols.
fn load(path: &str) -> Option<Loader> {
    let path = path_of(path);
    let separate = debug_file(&path).and_then(|debug| Loader::new(debug).ok());
    separate.or_else(|| Loader::new(path).ok())
}

/// Whether a function is of the interface to a routine, the overloads of the headers or the package for Rust: where it
/// is inlined, the call is the program's.
fn is_interface(frame: &Frame) -> bool {
    let file = frame.file.rsplit('/').next().unwrap_or_default();
    ["shmem.h", "shmemx.h"].contains(&file)
        || ["pellucid::", "<pellucid::"].iter().any(|start| frame.function.starts_with(start))
}

/// How names begin that compilers of C++ and of Rust have made.
const MANGLED: [&str; 3] = ["_Z", "__Z", "_R"];

/// A symbol as its source has it. Only what a compiler has made is taken apart: `f` of C is `float` as well.
fn readable(symbol: Cow<'_, str>) -> String {
    let is_mangled = MANGLED.iter().any(|begin| symbol.starts_with(begin));
    (if is_mangled { addr2line::demangle_auto(symbol, None) } else { symbol }).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_has_no_lines() {
        let resolver = Resolver::default();
        assert!(resolver.frames("/no/such/file", 0x1000).is_empty());
        assert!(resolver.frames("/etc/passwd", 0x1000).is_empty());
    }

    #[test]
    fn a_file_is_found_whatever_bytes_its_name_has() {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};
        let mut name = std::env::temp_dir().into_os_string().into_vec();
        name.extend(format!("/pellucid-lines-{}-", std::process::id()).bytes().chain([0xff, b'y']));
        let path = std::path::PathBuf::from(std::ffi::OsString::from_vec(name));
        std::fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        let (resolver, text) = (Resolver::default(), crate::text::path_text(path.as_os_str().as_bytes()));
        resolver.frames(&text, 0);
        std::fs::remove_file(&path).unwrap();
        assert!(resolver.loaded.borrow()[&text].is_some());
    }

    #[test]
    fn names_of_c_are_left_as_they_are() {
        let of = |symbol: &'static str| readable(symbol.into());
        for name in ["v", "f", "d", "x", "i", "St", "Pi", "Pv", "main", "_start", "_Rest", "__mesh_MOD_solve", ""] {
            assert_eq!(of(name), name);
        }
        let mangled = ["_Z3foov", "__Z3foov", "_ZN4heat5solve17h0123456789abcdefE", "_RNvC4heat5solve"].map(of);
        assert_eq!(mangled, ["foo()", "foo()", "heat::solve", "heat::solve"]);
    }

    #[test]
    fn interfaces_are_told_from_programs() {
        let is = |function: &str, file: &str| {
            is_interface(&Frame { function: function.to_owned(), file: file.to_owned(), line: 1 })
        };
        assert!(is("shmem_p(long*, long, int)", "/usr/include/shmem.h"));
        assert!(is("pellucid::context::Context::put", "/src/rust/src/context.rs"));
        assert!(is("<pellucid::lock::Guard as core::ops::drop::Drop>::drop", "/src/rust/src/lock.rs"));
        assert!(!is("shmem_halo", "/home/me/halo.c") && !is("main", "/home/me/my_shmem.h"));
        assert!(!is("pellucid_app::main", "/home/me/main.rs") && !is("", ""));
    }

    #[test]
    fn addresses_of_scripts_are_lines() {
        let frames = Resolver::default().frames("/gone/heat.py", 47);
        assert_eq!(frames.iter().map(Frame::shown).collect::<Vec<_>>(), ["heat.py:47"]);
    }
}
