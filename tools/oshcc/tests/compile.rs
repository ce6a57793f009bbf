//! The wrappers with real compilers, in an installation made up for the purpose.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `bin`, `include` and `lib` with a library of one function, and a folder for files.
struct Tree(PathBuf);

/// What came of a command.
#[derive(Debug)]
struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Tree {
    fn new(test: &str) -> Self {
        let root = std::env::temp_dir().join(format!("oshcc test-{test}-{}", std::process::id()));
        let tree = Self(root);
        for folder in ["bin", "include", "lib", "work"] {
            fs::create_dir_all(tree.path(folder)).unwrap();
        }
        fs::copy(env!("CARGO_BIN_EXE_oshcc"), tree.path("bin/oshcc")).unwrap();
        symlink("oshcc", tree.path("bin/oshc++")).unwrap();
        tree.file("include/shmem.h", "#ifdef __cplusplus\nextern \"C\"\n#endif\nint shmem_answer(void);\n");
        tree.file("work/lib.c", "int shmem_answer(void) { return 42; }\n");
        tree.file(
            "work/main.c",
            "#include <shmem.h>\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", shmem_answer()); return 0; }\n",
        );
        let run = |program: &str, args: &[&str]| {
            let status = Command::new(program).args(args).current_dir(tree.path("work")).status().unwrap();
            assert!(status.success(), "{program} {args:?}");
        };
        run("cc", &["-shared", "-fPIC", "-Wl,-soname,libsma.so", "lib.c", "-o", "../lib/libsma.so"]);
        run("cc", &["-c", "lib.c", "-o", "lib.o"]);
        run("ar", &["rcs", "../lib/libsma.a", "lib.o"]);
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn run_with(&self, program: &Path, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path("work")).env_remove("CC").env_remove("CXX").env_remove("SHMEM_FC");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    fn oshcc(&self, args: &[&str]) -> Ran {
        self.run_with(&self.path("bin/oshcc"), args, &[])
    }

    /// Runs what was compiled and checks the answer.
    fn answers(&self, program: &str) {
        let ran = self.run_with(&self.path("work").join(program), &[], &[]);
        assert_eq!((ran.status, ran.out.as_str()), (0, "42\n"), "{ran:?}");
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn good(ran: &Ran) {
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn programs_compile_link_and_run() {
    let tree = Tree::new("programs");
    for (args, program) in [
        (&["main.c"][..], "a.out"),
        (&["-O2", "-Wall", "-Werror", "main.c", "-o", "one"], "one"),
        (&["-static", "main.c", "-o", "static"], "static"),
        (&["-pie", "-fPIE", "main.c", "-o", "pie"], "pie"),
        (&["-no-pie", "main.c", "-o", "no-pie"], "no-pie"),
        (&["main.c", "-Wl,--as-needed", "-lm", "-o", "needed"], "needed"),
    ] {
        good(&tree.oshcc(args));
        tree.answers(program);
    }
    good(&tree.oshcc(&["-c", "main.c"]));
    good(&tree.oshcc(&["main.o", "-o", "two-steps"]));
    tree.answers("two-steps");
    good(&tree.oshcc(&["-MMD", "-MF", "main.d", "main.c", "-o", "dependencies"]));
    assert!(fs::read_to_string(tree.path("work/main.d")).unwrap().contains("shmem.h"));
    tree.answers("dependencies");
}

#[test]
fn other_inputs_and_outputs() {
    let tree = Tree::new("others");
    let preprocessed = tree.oshcc(&["-E", "main.c"]);
    good(&preprocessed);
    assert!(preprocessed.out.contains("int shmem_answer(void);"));
    good(&tree.oshcc(&["-S", "main.c"]));
    good(&tree.oshcc(&["-fsyntax-only", "main.c"]));
    good(&tree.oshcc(&["-shared", "-fPIC", "main.c", "-o", "libmain.so"]));
    tree.file("work/args", "main.c -o \"from file\"");
    good(&tree.oshcc(&["@args"]));
    tree.answers("from file");
    tree.file("work/args", "-c main.c -o compiled.o");
    good(&tree.oshcc(&["-static", "@args"]));
    good(&tree.oshcc(&["compiled.o", "-o", "from object"]));
    tree.answers("from object");
    let missing = tree.oshcc(&["@none"]);
    assert!(missing.status == 1 && missing.err.contains("@none") && !missing.err.contains("oshcc:"), "{missing:?}");
    let version = tree.oshcc(&["--version"]);
    good(&version);
    assert!(!version.out.contains("sma"));
    good(&tree.oshcc(&["-dumpmachine"]));
    good(&tree.oshcc(&["-print-search-dirs"]));
    assert_eq!(tree.oshcc(&[]).status, 1, "no input files");
}

#[test]
fn a_tree_with_a_comma_in_its_path() {
    let tree = Tree::new("one,two");
    good(&tree.oshcc(&["main.c", "-o", "comma"]));
    tree.answers("comma");
}

/// The compiler gets all that comes through a pipe, whatever the wrapper wants to say of it.
#[test]
fn fortran_from_a_pipe() {
    if Command::new("gfortran").arg("--version").output().is_err() {
        eprintln!("gfortran is not installed: not tested");
        return;
    }
    let tree = Tree::new("pipe");
    symlink("oshcc", tree.path("bin/oshfort")).unwrap();
    let oshfort = tree.path("bin/oshfort");
    let piped = |text: &str| {
        let script = "printf \"$1\" | \"$0\" -c -w -x f95 /dev/stdin -o piped.o";
        tree.run_with(Path::new("sh"), &["-c", script, oshfort.to_str().unwrap(), text], &[("FC", "gfortran")])
    };
    let good_text = piped("subroutine one\\nend\\n");
    // It says which form it takes the text for.
    assert_eq!(good_text.status, 0, "{good_text:?}");
    let symbols = tree.run_with(Path::new("nm"), &["piped.o"], &[]);
    assert!(symbols.out.contains("one_"), "{symbols:?}");
    let bad = piped("use shmem\\nend\\n");
    assert!(bad.status == 1 && bad.err.contains("shmem.mod") && !bad.err.contains("oshfort:"), "{bad:?}");
    // A source that is a file is looked at.
    tree.file("work/module.f90", "use shmem\nend\n");
    let told = tree.run_with(&oshfort, &["-c", "module.f90"], &[("FC", "gfortran")]);
    assert!(told.status == 1 && told.err.contains("oshfort: there are no module files"), "{told:?}");
}

#[test]
fn several_sources_and_standard_input() {
    let tree = Tree::new("several");
    tree.file("work/other.c", "#include <shmem.h>\nint other(void) { return shmem_answer(); }\n");
    tree.file(
        "work/use.c",
        "#include <stdio.h>\nint other(void);\nint main(void) { printf(\"%d\\n\", other()); return 0; }\n",
    );
    good(&tree.oshcc(&["use.c", "other.c", "-o", "both"]));
    tree.answers("both");
    let script = "\"$0\" -x c - -o typed < main.c";
    good(&tree.run_with(Path::new("sh"), &["-c", script, tree.path("bin/oshcc").to_str().unwrap()], &[]));
    tree.answers("typed");
}

#[test]
fn cxx() {
    let tree = Tree::new("cxx");
    tree.file(
        "work/main.cc",
        "#include <shmem.h>\n#include <iostream>\nint main() { std::cout << shmem_answer() << '\\n'; }\n",
    );
    good(&tree.run_with(&tree.path("bin/oshc++"), &["main.cc", "-o", "cxx"], &[]));
    tree.answers("cxx");
}

#[test]
fn errors_are_the_compilers_own() {
    let tree = Tree::new("errors");
    tree.file("work/bad.c", "int main(void) { return x; }\n");
    let ran = tree.oshcc(&["bad.c"]);
    assert!(ran.status == 1 && ran.err.contains("bad.c:1:"), "{ran:?}");
    tree.file("work/exit42", "#!/bin/sh\nexit 42\n");
    fs::set_permissions(tree.path("work/exit42"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(tree.run_with(&tree.path("bin/oshcc"), &["main.c"], &[("CC", "./exit42")]).status, 42);
}

#[test]
fn the_compiler_is_chosen_by_the_variable() {
    let tree = Tree::new("variable");
    let oshcc = tree.path("bin/oshcc");
    let shown = |cc: &str| tree.run_with(&oshcc, &["-show", "-c", "main.c"], &[("CC", cc)]).out;
    assert!(shown("gcc -m64").starts_with("gcc -m64 "), "{}", shown("gcc -m64"));
    assert!(shown("oshcc").starts_with("cc "));
    let missing = tree.run_with(&oshcc, &["main.c"], &[("CC", "no-such-compiler -x")]);
    assert_eq!(missing.status, 127);
    assert!(
        missing.err.starts_with("oshcc: cannot run the compiler \"no-such-compiler\" (from CC): "),
        "{}",
        missing.err
    );
}

#[test]
fn shown_commands_can_be_run() {
    let tree = Tree::new("shown");
    let shown = tree.oshcc(&["-showme", "main.c", "-o", "by hand", "-DX=\"a b\""]);
    good(&shown);
    assert!(!tree.path("work/by hand").exists());
    good(&tree.run_with(Path::new("sh"), &["-c", &shown.out], &[]));
    tree.answers("by hand");
    let include = tree.path("include").canonicalize().unwrap();
    assert_eq!(tree.oshcc(&["-showme:compile"]).out, format!("'-I{}'\n", include.display()));
    assert!(tree.oshcc(&["--showme:link"]).out.ends_with(" -lsma\n"));
}

#[test]
fn a_link_elsewhere_finds_the_tree() {
    let tree = Tree::new("elsewhere");
    symlink(tree.path("bin/oshcc"), tree.path("work/my-oshcc")).unwrap();
    good(&tree.run_with(&tree.path("work/my-oshcc"), &["main.c", "-o", "linked"], &[]));
    tree.answers("linked");
}

#[test]
fn a_wrapper_outside_of_a_tree_says_so() {
    let tree = Tree::new("outside");
    fs::remove_file(tree.path("include/shmem.h")).unwrap();
    let ran = tree.oshcc(&["main.c"]);
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("include/shmem.h: this program ("), "{}", ran.err);
}

#[test]
fn a_profiler_after_the_library_is_warned_of() {
    let tree = Tree::new("order");
    let ran = tree.oshcc(&["-show", "main.c", "-lsma", "-lmyprof"]);
    assert_eq!(ran.status, 0);
    assert!(ran.err.starts_with("oshcc: warning: -lmyprof comes after -lsma"), "{}", ran.err);
}

#[test]
fn help_speaks_of_the_wrapper_first() {
    let tree = Tree::new("help");
    let ran = tree.oshcc(&["--help"]);
    good(&ran);
    assert!(ran.out.starts_with("Usage: oshcc "));
    assert!(ran.out.contains("-showme:compile") && ran.out.contains("--version"));
    assert!(ran.out.contains("CC=\"ccache gcc\""), "{ran:?}");
    // The example is of the wrapper's own language.
    for (name, variable, example) in
        [("oshc++", "CXX", "CXX=\"ccache g++\""), ("oshfort", "FC", "SHMEM_FC=\"ccache gfortran\"")]
    {
        let wrapper = tree.path(&format!("bin/{name}"));
        if !wrapper.exists() {
            symlink("oshcc", &wrapper).unwrap();
        }
        let ran = tree.run_with(&wrapper, &["--help"], &[(variable, "true")]);
        assert!(ran.out.contains(example), "{ran:?}");
    }
}

#[test]
fn clang_takes_the_same_options() {
    let tree = Tree::new("clang");
    let oshcc = tree.path("bin/oshcc");
    if Command::new("clang").arg("--version").output().is_err() {
        eprintln!("clang is not installed: not tested");
        return;
    }
    let clang = [("CC", "clang")];
    good(&tree.run_with(&oshcc, &["-Werror", "-c", "main.c"], &clang));
    good(&tree.run_with(&oshcc, &["-Werror", "main.o", "-o", "clang"], &clang));
    tree.answers("clang");
    good(&tree.run_with(&oshcc, &["-Werror", "-fsyntax-only", "main.c"], &clang));
}

#[test]
fn pkg_config_moves_with_the_tree() {
    let tree = Tree::new("pkg-config");
    let template = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/pellucid.pc.in")).unwrap();
    fs::create_dir_all(tree.path("lib/pkgconfig")).unwrap();
    tree.file("lib/pkgconfig/pellucid.pc", &template.replace("@VERSION@", "1.2"));
    let folder = tree.path("lib/pkgconfig");
    let variables = [("PKG_CONFIG_PATH", folder.to_str().unwrap())];
    let script =
        "eval \"cc main.c -o packaged $(pkg-config --cflags --libs pellucid)\" && pkg-config --modversion pellucid";
    if Command::new("pkg-config").arg("--version").output().is_err() {
        eprintln!("pkg-config is not installed: not tested");
        return;
    }
    let ran = tree.run_with(Path::new("sh"), &["-c", script], &variables);
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (0, "1.2\n", ""));
    tree.answers("packaged");
}
