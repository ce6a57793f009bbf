//! What a command line makes the compiler do: as much as is needed to know which options to add.

use std::ffi::OsString;

/// What the compiler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// It reads source text: headers are looked up.
    pub compiles: bool,
    /// It makes a program or a shared library.
    pub links: bool,
    /// What it makes holds its libraries: `-static`.
    pub is_static: bool,
}

/// Options that stop before linking.
const STOP: &str = "\
    -c -S -E -M -MM -fsyntax-only -r --compile --assemble --preprocess --analyze -emit-ast --precompile";

/// Options that make the compiler speak of itself, whatever else is given.
const ABOUT: &str = "\
    --version -dumpversion -dumpfullversion -dumpmachine -dumpspecs --help -help --target-help";

/// Options whose value is the next argument. Values that are mistaken for file names would turn linking on.
const SEPARATE: &str = "\
    -o -x -I -L -D -U -A -B -F -G -T -u -z -e -R -include -imacros -isystem -iquote -idirafter -iprefix \
    -iwithprefix -iwithprefixbefore -isysroot --sysroot -imultilib -MF -MT -MQ -MJ -Xpreprocessor -Xassembler \
    -Xclang -mllvm -arch -target --param -aux-info -dumpbase -dumpbase-ext -dumpdir -framework -wrapper -specs \
    --output --define-macro --undefine-macro --include --include-directory --language -include-pch \
    -working-directory -gcc-toolchain -serialize-diagnostics -entry --entry";

/// Names that only the linker reads.
const FOR_LINKER: &[&str] = &[".o", ".a", ".so", ".lo", ".la", ".obj", ".lds", ".ld", ".ver", ".map"];

/// Names that are precompiled when they are all there is.
const HEADERS: &[&str] = &[".h", ".hh", ".hpp", ".hxx", ".H", ".h++", ".tcc"];

/// What these arguments ask for.
pub fn mode(args: &[OsString]) -> Mode {
    let mut mode = Mode { compiles: false, links: true, is_static: false };
    let mut inputs = 0;
    let mut headers = 0;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        let text = text.as_ref();
        if one_of(ABOUT, text)
            || text.starts_with("-print-")
            || text.starts_with("--print-")
            || text.starts_with("--help=")
        {
            return Mode { compiles: false, links: false, is_static: false };
        }
        if one_of(STOP, text) {
            mode.links = false;
        } else if text == "-static" || text == "-static-pie" || text == "--static" {
            mode.is_static = true;
        } else if text == "-Xlinker" || text == "-l" {
            args.next();
            inputs += 1;
        } else if text == "-x" {
            let language = args.next().map(|l| l.to_string_lossy().into_owned()).unwrap_or_default();
            headers += usize::from(language.ends_with("-header"));
        } else if one_of(SEPARATE, text) {
            args.next();
        } else if text.starts_with("-l") || text.starts_with("-Wl,") {
            inputs += 1;
        } else if !text.starts_with('-') || text == "-" {
            inputs += 1;
            let is = |endings: &[&str]| endings.iter().any(|ending| text.ends_with(ending)) || versioned_library(text);
            if text.starts_with('@') || !is(FOR_LINKER) {
                mode.compiles = true;
            }
            headers += usize::from(is(HEADERS) && !versioned_library(text));
        }
    }
    mode.links &= inputs > 0 && headers == 0;
    mode
}

fn one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|w| w == word)
}

/// `libx.so.1.2`
fn versioned_library(name: &str) -> bool {
    name.rsplit_once(".so.").is_some_and(|(_, version)| version.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `c`: compiles, `l`: links, `s`: static.
    fn letters(line: &str) -> String {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let mode = mode(&args);
        [(mode.compiles, 'c'), (mode.links, 'l'), (mode.is_static, 's')]
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, c)| c)
            .collect()
    }

    #[test]
    fn command_lines() {
        for (line, expected) in [
            ("a.c", "cl"),
            ("a.c b.c -o prog", "cl"),
            ("-O2 -Wall a.c", "cl"),
            ("-c a.c", "c"),
            ("a.c -c -o a.o", "c"),
            ("-S a.c", "c"),
            ("-E a.c", "c"),
            ("-M a.c", "c"),
            ("-MM a.c", "c"),
            ("-MMD -MF a.d a.c", "cl"),
            ("-fsyntax-only a.c", "c"),
            ("a.o b.o -o prog", "l"),
            ("a.o libx.a liby.so.1.2", "l"),
            ("a.o x.c", "cl"),
            ("-shared -fPIC a.c -o liba.so", "cl"),
            ("-shared -o liba.so a.o", "l"),
            ("-shared -o liba.so -Wl,--whole-archive,liba.a", "l"),
            ("-r a.o b.o -o c.o", ""),
            ("-static a.c", "cls"),
            ("-static-pie a.o", "ls"),
            ("-c -static a.c", "cs"),
            ("@args", "cl"),
            ("-c @args", "c"),
            ("-x c -", "cl"),
            ("-E -x c -", "c"),
            ("-E -dM - ", "c"),
            ("a.h", "c"),
            ("-x c++-header a.h -o a.gch", "c"),
            ("", ""),
            ("-v", ""),
            ("-O2", ""),
            ("-o prog", ""),
            ("-I dir -L dir -D X", ""),
            ("-include pre.h a.c", "cl"),
            ("-MF a.d", ""),
            ("--version", ""),
            ("a.c --version", ""),
            ("-dumpversion", ""),
            ("-dumpmachine", ""),
            ("-print-search-dirs", ""),
            ("-print-file-name=libc.a", ""),
            ("--help", ""),
            ("--help=optimizers", ""),
            ("-lx", "l"),
            ("-Xlinker a.o", "l"),
            ("-### a.c", "cl"),
            ("a.f90", "cl"),
            ("-isystem dir a.cc", "cl"),
        ] {
            assert_eq!(letters(line), expected, "{line:?}");
        }
    }
}
