//! From the user's arguments to the command that is run or shown.

use crate::fortran::{self, Toolchain};
use crate::language::Language;
use crate::mode::{Mode, mode};
use crate::response;
use crate::tree::Tree;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// What the user asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// Run this.
    Run(Vec<OsString>),
    /// Print these words.
    Show(Vec<OsString>),
    /// Print this text.
    Text(String),
    /// Print our own help text, then run this, which prints the compiler's.
    Help(Vec<OsString>),
}

/// What a command is made with.
#[derive(Clone, Copy)]
pub struct With<'a> {
    /// The language.
    pub language: Language,
    /// The compiler, with arguments if need be.
    pub compiler: &'a [OsString],
    /// For Fortran, what is known of the compiler.
    pub toolchain: Option<&'a Toolchain>,
    /// Headers and libraries.
    pub tree: &'a Tree,
}

/// What `-show` and its relatives show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    Command,
    Compile,
    Link,
    IncludeFolders,
    LibraryFolders,
    Libraries,
    Compiler,
    Version,
}

/// Spellings, as other wrappers have them; a second dash may stand before each.
const SHOWS: &[(&str, Show)] = &[
    ("-show", Show::Command),
    ("-showme", Show::Command),
    ("-showme:compile", Show::Compile),
    ("-showme:link", Show::Link),
    ("-showme:incdirs", Show::IncludeFolders),
    ("-showme:libdirs", Show::LibraryFolders),
    ("-showme:libs", Show::Libraries),
    ("-showme:command", Show::Compiler),
    ("-showme:version", Show::Version),
];

fn asks_to_show(arg: &OsStr) -> Option<Show> {
    let arg = arg.to_str()?;
    let one_dash = arg.strip_prefix("--").map(|name| format!("-{name}"));
    let arg = one_dash.as_deref().unwrap_or(arg);
    SHOWS.iter().find(|(name, _)| arg == *name).map(|(_, show)| *show)
}

/// The command for these arguments: every one of them unchanged and in order, ours before (headers) and after
/// (library).
pub fn plan(with: &With, args: &[OsString]) -> Request {
    let With { language, compiler, tree, .. } = *with;
    let shown = args.iter().rev().find_map(|arg| asks_to_show(arg));
    let args: Vec<OsString> = args.iter().filter(|arg| asks_to_show(arg).is_none()).cloned().collect();
    // What is passed on names the files still.
    let read = response::expanded(&args);
    let mode = mode(&read);
    match shown {
        Some(Show::Compile) => return Request::Show(compile_options(with, &read)),
        Some(Show::Link) => return Request::Show(link_options(with, mode)),
        Some(Show::IncludeFolders) => return Request::Show(include_folders(with, &read)),
        Some(Show::LibraryFolders) => return Request::Show(vec![tree.lib.clone().into()]),
        Some(Show::Libraries) => return Request::Text(libraries(with).join(" ")),
        Some(Show::Compiler) => return Request::Show(compiler.to_vec()),
        Some(Show::Version) => {
            return Request::Text(format!("{}: Pellucid {}", language.wrapper(), env!("CARGO_PKG_VERSION")));
        }
        Some(Show::Command) | None => {}
    }
    let nothing_to_do = shown.is_some() && args.is_empty();
    let mut words = compiler.to_vec();
    if mode.compiles || nothing_to_do {
        words.extend(compile_options(with, &read));
    }
    words.extend(args.iter().cloned());
    if mode.links || nothing_to_do {
        words.extend(link_options(with, mode));
    }
    match shown {
        Some(_) => Request::Show(words),
        None if args == ["--help"] => Request::Help(words),
        None => Request::Run(words),
    }
}

fn compile_options(with: &With, args: &[OsString]) -> Vec<OsString> {
    let mut options = vec![joined("-I", with.tree.include.as_os_str())];
    let inputs: Vec<_> = args.iter().filter_map(|arg| arg.to_str()).filter(|arg| !arg.starts_with('-')).collect();
    let has_c = inputs.iter().any(|name| fortran::is_c(name));
    let is_c_alone =
        has_c && !inputs.iter().any(|name| name.rsplit_once(".").is_some_and(|(_, end)| end.starts_with(['f', 'F'])));
    if let Some(toolchain) = with.toolchain.filter(|_| !is_c_alone) {
        // The compiler of C warns of options of Fortran: where that ends it, sources of Fortran do without.
        options.extend(toolchain.options(with.tree, !(has_c && args.iter().any(|arg| arg == "-Werror"))));
    }
    options
}

/// Those of [`compile_options`] that name a folder: of headers, and of modules where there are some.
fn include_folders(with: &With, args: &[OsString]) -> Vec<OsString> {
    let options = compile_options(with, args);
    let folders = options.iter().filter_map(|option| option.as_bytes().strip_prefix(b"-I"));
    folders.map(|path| OsStr::from_bytes(path).to_owned()).collect()
}

/// Names of the libraries, as linkers have them.
fn libraries(with: &With) -> Vec<&'static str> {
    let fortran = (with.language == Language::Fortran && with.tree.has_fortran()).then_some("smaf");
    fortran.into_iter().chain(["sma"]).collect()
}

fn link_options(with: &With, mode: Mode) -> Vec<OsString> {
    let lib = with.tree.lib.as_os_str();
    let mut options = vec![joined("-L", lib)];
    if !mode.is_static {
        options.extend(rpath(lib));
    }
    options.extend(libraries(with).iter().map(|name| format!("-l{name}").into()));
    if mode.is_static {
        options.push("-lm".into());
    }
    options
}

/// The option for where a program finds the library. `-Wl,` splits at commas, so that a path with one is an argument of
/// its own.
fn rpath(lib: &OsStr) -> Vec<OsString> {
    if lib.as_encoded_bytes().contains(&b',') {
        return vec!["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), lib.into()];
    }
    vec![joined("-Wl,-rpath,", lib)]
}

fn joined(option: &str, path: &OsStr) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn text(words: &[OsString]) -> String {
        words.iter().map(|w| w.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn of_c<'a>(compiler: &'a [OsString], tree: &'a Tree) -> With<'a> {
        With { language: Language::C, compiler, toolchain: None, tree }
    }

    #[test]
    fn fortran_has_options_of_its_own() {
        let tree = Tree::at(Path::new("/p"));
        let toolchain = Toolchain { gfortran: Some(12), name: "gfortran-12".into() };
        let compiler = words("gfortran");
        let with = With { language: Language::Fortran, compiler: &compiler, toolchain: Some(&toolchain), tree: &tree };
        let old = "-fcray-pointer -fallow-argument-mismatch";
        for (args, expected) in [
            ("-c a.f90", format!("gfortran -I/p/include {old} -c a.f90")),
            ("-c a.c", "gfortran -I/p/include -c a.c".into()),
            ("a.o", "gfortran a.o -L/p/lib -Wl,-rpath,/p/lib -lsma".into()),
            ("-c a.c b.F", format!("gfortran -I/p/include {old} -c a.c b.F")),
            ("-Werror -c b.F", format!("gfortran -I/p/include {old} -Werror -c b.F")),
            ("-Werror -c a.c b.F", "gfortran -I/p/include -Werror -c a.c b.F".into()),
        ] {
            let Request::Run(command) = plan(&with, &words(args)) else { panic!("{args}") };
            assert_eq!(text(&command), expected);
        }
    }

    #[test]
    fn commands() {
        let tree = Tree::at(Path::new("/p"));
        let library = "-L/p/lib -Wl,-rpath,/p/lib -lsma";
        for (args, expected) in [
            ("a.c -o a", format!("run cc -I/p/include a.c -o a {library}")),
            ("a.c -lmyprof", format!("run cc -I/p/include a.c -lmyprof {library}")),
            ("-c a.c", "run cc -I/p/include -c a.c".into()),
            ("-E a.c", "run cc -I/p/include -E a.c".into()),
            ("a.o", format!("run cc a.o {library}")),
            ("-shared -o l.so a.o", format!("run cc -shared -o l.so a.o {library}")),
            ("-static a.c", "run cc -I/p/include -static a.c -L/p/lib -lsma -lm".into()),
            ("@file", format!("run cc -I/p/include @file {library}")),
            ("--version", "run cc --version".into()),
            ("", "run cc".into()),
            ("--help", "help cc --help".into()),
            ("-showme a.c", format!("show cc -I/p/include a.c {library}")),
            ("-c a.c --show", "show cc -I/p/include -c a.c".into()),
            ("-show", format!("show cc -I/p/include {library}")),
            ("-showme:compile", "show -I/p/include".into()),
            ("-showme:link a.c", format!("show {library}")),
            ("-static -showme:link", "show -L/p/lib -lsma -lm".into()),
            ("-showme:incdirs", "show /p/include".into()),
            ("--showme:libdirs", "show /p/lib".into()),
            ("-showme:libs", "text sma".into()),
            ("--showme:command a.c", "show cc".into()),
            ("-showme:version", format!("text oshcc: Pellucid {}", env!("CARGO_PKG_VERSION"))),
        ] {
            let (kind, command) = match plan(&of_c(&words("cc"), &tree), &words(args)) {
                Request::Text(text) => ("text", words(&text)),
                Request::Run(command) => ("run", command),
                Request::Show(command) => ("show", command),
                Request::Help(command) => ("help", command),
            };
            assert_eq!(format!("{kind} {}", text(&command)), expected, "{args:?}");
        }
    }

    #[test]
    fn a_path_with_a_comma_is_not_split() {
        let tree = Tree::at(Path::new("/a,b"));
        let Request::Run(command) = plan(&of_c(&words("cc"), &tree), &words("a.o")) else { panic!() };
        assert_eq!(text(&command), "cc a.o -L/a,b/lib -Xlinker -rpath -Xlinker /a,b/lib -lsma");
    }

    #[test]
    fn response_files_are_read_and_passed_on() {
        let file = std::env::temp_dir().join(format!("oshcc-plan-{}", std::process::id()));
        let tree = Tree::at(Path::new("/p"));
        let toolchain = Toolchain { gfortran: Some(12), name: "gfortran-12".into() };
        let compiler = words("gcc");
        let c = of_c(&compiler, &tree);
        let fortran = With { language: Language::Fortran, toolchain: Some(&toolchain), ..c };
        let arg = format!("@{}", file.display());
        for (with, inside, expected) in [
            (c, "a.c", format!("gcc -I/p/include {arg} -L/p/lib -Wl,-rpath,/p/lib -lsma")),
            (c, "a.c -c", format!("gcc -I/p/include {arg}")),
            (c, "-E\na.c", format!("gcc -I/p/include {arg}")),
            (c, "-static a.o", format!("gcc {arg} -L/p/lib -lsma -lm")),
            (c, "--version", format!("gcc {arg}")),
            (fortran, "-c a.c", format!("gcc -I/p/include {arg}")),
        ] {
            std::fs::write(&file, inside).unwrap();
            let Request::Run(command) = plan(&with, &words(&arg)) else { panic!("{inside}") };
            assert_eq!(text(&command), expected, "{inside}");
        }
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn the_compiler_may_have_arguments() {
        let tree = Tree::at(Path::new("/p"));
        let asked = plan(&of_c(&words("ccache gcc -m64"), &tree), &words("-c a.c"));
        let Request::Run(command) = asked else { panic!() };
        assert_eq!(text(&command), "ccache gcc -m64 -I/p/include -c a.c");
    }
}
