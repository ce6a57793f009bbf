//! C, C++ or Fortran, and which compiler stands behind the wrapper.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The language whose compiler is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `oshcc`
    C,
    /// `oshc++`, which others call `oshcxx` or `oshCC`
    Cxx,
    /// `oshfort`
    Fortran,
}

/// The compiler to run.
#[derive(Debug, PartialEq, Eq)]
pub struct Compiler {
    /// Its words: `ccache gcc`.
    pub words: Vec<OsString>,
    /// Where they come from, for messages.
    pub origin: String,
}

impl Language {
    /// The language that a program of this name stands for.
    pub fn of_program(name: &OsStr) -> Self {
        let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
        if name.contains("fort") {
            Self::Fortran
        } else if name.contains("++") || name.contains("cxx") || name.contains("CC") {
            Self::Cxx
        } else {
            Self::C
        }
    }

    /// The name of the wrapper.
    pub fn wrapper(self) -> &'static str {
        match self {
            Self::C => "oshcc",
            Self::Cxx => "oshc++",
            Self::Fortran => "oshfort",
        }
    }

    /// The variables that choose the compiler; the first that is set does.
    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Self::C => &["CC"],
            Self::Cxx => &["CXX"],
            Self::Fortran => &["SHMEM_FC", "FC"],
        }
    }

    fn default(self) -> &'static str {
        match self {
            Self::C => "cc",
            Self::Cxx => "c++",
            Self::Fortran => "gfortran",
        }
    }

    /// The compiler: from `CC`, `CXX`, `SHMEM_FC` or `FC`, else the system's. Error: the variable cannot be read as
    /// words.
    pub fn compiler(self) -> Result<Compiler, String> {
        let value = |variable: &&&str| std::env::var(variable).is_ok_and(|value| !value.trim().is_empty());
        let variable = self.variables().iter().find(value).unwrap_or(&self.variables()[0]);
        self.choose(variable, std::env::var(variable).ok().as_deref())
    }

    fn choose(self, variable: &str, value: Option<&str>) -> Result<Compiler, String> {
        let default = self.default();
        let words = match value {
            Some(value) => split(value).ok_or_else(|| format!("{variable}={value}: a quotation mark is not closed"))?,
            None => Vec::new(),
        };
        if words.is_empty() {
            let origin = format!("the default; set {variable} to use another");
            return Ok(Compiler { words: vec![default.into()], origin });
        }
        // `CC=oshcc make` exports the variable to this program as well.
        if words.iter().any(|word| is_wrapper(word)) {
            let origin = format!("the default, as {variable} names this wrapper itself");
            return Ok(Compiler { words: vec![default.into()], origin });
        }
        Ok(Compiler { words: words.into_iter().map(OsString::from).collect(), origin: format!("from {variable}") })
    }
}

fn is_wrapper(word: &str) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default();
    ["oshcc", "oshc++", "oshcxx", "oshCC", "oshfort"].iter().any(|wrapper| name == *wrapper)
}

/// Splits at blanks; quotation marks and backslashes protect them as in a shell. `None`: a mark is not closed.
pub fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides() {
        for (name, language) in [
            ("oshcc", Language::C),
            ("/a/c++/oshcc", Language::C),
            ("./oshc++", Language::Cxx),
            ("oshcxx", Language::Cxx),
            ("oshCC", Language::Cxx),
            ("/a/oshfort", Language::Fortran),
        ] {
            assert_eq!(Language::of_program(OsStr::new(name)), language, "{name}");
        }
    }

    #[test]
    fn the_variable_may_hold_arguments() {
        for (value, words) in [
            (None, vec!["cc"]),
            (Some(""), vec!["cc"]),
            (Some("  "), vec!["cc"]),
            (Some("ccache gcc"), vec!["ccache", "gcc"]),
            (Some("'/my dir/gcc' -m32 \"-Dx=a b\" -Dy=\\ "), vec!["/my dir/gcc", "-m32", "-Dx=a b", "-Dy= "]),
            (Some("oshcc"), vec!["cc"]),
            (Some("ccache /opt/bin/oshcc"), vec!["cc"]),
        ] {
            assert_eq!(Language::C.choose("CC", value).unwrap().words, words, "{value:?}");
        }
        assert_eq!(Language::Cxx.choose("CXX", None).unwrap().words, ["c++"]);
        assert!(Language::C.choose("CC", Some("gcc 'a")).unwrap_err().contains("CC=gcc 'a"));
    }
}
