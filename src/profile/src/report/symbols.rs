//! Source lines of addresses: whoever can read debug information provides them.

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Function, demangled; empty where not known.
    pub function: String,
    /// File; empty where not known.
    pub file: String,
    /// Line; 0 where not known.
    pub line: u32,
}

impl Frame {
    /// `function at file:line`, as far as known.
    pub fn shown(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        match (self.function.is_empty(), file.is_empty()) {
            (false, false) => format!("{} at {file}:{}", self.function, self.line),
            (true, false) => format!("{file}:{}", self.line),
            (false, true) => self.function.clone(),
            (true, true) => String::new(),
        }
    }
}

/// The line of a script, where the file is one: addresses of such a file are its lines (`recorder/script.rs`).
pub fn script_line(path: &str, address: u64) -> Option<Frame> {
    let line = u32::try_from(address).ok().filter(|_| path.ends_with(".py"))?;
    Some(Frame { function: String::new(), file: path.to_owned(), line })
}

/// Finds source lines.
pub trait Symbols {
    /// The frames at an address of a file, an inlined function before the one that it is in. Empty where nothing is
    /// known.
    fn frames(&self, path: &str, address: u64) -> Vec<Frame>;

    /// The object of a file's symbol table that an address is in, and how far. `None` where nothing is known.
    fn object(&self, _path: &str, _address: u64) -> Option<(String, u64)> {
        None
    }

    /// Whether a file is there, and the one that ran: else [`Self::notes`] say why it has no lines.
    fn is_what_ran(&self, _path: &str) -> bool {
        true
    }

    /// What a reader has to know of the lines.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSymbols;

impl Symbols for NoSymbols {
    fn frames(&self, _: &str, _: u64) -> Vec<Frame> {
        Vec::new()
    }
}
