//! The examples in other languages than C: Fortran through `iso_c_binding`, Rust through a safe interface.

use std::path::PathBuf;

use harness::run::Job;
use harness::tree;

#[test]
fn fortran() {
    if Job::new(PathBuf::from("sh")).args(["-c", "command -v gfortran"]).run().code() != 0 {
        println!("not tested: no gfortran here");
        return;
    }
    let folder = tree::scratch("fortran");
    let examples = tree::workspace().join("examples/fortran");
    let compile = |name: &str, options: &[&str]| {
        let binary = folder.join(name);
        Job::new(tree::tool("oshfort"))
            .args(options)
            .args(["-O2", "-Wall", "-Werror"])
            .arg(examples.join(format!("{name}.f90")))
            .arg("-o")
            .arg(&binary)
            .directory(&folder)
            .run()
            .expect_code(0);
        binary
    };
    let smooth = compile("smooth", &["-std=f2018"]);
    // The rod grows with the PEs, but most of it stays cold.
    for (pes, heat) in [(1, "7.7759"), (2, "10.6061"), (3, "10.7906"), (4, "10.7943")] {
        let line = format!("heat in the rod on {pes} PEs:");
        Job::oshrun(pes).arg(&smooth).run().expect_code(0).expect_text(&[&line, heat]);
    }
    // With no routine of the Fortran interface, the C one alone has what gfortran's library needs in a static program.
    for options in [&["-static"][..], &["-static-pie", "-fPIE"]] {
        let smooth = compile("smooth", options);
        Job::oshrun(2).arg(&smooth).run().expect_code(0).expect_text(&["heat in the rod on 2 PEs:", "10.6061"]);
    }
    let hydro = compile("hydro", &[]);
    for pes in [1, 2, 3, 8] {
        // The same, whoever has which rows.
        let outcome = Job::oshrun(pes).arg(&hydro).args(["40", "32", "30"]).run().expect_code(0);
        outcome.expect_text(&["hydro: 40 x 32 cells, 30 steps to t =  0.06296", "hydro: OK"]);
    }
    let outcome = Job::oshrun(2).arg(&hydro).args(["40", "x"]).run().expect_code(1);
    outcome.expect_text(&["hydro: FAILED: arguments are columns, rows and steps, not x"]);
    Job::oshrun(3).arg(&hydro).args(["40", "2"]).run().expect_code(1).expect_text(&["more PEs than rows"]);
}

#[test]
fn rust() {
    // Built apart: the workspace has to build where there is no libsma yet.
    let target = tree::scratch("rust-heap");
    Job::new(PathBuf::from(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())))
        .args(["build", "--quiet", "--locked", "--package", "rust-heap", "--features", "libsma", "--target-dir"])
        .arg(&target)
        .env("PELLUCID_PREFIX", &tree::prefix().to_string_lossy())
        .directory(tree::workspace())
        .limit(300)
        .run()
        .expect_code(0);
    let binary = target.join("debug/rust-heap");
    for pes in [1, 2, 3, 5] {
        for check in [&[][..], &["--check"]] {
            let line = format!("320000 numbers in {} bins on {pes} PEs", 8 * pes);
            Job::oshrun(pes).args(check).arg(&binary).run().expect_code(0).expect_text(&[&line]);
        }
    }
}

/// `cargo run` with oshrun as its runner, and the examples of the documentation as jobs of one PE.
#[test]
fn the_rust_package() {
    let target = tree::scratch("rust-package");
    let cargo = |words: &[&str]| {
        Job::new(PathBuf::from(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())))
            .args(words)
            .args(["--quiet", "--locked", "--package", "pellucid"])
            .env("CARGO_TARGET_DIR", &target.to_string_lossy())
            .env("PELLUCID_PREFIX", &tree::prefix().to_string_lossy())
            .env("LD_LIBRARY_PATH", &tree::prefix().join("lib").to_string_lossy())
            .directory(tree::workspace())
            .limit(300)
    };
    let runner = format!("{} -n 3", tree::tool("oshrun").display());
    let sort = cargo(&["run"]).args(["--example", "sort", "--", "20000"]);
    let outcome = sort.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", &runner).run().expect_code(0);
    outcome.expect_text(&["sort: OK, 60000 keys on 3 PEs"]);
    cargo(&["test"]).arg("--doc").run().expect_code(0);
    // With the library in the program.
    let build = cargo(&["build"]).args(["--example", "sort"]).env("PELLUCID_LINK", "static");
    // As in other workspaces, whose panics unwind: the program has its own personality routine.
    build.env("CARGO_PROFILE_DEV_PANIC", "unwind").run().expect_code(0);
    let fixed = target.join("debug/examples/sort");
    let needed = Job::new(PathBuf::from("ldd")).arg(&fixed).run().expect_code(0).stdout;
    assert!(needed.contains("libc.so") && !needed.contains("libsma"), "{needed}");
    Job::oshrun(3).arg(&fixed).arg("20000").run().expect_code(0).expect_text(&["sort: OK, 60000 keys on 3 PEs"]);
    // In a program that loads nothing at all, the library is in any case.
    let target = tree::scratch("rust-static");
    for how in ["", "static"] {
        let build = cargo(&["build"]).args(["--example", "sort"]).env("PELLUCID_LINK", how);
        let build = build.env("CARGO_TARGET_DIR", &target.to_string_lossy());
        build.env("RUSTFLAGS", "-Ctarget-feature=+crt-static").run().expect_code(0);
        let whole = target.join("debug/examples/sort");
        let elf = Job::new(PathBuf::from("readelf")).args(["-d", "-l"]).arg(&whole).run().expect_code(0).stdout;
        assert!(!elf.contains("INTERP") && !elf.contains("NEEDED"), "{elf}");
        Job::oshrun(3).arg(&whole).arg("20000").run().expect_code(0).expect_text(&["sort: OK, 60000 keys on 3 PEs"]);
    }
}

/// A package of its own, with the build script of docs/rust.md: programs that load the library find it, and those that
/// are static start.
#[test]
fn a_rust_package_outside_of_the_workspace() {
    let folder = tree::fresh("rust-outside");
    let page = std::fs::read_to_string(tree::workspace().join("docs/rust.md")).expect("the page");
    let script = page.split("```").find(|block| block.contains("fn main() {\n") && block.contains("DEP_SMA_LIB"));
    let script = script.and_then(|block| block.strip_prefix("rust\n")).expect("a build script");
    let package = tree::workspace().join("src/rust").canonicalize().expect("the package");
    let manifest = format!(
        "[package]\nname = \"outside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n\
         pellucid = {{ path = \"{}\" }}\n",
        package.display()
    );
    let program = "fn main() {\n    println!(\"PE {}\", pellucid::init().unwrap().world().rank());\n}\n";
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    for (name, text) in [("Cargo.toml", manifest.as_str()), ("build.rs", script), ("src/main.rs", program)] {
        std::fs::write(folder.join(name), text).expect("target/tests can be written");
    }
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let build = |prefix: &str, flags: &str| {
        let cargo = Job::new(PathBuf::from(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())));
        let cargo = cargo.args(["build", "--quiet", "--offline", "--target", &triple]).env("RUSTFLAGS", flags);
        let cargo = cargo.env("PELLUCID_PREFIX", prefix).env("CARGO_TARGET_DIR", &folder.join("to").to_string_lossy());
        cargo.directory(&folder).limit(300).run()
    };
    let prefix = tree::prefix().to_string_lossy().into_owned();
    for flags in ["", "-Ctarget-feature=+crt-static"] {
        build(&prefix, flags).expect_code(0);
        let binary = folder.join("to").join(&triple).join("debug/outside");
        Job::oshrun(2).arg(&binary).run().expect_code(0).expect_text(&["PE 0\n", "PE 1\n"]);
    }
    build("some/prefix", "").expect_failure().expect_text(&["PELLUCID_PREFIX=some/prefix: an absolute path"]);
}

/// What becomes of a program of Rust that ends before its time, and what is said of its calls, which the package makes
/// for it: the lines are the program's, without optimization as well.
#[test]
fn places_of_rust_programs_are_the_programs() {
    let binary = places();
    let run = |way: &str| Job::oshrun(1).arg(&binary).arg(way).limit(60).run();
    let outcome = run("abort").expect_code(128 + 6);
    outcome.expect_text(&["signal 6 (abort) in ", &format!("called from places::main at main.rs:{}", line("abort"))]);
    let outcome = run("segv").expect_code(128 + 11);
    outcome.expect_text(&[
        "signal 11 (segmentation fault) in ",
        &format!("places::main at main.rs:{}", line("segv")),
        "address 0x0",
    ]);
    // The standard library's own words come first.
    run("deep").expect_code(128 + 6).expect_text(&["has overflowed its stack", "signal 6 (abort) in "]);
    let panicked = format!("panicked at src/main.rs:{}:", line("panic"));
    run("panic").expect_code(101).expect_text(&[&panicked, "elements 3..5 of 4"]);
    let waits = Job::oshrun(2).args(["--check", "--timeout", "20"]).arg(&binary).arg("waits").limit(60).run();
    let calls = ["barrier", "sum"].map(|mark| format!("places::main at main.rs:{}", line(mark)));
    waits.expect_failure().expect_text(&[&calls[0], &calls[1]]);
    let profile = tree::fresh("rust-places-profile");
    Job::oshrun(2).arg("--profile-dir").arg(&profile).arg(&binary).run().expect_code(0);
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&profile).args(["--view", "callsites"]).run();
    let outcome = report.expect_code(0).expect_text(&[&format!("places::main at main.rs:{}", line("put"))]);
    assert!(!outcome.stdout.contains("put_one at"), "{}", outcome.describe());
}

/// The line of `programs/rust/where.rs` with this mark.
fn line(mark: &str) -> usize {
    let mark = format!("// {mark}");
    let text = include_str!("../programs/rust/where.rs");
    1 + text.lines().position(|line| line.ends_with(&mark)).expect("the mark is there")
}

/// That program, as a package of its own.
fn places() -> PathBuf {
    let folder = tree::fresh("rust-places");
    let package = tree::workspace().join("src/rust").canonicalize().expect("the package");
    let manifest = format!(
        "[package]\nname = \"places\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         pellucid = {{ path = \"{}\" }}\n",
        package.display()
    );
    let library = tree::prefix().join("lib").to_string_lossy().into_owned();
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("target/tests can be written");
    std::fs::write(folder.join("src/main.rs"), include_str!("../programs/rust/where.rs")).expect("a program");
    Job::new(PathBuf::from(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())))
        .args(["build", "--quiet", "--offline"])
        // `./x test` has the workspace compiled without lines.
        .env("CARGO_PROFILE_DEV_DEBUG", "2")
        .env("RUSTFLAGS", &format!("-Clink-arg=-Wl,-rpath,{library}"))
        .env("PELLUCID_PREFIX", &tree::prefix().to_string_lossy())
        .env("CARGO_TARGET_DIR", &folder.join("to").to_string_lossy())
        .directory(&folder)
        .limit(300)
        .run()
        .expect_code(0);
    folder.join("to/debug/places")
}
