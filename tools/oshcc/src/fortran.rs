//! What Fortran needs beyond headers and library: options for old programs, and module files, which are of one
//! compiler.

use crate::language::Compiler;
use crate::tree::Tree;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The compiler, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The number before the first point of gfortran's version; `None`: another compiler.
    pub gfortran: Option<u32>,
    /// The name of its folder of module files: `gfortran-12`, `ifx`.
    pub name: String,
}

impl Toolchain {
    /// What the compiler says of itself. One that cannot be run is said to be no gfortran: the run proper names the
    /// error.
    pub fn of(compiler: &Compiler) -> Self {
        let program = PathBuf::from(&compiler.words[0]);
        let mut version_of = compiler.command(&compiler.words);
        let asked = version_of.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
        let text = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        match version(&text) {
            Some(major) => Self { gfortran: Some(major), name: format!("gfortran-{major}") },
            None => {
                let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Self { gfortran: None, name }
            }
        }
    }

    /// Where its module files are, or would be.
    pub fn modules(&self, tree: &Tree) -> PathBuf {
        tree.lib.join("pellucid/modules").join(&self.name)
    }

    /// Whether there are module files of this compiler.
    pub fn has_modules(&self, tree: &Tree) -> bool {
        self.modules(tree).is_dir()
    }

    /// The options for compiling, but for the headers' folder. `of_language`: those of Fortran too that gfortran gives
    /// the compiler of C as well, which warns of them.
    pub fn options(&self, tree: &Tree, of_language: bool) -> Vec<OsString> {
        let mut options = Vec::new();
        if let Some(major) = self.gfortran.filter(|_| of_language) {
            // SHPALLOC gives a Cray pointer, and one routine takes arrays of several types in one file.
            options.push("-fcray-pointer".into());
            if major >= 10 {
                options.push("-fallow-argument-mismatch".into());
            }
        }
        if self.has_modules(tree) {
            let mut option = OsString::from("-I");
            option.push(self.modules(tree));
            options.push(option);
        }
        options
    }

    /// What is said where a program did not compile that uses a module, and there are no module files of this compiler.
    pub fn note(&self, tree: &Tree, args: &[OsString]) -> Option<String> {
        if self.has_modules(tree) || !args.iter().any(uses_module) || are_in_folders(args) {
            return None;
        }
        let modules = self.modules(tree);
        let sources = tree.lib.parent()?.join("share/pellucid/fortran");
        let (name, sources, modules) = (&self.name, sources.display(), modules.display());
        let how = match self.gfortran {
            Some(_) => format!("mkdir -p '{modules}' && gfortran -fsyntax-only -J '{modules}' '{sources}'/*.f90"),
            None => {
                format!("compile {sources}/shmem.f90 and shmem_c.f90 with it, and put what it makes into {modules}")
            }
        };
        Some(format!("there are no module files of {name} for `use shmem` and `use shmem_c`. To make them: {how}"))
    }
}

/// The major version in what gfortran says: `GNU Fortran (Debian 12.2.0-14) 12.2.0`.
fn version(text: &str) -> Option<u32> {
    let line = text.lines().next()?;
    let rest = line.strip_prefix("GNU Fortran")?;
    let rest = rest.rsplit_once(')').map_or(rest, |(_, after)| after);
    rest.trim().split('.').next()?.parse().ok()
}

/// Names of sources in Fortran, in small letters.
const ENDINGS: &[&str] = &["f", "for", "ftn", "fpp", "f77", "f90", "f95", "f03", "f08", "f15", "f18", "f23", "cuf"];

/// What is in an argument that is the name of a source file, in small letters.
fn source(file: &OsString) -> Option<String> {
    let ending = Path::new(file).extension()?.to_str()?.to_ascii_lowercase();
    // A pipe would wait for its other end.
    let is_source =
        ENDINGS.contains(&ending.as_str()) && std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let bytes = is_source.then(|| std::fs::read(file).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).to_ascii_lowercase())
}

/// Whether an argument is a source file that uses one of the modules.
fn uses_module(file: &OsString) -> bool {
    source(file).is_some_and(|text| uses(&text, &["shmem", "shmem_c"]))
}

/// Whether a source in small letters uses one of the modules of these names.
fn uses(text: &str, modules: &[&str]) -> bool {
    text.lines().any(|line| {
        let Some(rest) = line.trim_start().strip_prefix("use") else { return false };
        let after = rest.trim_start_matches([' ', ',', ':']);
        let after = after.strip_prefix("non_intrinsic").unwrap_or(after).trim_start_matches([' ', ':']);
        let name = after.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        after.len() < rest.len() && name.is_some_and(|name| modules.contains(&name))
    })
}

/// Whether the compiler finds module files elsewhere: in a folder of `-I` or `-J`, or where it runs.
fn are_in_folders(args: &[OsString]) -> bool {
    let names: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let folder = |at: usize| {
        let value = names[at].strip_prefix("-I").or_else(|| names[at].strip_prefix("-J"))?;
        if value.is_empty() { names.get(at + 1).copied() } else { Some(value) }
    };
    let has = |folder: &str| ["shmem.mod", "shmem_c.mod"].iter().any(|name| Path::new(folder).join(name).is_file());
    (0..names.len()).filter_map(folder).chain(["."]).any(has)
}

/// Options by which `INTEGER` or `REAL` have another size than in the library, also of other compilers.
const KINDS: &[(&str, &str)] = &[
    ("-fdefault-integer-8", "INTEGER"),
    ("-finteger-4-integer-8", "INTEGER"),
    ("-i8", "INTEGER"),
    ("-fdefault-real-8", "REAL"),
    ("-fdefault-real-10", "REAL"),
    ("-fdefault-real-16", "REAL"),
    ("-freal-4-real-8", "REAL"),
    ("-freal-4-real-10", "REAL"),
    ("-freal-4-real-16", "REAL"),
    ("-r8", "REAL"),
    ("-r16", "REAL"),
];

/// Options by which a call has the very name of a routine of C.
const BARE_NAMES: &[&str] = &["-fno-underscoring", "-Mnounderscoring"];

/// A sentence for each option by which a source that uses the library hands it data of another size, or addresses where
/// a routine of C takes values; nothing else tells.
pub fn warnings(args: &[OsString]) -> Vec<String> {
    let has = |option: &str| args.iter().any(|arg| arg == option);
    let kinds: Vec<_> = KINDS.iter().filter(|(option, _)| has(option)).collect();
    let bare: Vec<_> = BARE_NAMES.iter().filter(|option| has(option)).collect();
    if kinds.is_empty() && bare.is_empty() {
        return Vec::new();
    }
    let sources: Vec<_> = args.iter().filter_map(source).filter(|text| text.contains("shmem")).collect();
    let mut sentences = if sources.is_empty() { Vec::new() } else { kinds.into_iter().map(of_kinds).collect() };
    // Interfaces of C are right by any name.
    if sources.iter().any(|text| !uses(text, &["shmem_c"])) {
        sentences.extend(bare.into_iter().map(of_bare_names));
    }
    sentences
}

fn of_bare_names(option: &&str) -> String {
    format!(
        "{option}: routines of Fortran that C has by the same name, such as shmem_put64, are those of C then, which \
         take addresses for values; leave it out, or `use shmem_c` (docs/fortran.md)"
    )
}

fn of_kinds((option, kind): &(&str, &str)) -> String {
    let (routine, other) = match *kind {
        "INTEGER" => ("shmem_integer_put", "shmem_put64; results that are INTEGER have to be INTEGER*4"),
        _ if option.ends_with('8') => ("shmem_real_put", "shmem_real8_put"),
        _ => ("shmem_real_put", "shmem_put128"),
    };
    format!(
        "{option}: {kind} has 4 bytes in the library, so {routine} and its kin move a part of such data only; use \
         routines that have the size in their name, such as {other} (docs/fortran.md)"
    )
}

/// Whether a source file is of C, which is compiled without the options of Fortran.
pub fn is_c(name: &str) -> bool {
    [".c", ".i", ".s", ".S", ".cc", ".cpp", ".cxx"].iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn versions() {
        for (text, major) in [
            ("GNU Fortran (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", Some(12)),
            ("GNU Fortran (GCC) 9.3.1 20200408", Some(9)),
            ("flang-new version 16.0.6", None),
            ("", None),
        ] {
            assert_eq!(version(text), major, "{text}");
        }
    }

    #[test]
    fn options_are_for_the_compiler_that_knows_them() {
        let tree = Tree::at(Path::new("/p"));
        let of = |gfortran: Option<u32>| Toolchain { gfortran, name: "f".into() }.options(&tree, true);
        assert_eq!(of(Some(12)), ["-fcray-pointer", "-fallow-argument-mismatch"]);
        assert_eq!(of(Some(9)), ["-fcray-pointer"]);
        assert!(of(None).is_empty());
        assert!(Toolchain { gfortran: Some(12), name: "f".into() }.options(&tree, false).is_empty());
    }

    #[test]
    fn the_note_is_for_those_who_use_a_module() {
        let folder = std::env::temp_dir().join(format!("oshcc-note-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let tree = Tree::at(&folder);
        let tools = Toolchain { gfortran: Some(12), name: "gfortran-12".into() };
        for (text, is_told) in [
            ("program a\n  use shmem\nend\n", true),
            ("      USE, NON_INTRINSIC :: SHMEM_C\n", true),
            ("program a\n  use iso_c_binding\n  call user_shmem()\nend\n", false),
            ("program a\n  use shmem_types\nend\n", false),
            ("use::shmem,only:shmem_put8\nend\n", true),
            ("      include 'shmem.fh'\n", false),
        ] {
            let file = folder.join("a.f90");
            std::fs::write(&file, text).unwrap();
            let note = tools.note(&tree, &["-c".into(), file.into()]);
            assert_eq!(note.is_some_and(|note| note.contains("gfortran-12")), is_told, "{text}");
        }
        // The user's own, by which the compiler was content.
        std::fs::write(folder.join("a.f90"), "use shmem\nend\n").unwrap();
        let (source, own) = (folder.join("a.f90").into_os_string(), folder.join("own"));
        let joined = OsString::from(format!("-I{}", own.display()));
        for is_made in [false, true] {
            let args = [&[source.clone(), joined.clone()][..], &[source.clone(), "-J".into(), own.clone().into()]];
            for args in args {
                assert_eq!(tools.note(&tree, args).is_none(), is_made, "{args:?}");
            }
            std::fs::create_dir_all(&own).unwrap();
            std::fs::write(own.join("shmem.mod"), "").unwrap();
        }
        // Only sources are looked at, and a pipe is none.
        std::fs::write(folder.join("a.o"), "use shmem\n").unwrap();
        let pipe = folder.join("pipe.f90");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for name in ["a.o", "pipe.f90", "none.f90"] {
            assert_eq!(tools.note(&tree, &[folder.join(name).into()]), None, "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn options_that_change_what_the_library_gets_are_warned_of() {
        let folder = std::env::temp_dir().join(format!("oshcc-kinds-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (with, without) = (folder.join("with.F"), folder.join("without.f90"));
        std::fs::write(&with, "      INCLUDE 'SHMEM.FH'\n      END\n").unwrap();
        std::fs::write(&without, "print *, 1\nend\n").unwrap();
        let of = |file: &Path, options: &[&str]| {
            warnings(&options.iter().map(OsString::from).chain([file.into()]).collect::<Vec<_>>())
        };
        for (option, kind) in KINDS {
            let told = of(&with, &["-O2", option]);
            assert!(told.len() == 1 && told[0].starts_with(&format!("{option}: {kind} has 4 bytes")), "{told:?}");
            assert!(of(&without, &[option]).is_empty(), "{option}");
        }
        assert_eq!(of(&with, &["-fdefault-integer-8", "-fdefault-real-8"]).len(), 2);
        assert!(of(&with, &["-O2", "-fdefault-double-8"]).is_empty());
        // The names of C's own routines: right with interfaces of C only.
        for (text, is_told) in [
            ("      INCLUDE 'SHMEM.FH'\n      END\n", true),
            ("use shmem\nend\n", true),
            ("use, non_intrinsic :: shmem_c\nend\n", false),
            ("print *, 1\nend\n", false),
        ] {
            std::fs::write(&with, text).unwrap();
            let told = of(&with, &["-fno-underscoring"]);
            assert_eq!(told.iter().any(|told| told.contains("`use shmem_c`")), is_told, "{text}: {told:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
