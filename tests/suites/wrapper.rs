//! `oshcc` and `oshc++` stand in for the compiler in any use of it, and the installed tree can be moved.

use std::path::{Path, PathBuf};

use harness::run::{Job, Outcome};
use harness::{hosts, system, tree};

fn source(name: &str) -> PathBuf {
    tree::package().join("programs/wrapper").join(name)
}

fn oshcc() -> Job {
    Job::new(tree::tool("oshcc"))
}

/// Runs a program at 2 PEs.
fn run(binary: &Path) -> Outcome {
    Job::oshrun(2).arg(binary).run().expect_code(0)
}

#[test]
fn several_sources_at_once_and_one_by_one() {
    let folder = tree::fresh("wrapper-sources");
    let binary = folder.join("at once");
    oshcc().arg(source("hello.c")).arg(source("helper.c")).arg("-o").arg(&binary).run().expect_code(0);
    let outcome = run(&binary);
    assert!(outcome.stdout.contains("20\n") && outcome.stdout.contains("21\n"), "{}", outcome.describe());
    for name in ["hello", "helper"] {
        oshcc().arg("-c").arg(source(&format!("{name}.c"))).directory(&folder).run().expect_code(0);
        assert!(folder.join(format!("{name}.o")).exists());
    }
    oshcc().args(["hello.o", "helper.o"]).directory(&folder).run().expect_code(0);
    run(&folder.join("a.out"));
}

#[test]
fn a_shared_object_and_a_program_that_uses_it() {
    let folder = tree::fresh("wrapper-shared");
    oshcc()
        .args(["-shared", "-fPIC", "-o", "libhelper.so"])
        .arg(source("helper.c"))
        .directory(&folder)
        .run()
        .expect_code(0);
    oshcc()
        .arg(source("hello.c"))
        .args(["-L.", "-lhelper", "-Wl,-rpath,$ORIGIN", "-o", "hello"])
        .directory(&folder)
        .run()
        .expect_code(0);
    run(&folder.join("hello"));
}

#[test]
fn only_preprocess_or_only_assemble() {
    let outcome = oshcc().arg("-E").arg(source("whole.c")).run().expect_code(0);
    assert!(outcome.stdout.contains("shmem_my_pe"), "the header was not found");
    let outcome = oshcc().args(["-S", "-o", "-"]).arg(source("whole.c")).run().expect_code(0);
    assert!(outcome.stdout.contains("shmem_init"));
    oshcc().args(["-fsyntax-only", "-Wall", "-Werror"]).arg(source("whole.c")).run().expect_code(0);
    let outcome = oshcc().args(["-MM"]).arg(source("whole.c")).run().expect_code(0);
    assert!(outcome.stdout.contains("whole.o:"), "{}", outcome.describe());
}

#[test]
fn source_from_the_standard_input() {
    let folder = tree::fresh("wrapper-stdin");
    let text = std::fs::read_to_string(source("whole.c")).expect("the source can be read");
    oshcc().args(["-x", "c", "-", "-o", "piped"]).input(text).directory(&folder).run().expect_code(0);
    let outcome = run(&folder.join("piped"));
    assert!(outcome.stdout.contains("1 of 2"), "{}", outcome.describe());
}

#[test]
fn errors_of_the_compiler_pass_through() {
    let folder = tree::fresh("wrapper-errors");
    std::fs::write(folder.join("wrong.c"), "int main(void) { return undeclared; }\n").expect("can be written");
    oshcc().arg("wrong.c").directory(&folder).run().expect_failure().expect_text(&["undeclared"]);
    oshcc().arg("missing.c").directory(&folder).run().expect_failure().expect_text(&["missing.c"]);
    oshcc().arg("--version").run().expect_code(0);
}

#[test]
fn the_command_can_be_shown() {
    for option in ["-showme", "--show", "-show"] {
        let outcome = oshcc().arg(option).arg("a.c").run();
        if option == "-show" && outcome.code() != 0 {
            continue;
        }
        let outcome = outcome.expect_code(0);
        for part in ["a.c", "-I", "include", "-L", "lib", "-lsma", "-rpath"] {
            assert!(outcome.stdout.contains(part), "{option} lacks {part}\n{}", outcome.describe());
        }
        let library = outcome.stdout.find("-lsma").expect("just seen");
        assert!(
            outcome.stdout.find("a.c").expect("just seen") < library,
            "the library comes after the user's arguments"
        );
    }
}

#[test]
fn cc_and_cxx_choose_the_compiler() {
    let outcome = oshcc().args(["--show", "a.c"]).env("CC", "my-own-cc").run().expect_code(0);
    assert!(outcome.stdout.trim_start().starts_with("my-own-cc "), "{}", outcome.describe());
    let outcome =
        Job::new(tree::tool("oshc++")).args(["--show", "a.cpp"]).env("CXX", "my-own-cxx").run().expect_code(0);
    assert!(outcome.stdout.trim_start().starts_with("my-own-cxx "), "{}", outcome.describe());
    if Path::new("/usr/bin/clang").exists() {
        let folder = tree::fresh("wrapper-clang");
        oshcc()
            .arg(source("whole.c"))
            .args(["-o", "clanged"])
            .env("CC", "clang")
            .directory(&folder)
            .run()
            .expect_code(0);
        run(&folder.join("clanged"));
    }
    oshcc().args(["a.c"]).env("CC", "/no/such/compiler").run().expect_failure().expect_text(&["/no/such/compiler"]);
}

/// `CC` may name this wrapper by another name, or a script that runs it, and so may the default compiler be one.
#[test]
fn a_compiler_that_is_the_wrapper_does_not_run_for_ever() {
    let folder = tree::fresh("wrapper-itself");
    let script = |name: &str, tool: &str| {
        let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", tree::tool(tool).display());
        hosts::write_script(&folder.join(name), &text);
    };
    std::os::unix::fs::symlink(tree::tool("oshcc"), folder.join("shmemcc")).expect("a link");
    script("my-cc", "oshcc");
    script("my-fortran", "oshfort");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let with = |job: Job, variable: &str, name: &str| job.env("PATH", &path).env(variable, name).directory(&folder);
    for name in ["shmemcc", "my-cc", "./my-cc -O1"] {
        let outcome = with(oshcc(), "CC", name).arg(source("whole.c")).args(["-o", "whole"]).limit(60).run();
        assert_eq!(outcome.expect_code(0).stderr, "", "{name}");
        run(&folder.join("whole"));
    }
    if system::find(&["gfortran"]).is_some() {
        std::fs::write(folder.join("a.f90"), "use shmem_c\ncall shmem_init()\nend\n").expect("can be written");
        let job = with(Job::new(tree::tool("oshfort")), "FC", "my-fortran");
        job.args(["-c", "a.f90"]).limit(60).run().expect_code(0);
    }
    // What stands for the compiler of the system runs the wrapper, too.
    script("cc", "oshcc");
    for name in ["", "my-cc", "oshcc"] {
        let outcome = with(oshcc(), "CC", name).arg(source("whole.c")).limit(60).run().expect_code(1);
        outcome.expect_text(&["oshcc: the compiler \"cc\" runs this wrapper itself: set CC to another"]);
    }
}

#[test]
fn the_program_finds_its_library_without_help() {
    let folder = tree::fresh("wrapper-rpath");
    oshcc().arg(source("whole.c")).args(["-o", "whole"]).directory(&folder).run().expect_code(0);
    let outcome = Job::new(PathBuf::from("ldd")).arg(folder.join("whole")).run().expect_code(0);
    let line = outcome.stdout.lines().find(|line| line.contains("libsma.so")).expect("linked to libsma.so");
    let lib = std::fs::canonicalize(tree::prefix().join("lib")).expect("lib is there");
    assert!(line.contains(&*lib.to_string_lossy()) || line.contains("/lib/libsma.so"), "{line}");
    assert!(!line.contains("not found"), "{line}");
}

#[test]
fn the_tree_can_be_moved() {
    let to = tree::fresh("wrapper moved");
    Job::new(PathBuf::from("cp")).arg("-a").arg(tree::prefix().join(".")).arg(&to).run().expect_code(0);
    let binary = to.join("whole");
    Job::new(to.join("bin/oshcc")).arg(source("whole.c")).arg("-o").arg(&binary).run().expect_code(0);
    Job::new(to.join("bin/oshrun")).args(["-n", "2"]).arg(&binary).run().expect_code(0).expect_text(&["1 of 2"]);
    // Without the new tree the program has no library: it was linked to that one.
    let ldd = Job::new(PathBuf::from("ldd")).arg(&binary).run().expect_code(0);
    assert!(ldd.stdout.contains("wrapper moved"), "{}", ldd.stdout);
    std::fs::remove_dir_all(&to).expect("the copy can be removed");
    assert!(system::processes(&binary).is_empty());
}

#[test]
fn pkg_config_knows_the_library() {
    let path = tree::prefix().join("lib/pkgconfig");
    let pkg_config = || Job::new(PathBuf::from("pkg-config")).env("PKG_CONFIG_PATH", &path.to_string_lossy());
    let folder = tree::fresh("wrapper-pkg-config");
    for name in ["pellucid", "openshmem"] {
        let flags = pkg_config().args(["--cflags", "--libs", name]).run().expect_code(0).stdout;
        assert!(flags.contains("-lsma"), "{name}: {flags}");
        let words: Vec<&str> = flags.split_whitespace().collect();
        Job::new(PathBuf::from("cc"))
            .arg(source("whole.c"))
            .args(&words)
            .args([&format!("-Wl,-rpath,{}", tree::prefix().join("lib").display()), "-o", name])
            .directory(&folder)
            .run()
            .expect_code(0);
        run(&folder.join(name));
    }
    // By its other name it has the version of the specification.
    for (asked, code) in [("openshmem >= 1.4", 0), ("openshmem = 1.6", 0), ("openshmem >= 1.7", 1), ("pellucid < 1", 0)]
    {
        pkg_config().args(["--exists", asked]).run().expect_code(code);
    }
    let version = pkg_config().args(["--modversion", "pellucid"]).run().expect_code(0).stdout;
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
}

/// Also in a folder with a comma in its name, which divides the words of `-Wl`.
#[test]
fn pkg_config_knows_a_library_whose_path_has_a_comma() {
    let folder = tree::fresh("wrapper-a,b");
    Job::new(PathBuf::from("cp")).arg("-a").arg(tree::prefix().join("lib")).arg(&folder).run().expect_code(0);
    Job::new(PathBuf::from("cp")).arg("-a").arg(tree::prefix().join("include")).arg(&folder).run().expect_code(0);
    let path = folder.join("lib/pkgconfig");
    for libraries in ["pellucid", "pellucid gasnet-pellucid-par"] {
        let line = format!("cc \"$0\" $(pkg-config --cflags --libs {libraries}) -o whole && LD_LIBRARY_PATH= ./whole");
        let job = Job::new("sh").args(["-c", &line]).arg(source("whole.c")).directory(&folder);
        let job = job.env("PKG_CONFIG_PATH", &path.to_string_lossy());
        job.run().expect_code(0).expect_text(&["0 of 1"]);
    }
    std::fs::remove_dir_all(&folder).expect("the copy can be removed");
}

/// Static programs of both kinds, as docs/install.md has them.
#[test]
fn pkg_config_has_what_static_programs_need() {
    let path = tree::prefix().join("lib/pkgconfig");
    let folder = tree::fresh("wrapper-pkg-config-static");
    for (kind, asked) in [("-static", "--libs"), ("-static-pie", "--libs-only-L --libs-only-l")] {
        for library in ["openshmem", "gasnet-pellucid-par"] {
            let line = format!(
                "pkg-config --cflags {library} >options && pkg-config --static {asked} {library} >>options && \
                 cc {kind} -fPIE \"$0\" $(cat options) -o {library}{kind}"
            );
            let job = Job::new("sh").args(["-c", &line]).arg(source("whole.c")).directory(&folder);
            job.env("PKG_CONFIG_PATH", &path.to_string_lossy()).run().expect_code(0);
            run(&folder.join(format!("{library}{kind}")));
        }
    }
}

/// Names of Open MPI's that are not there are macros, as docs/coming-from.md has it.
#[test]
fn old_names_of_queries_by_macros() {
    let folder = tree::fresh("wrapper-old-names");
    let text = "#include <shmem.h>\n#include <stdio.h>\nint my_pe(void);\nint main(void) {\n    start_pes(0);\n\
                printf(\"%d of %d\\n\", my_pe(), num_pes());\n    shmem_finalize();\n}\n";
    std::fs::write(folder.join("a.c"), text).expect("can be written");
    let page = std::fs::read_to_string(tree::workspace().join("docs/coming-from.md")).expect("the page");
    let row = page.lines().find(|line| line.contains("`num_pes()` in C")).expect("a row");
    let options = row.split("`oshcc ").nth(1).and_then(|rest| rest.split('`').next()).expect("options");
    oshcc()
        .args(options.split(' '))
        .args(["-Wno-deprecated-declarations", "a.c"])
        .directory(&folder)
        .run()
        .expect_code(0);
    run(&folder.join("a.out")).expect_text(&["0 of 2", "1 of 2"]);
}

#[test]
fn oshcxx_compiles_cpp() {
    let folder = tree::fresh("wrapper-cpp");
    std::fs::write(
        folder.join("a.cc"),
        "#include <shmem.h>\n#include <iostream>\n\
         int main() { shmem_init(); std::cout << shmem_n_pes() << std::endl; shmem_finalize(); }\n",
    )
    .expect("can be written");
    Job::new(tree::tool("oshc++")).args(["a.cc", "-o", "a"]).directory(&folder).run().expect_code(0);
    assert_eq!(run(&folder.join("a")).stdout, "2\n2\n");
}
