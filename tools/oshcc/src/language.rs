//! C, C++ or Fortran, and which compiler stands behind the wrapper.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

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
    /// What tells this wrapper that it runs below itself: the variable, and its value.
    mark: (&'static str, &'static str),
}

/// How this wrapper was called, as far as its own mark in the environment tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Not by a compiler that it runs itself.
    Nothing,
    /// By the compiler that the variable names.
    Named,
    /// By the default compiler.
    Default,
}

/// The values of the mark.
const NAMED: &str = "named";
const DEFAULT: &str = "default";

impl Compiler {
    /// What runs the compiler, or a command that begins with its words.
    pub fn command(&self, words: &[OsString]) -> Command {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env(self.mark.0, self.mark.1);
        command
    }
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

    /// The variable in which the wrapper tells itself that it runs the compiler.
    fn mark(self) -> &'static str {
        match self {
            Self::C => "PELLUCID_OSHCC_RUNS",
            Self::Cxx => "PELLUCID_OSHCXX_RUNS",
            Self::Fortran => "PELLUCID_OSHFORT_RUNS",
        }
    }

    /// The compiler: from `CC`, `CXX`, `SHMEM_FC` or `FC`, else the system's. Error: the variable cannot be read as
    /// words, or the compiler runs this wrapper.
    pub fn compiler(self) -> Result<Compiler, String> {
        let value = |variable: &&&str| env::var(variable).is_ok_and(|value| !value.trim().is_empty());
        let variable = self.variables().iter().find(value).unwrap_or(&self.variables()[0]);
        let within = match env::var_os(self.mark()) {
            None => Within::Nothing,
            Some(value) if value == DEFAULT => Within::Default,
            Some(_) => Within::Named,
        };
        self.choose(variable, env::var(variable).ok().as_deref(), within)
    }

    fn choose(self, variable: &str, value: Option<&str>, within: Within) -> Result<Compiler, String> {
        let words = match value {
            Some(value) => split(value).ok_or_else(|| format!("{variable}={value}: a quotation mark is not closed"))?,
            None => Vec::new(),
        };
        // `CC=oshcc make` exports the variable to this program as well.
        let why = if words.is_empty() {
            format!("the default; set {variable} to use another")
        } else if words.iter().any(|word| is_wrapper(word)) {
            format!("the default, as {variable} names this wrapper itself")
        } else if within != Within::Nothing {
            format!("the default, as what {variable} names runs this wrapper itself")
        } else {
            let words = words.into_iter().map(OsString::from).collect();
            return Ok(Compiler { words, origin: format!("from {variable}"), mark: (self.mark(), NAMED) });
        };
        let default = self.default();
        if within == Within::Default {
            return Err(format!("the compiler {default:?} runs this wrapper itself: set {variable} to another"));
        }
        Ok(Compiler { words: vec![default.into()], origin: why, mark: (self.mark(), DEFAULT) })
    }
}

/// Whether a word is this wrapper by its name, or by another one: a link to it.
fn is_wrapper(word: &str) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default();
    let file = |path: PathBuf| path.canonicalize().ok();
    ["oshcc", "oshc++", "oshcxx", "oshCC", "oshfort"].iter().any(|wrapper| name == *wrapper)
        || on_path(word).and_then(file).is_some_and(|found| env::current_exe().ok().and_then(file) == Some(found))
}

/// The file that is run by this name.
fn on_path(word: &str) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(word.into());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| path.is_file())
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
            assert_eq!(Language::C.choose("CC", value, Within::Nothing).unwrap().words, words, "{value:?}");
        }
        assert_eq!(Language::Cxx.choose("CXX", None, Within::Nothing).unwrap().words, ["c++"]);
        assert!(Language::C.choose("CC", Some("gcc 'a"), Within::Nothing).unwrap_err().contains("CC=gcc 'a"));
    }

    #[test]
    fn a_compiler_that_is_this_wrapper_is_not_run() {
        let folder = std::env::temp_dir().join(format!("oshcc-itself-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (link, other) = (folder.join("shmemcc"), folder.join("other"));
        std::os::unix::fs::symlink(env::current_exe().unwrap(), &link).unwrap();
        std::fs::write(&other, "").unwrap();
        for (name, expected) in [(&link, "cc"), (&other, other.to_str().unwrap())] {
            let chosen = Language::C.choose("CC", name.to_str(), Within::Nothing).unwrap();
            assert_eq!(chosen.words, [expected], "{}", chosen.origin);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_script_that_runs_this_wrapper_is_run_once() {
        let of = |within| Language::Fortran.choose("FC", Some("my-script -g"), within);
        let first = of(Within::Nothing).unwrap();
        assert_eq!((first.words.as_slice(), first.mark.1), (&["my-script".into(), "-g".into()][..], NAMED));
        let second = of(Within::Named).unwrap();
        assert_eq!((second.words.as_slice(), second.mark.1), (&["gfortran".into()][..], DEFAULT));
        assert!(second.origin.contains("what FC names runs this wrapper"), "{}", second.origin);
        let third = of(Within::Default).unwrap_err();
        assert!(third.contains("\"gfortran\" runs this wrapper") && third.contains("FC"), "{third}");
    }
}
