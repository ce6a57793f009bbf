//! Names of call sites that survive edits of the source.
//!
//! A site is the function that has the call in its source, and the place of its line among the lines of that function
//! that call the same routine. The compiler may copy a call (a loop that is unrolled, a function that is inlined in
//! several places): copies of one line are one site, and what it was inlined into is shown but not compared, since a
//! change elsewhere changes what is inlined.

use std::cell::RefCell;
use std::collections::HashMap;

use pellucid_profile::report::{Frame, Symbols};

/// What stands for the function of [`Place::all`].
const ALL: &str = "*";
/// What people are told of it.
pub const ALL_PLACES: &str = "all places";

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Function, without what the compiler added to its name.
    pub function: String,
    /// File; empty where not known.
    pub file: String,
    /// Line; 0 where not known.
    pub line: u32,
    /// Address in the file of the program, where no line is known.
    pub address: u64,
}

impl Place {
    /// All places that call a routine.
    pub fn all() -> Place {
        Place { function: ALL.to_owned(), ..Place::default() }
    }

    /// The function, unless it is all of them.
    pub fn one_function(&self) -> Option<&str> {
        Some(self.function.as_str()).filter(|name| *name != ALL)
    }

    /// For people.
    pub fn shown(&self) -> String {
        if self.one_function().is_none() {
            return ALL_PLACES.to_owned();
        }
        let frame = Frame { function: self.function.clone(), file: self.file.clone(), line: self.line };
        if self.line > 0 { frame.shown() } else { self.function.clone() }
    }
}

/// Finds places, each address once.
pub struct Places<'s> {
    symbols: &'s dyn Symbols,
    known: RefCell<HashMap<(String, u64), Place>>,
}

impl<'s> Places<'s> {
    /// From this debug information.
    pub fn new(symbols: &'s dyn Symbols) -> Places<'s> {
        Places { symbols, known: RefCell::default() }
    }

    /// Where they come from.
    pub fn symbols(&self) -> &'s dyn Symbols {
        self.symbols
    }

    /// The place of a return address; of one that is not known, an empty one.
    pub fn find(&self, site: Option<(&str, u64)>) -> Place {
        let Some((path, address)) = site else { return Place::default() };
        let mut known = self.known.borrow_mut();
        known.entry((path.to_owned(), address)).or_insert_with(|| self.read(path, address)).clone()
    }

    fn read(&self, path: &str, address: u64) -> Place {
        // A return address is behind its call.
        let frames = self.symbols.frames(path, address.saturating_sub(1));
        let frame = frames.into_iter().next().unwrap_or_default();
        let module = path.rsplit('/').next().unwrap_or(path);
        let function = match plain(&frame.function) {
            "" => format!("({module})"),
            name => name.to_owned(),
        };
        let address = if frame.line > 0 { 0 } else { address };
        Place { function, file: frame.file, line: frame.line, address }
    }
}

/// A function's name without `.constprop.0`, `.part.1` and the like.
fn plain(name: &str) -> &str {
    const ADDED: [&str; 6] = [".constprop", ".part", ".isra", ".cold", ".lto_priv", ".llvm"];
    let cut = ADDED.iter().filter_map(|added| name.find(added)).min();
    &name[..cut.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Symbols for Two {
        fn frames(&self, _: &str, address: u64) -> Vec<Frame> {
            let frame = |function: &str, line| Frame { function: function.into(), file: "a/b.c".into(), line };
            match address {
                0..10 => vec![frame("inner", 3), frame("main", 40)],
                10..20 => vec![Frame { function: "solve.constprop.0".into(), ..Frame::default() }],
                _ => Vec::new(),
            }
        }
    }

    #[test]
    fn a_site_is_the_innermost_function_and_its_line() {
        let places = Places::new(&Two);
        let find = |address| places.find(Some(("/bin/app", address)));
        assert_eq!(find(4), find(5), "two addresses of one line");
        assert_eq!((find(4).shown(), find(4).address), ("inner at b.c:3".into(), 0));
        assert_eq!((find(15).function.as_str(), find(15).address), ("solve", 15));
        assert_eq!(find(30).shown(), "(app)");
        assert_eq!(places.find(None), Place::default());
    }
}
