//! One program, linked in every way users link: its static objects and its heap are symmetric in each.

use std::path::PathBuf;

use harness::compile::Build;
use harness::run::Job;
use harness::{system, tree};

/// Compiles `programs/links/symmetry.c` with the options and runs it at 1, 2 and 3 PEs.
fn check(name: &str, options: &[&str]) {
    run(&Build::program("links/symmetry.c").named(&format!("symmetry-{name}")).options(options).build(), &[1, 2, 3]);
}

fn run(binary: &PathBuf, pes: &[usize]) {
    for &pes in pes {
        let outcome = Job::oshrun(pes).arg(binary).run().expect_code(0);
        assert_eq!(outcome.stdout.matches("symmetric\n").count(), pes, "{}", outcome.describe());
    }
}

/// Whether a trivial program links with the options: not every machine has every linker.
fn links(options: &[&str]) -> bool {
    let folder = tree::scratch("links");
    let source = folder.join("trivial.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("target/tests can be written");
    let name = format!("trivial{}", options.join("").replace(['/', '='], "-"));
    let outcome = Job::new(PathBuf::from("cc")).args(options).arg(&source).arg("-o").arg(folder.join(name)).run();
    outcome.code() == 0
}

#[test]
fn position_independent() {
    check("default", &[]);
    check("pie", &["-fPIE", "-pie"]);
}

#[test]
fn position_dependent() {
    check("no-pie", &["-no-pie", "-fno-pie"]);
    check("no-pie-static-data", &["-no-pie", "-fno-pie", "-O3", "-fno-common"]);
}

/// Data of many bytes have segments of their own.
#[test]
#[cfg(target_arch = "x86_64")]
fn medium_code_model() {
    let large = ["-mcmodel=medium", "-mlarge-data-threshold=1000"];
    check("medium", &large);
    check("medium-no-pie", &[&large[..], &["-no-pie", "-fno-pie"]].concat());
    check("medium-static", &[&large[..], &["-static"]].concat());
}

/// Objects far from each other, and constants between them.
#[test]
#[cfg(target_arch = "x86_64")]
fn data_in_several_places() {
    for (name, flags) in [
        ("spread", &[][..]),
        ("spread-no-pie", &["-no-pie", "-fno-pie"]),
        ("spread-medium", &["-mcmodel=medium"]),
        ("spread-medium-no-pie", &["-mcmodel=medium", "-no-pie", "-fno-pie"]),
        ("spread-medium-static", &["-mcmodel=medium", "-static"]),
    ] {
        let binary = Build::program("links/spread.c").named(name).options(flags.iter().copied()).build();
        Job::oshrun(3).arg(&binary).run().expect_code(0);
        if !flags.contains(&"-static") && system::library("libfabric.so.1").is_some() {
            Job::oshrun(2).arg(binary).env("SHMEM_TRANSPORT", "ofi").limit(60).run().expect_code(0);
        }
    }
}

#[test]
fn relocations_read_only_or_not() {
    check("full-relro", &["-Wl,-z,relro,-z,now"]);
    check("no-relro", &["-Wl,-z,norelro"]);
    check("lazy", &["-Wl,-z,relro,-z,lazy"]);
    check("full-relro-no-pie", &["-no-pie", "-fno-pie", "-Wl,-z,relro,-z,now"]);
    check("no-relro-no-pie", &["-no-pie", "-fno-pie", "-Wl,-z,norelro"]);
}

#[test]
fn fully_static() {
    check("static", &["-static"]);
    // Some functions of the C library have the linker warn; here none is in the way of the user's own messages.
    let outcome = Job::new(tree::tool("oshcc"))
        .arg("-static")
        .arg(tree::package().join("programs/links/symmetry.c"))
        .arg("-I")
        .arg(tree::package().join("include"))
        .arg("-o")
        .arg(tree::scratch("links").join("static-quietly"))
        .run()
        .expect_code(0);
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.describe());
    if links(&["-static-pie"]) {
        check("static-pie", &["-static-pie", "-fPIE"]);
    } else {
        println!("not tested: the C library cannot link -static-pie");
    }
}

#[test]
fn static_library_in_a_dynamic_program() {
    // As a build system does it that knows the archive only.
    let binary = tree::scratch("links").join("archive");
    Job::new(PathBuf::from("cc"))
        .args(["-O1", "-I"])
        .arg(tree::prefix().join("include"))
        .arg(tree::package().join("programs/links/symmetry.c"))
        .arg(tree::library("libsma.a"))
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(&binary)
        .run()
        .expect_code(0);
    let needed = Job::new(PathBuf::from("readelf")).arg("-d").arg(&binary).run().expect_code(0);
    assert!(!needed.stdout.contains("libsma"), "the archive was not used\n{}", needed.stdout);
    run(&binary, &[1, 3]);
}

#[test]
fn layouts_of_other_linkers() {
    for (name, options) in [
        ("gold", ["-fuse-ld=gold"].as_slice()),
        ("lld", &["-fuse-ld=lld"]),
        ("noseparate", &["-Wl,-z,noseparate-code"]),
        ("big-pages", &["-Wl,-z,max-page-size=0x200000"]),
        ("build-id", &["-Wl,--build-id=none", "-Wl,--hash-style=sysv"]),
        ("lto", &["-flto", "-O2"]),
        ("sections", &["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]),
    ] {
        if links(options) {
            check(name, options);
        } else {
            println!("not tested: no {name} here");
        }
    }
}

#[test]
fn without_address_randomization() {
    for (name, options) in [("default", [].as_slice()), ("no-pie", &["-no-pie", "-fno-pie"]), ("static", &["-static"])]
    {
        let binary = Build::program("links/symmetry.c").named(&format!("symmetry-{name}")).options(options).build();
        let outcome = Job::new(PathBuf::from("setarch"))
            .arg("-R")
            .arg(tree::tool("oshrun"))
            .args(["-n", "2"])
            .arg(&binary)
            .run()
            .expect_code(0);
        assert_eq!(outcome.stdout.matches("symmetric\n").count(), 2, "{}", outcome.describe());
    }
}

#[test]
fn a_large_bss_costs_nothing_until_it_is_touched() {
    for (name, options) in [("pie", ["-fPIE", "-pie"]), ("no-pie", ["-fno-pie", "-no-pie"])] {
        let binary = Build::program("links/large-bss.c").named(&format!("large-bss-{name}")).options(options).build();
        for pes in [1, 2, 4] {
            Job::oshrun(pes).arg(&binary).limit(20).run().expect_code(0);
        }
    }
}

/// An interpreter that is linked statically, an allocator or a logger has threads before the program calls shmem_init.
#[test]
fn what_is_stored_while_static_objects_move_is_not_lost() {
    for (name, options) in [("dynamic", [].as_slice()), ("static", &["-static"]), ("no-pie", &["-fno-pie", "-no-pie"])]
    {
        let build = Build::program("links/started-early.c").named(&format!("started-early-{name}"));
        let binary = build.options(["-pthread"]).options(options).build();
        for pes in [1, 2] {
            for _ in 0..system::repetitions(4, 1000) {
                // One arena, which all threads allocate from.
                let job = Job::oshrun(pes).env("MALLOC_ARENA_MAX", "1").arg(&binary);
                job.limit(20).run().expect_code(0);
            }
        }
    }
}

#[test]
fn what_handlers_of_forks_store_is_the_childs() {
    for (name, options) in [("dynamic", [].as_slice()), ("static", &["-static"])] {
        let binary =
            Build::program("links/fork-handlers.c").named(&format!("fork-handlers-{name}")).options(options).build();
        for pes in [1, 3] {
            Job::oshrun(pes).arg(&binary).limit(20).run().expect_code(0);
        }
    }
}

#[test]
fn a_forked_child_has_a_private_copy() {
    for (name, options) in
        [("pie", ["-fPIE", "-pie"]), ("no-pie", ["-fno-pie", "-no-pie"]), ("static", ["-static", "-g"])]
    {
        let binary = Build::program("links/fork.c").named(&format!("fork-{name}")).options(options).build();
        for pes in [1, 2, 3] {
            let outcome = Job::oshrun(pes).arg(&binary).limit(20).run().expect_code(0);
            outcome.expect_text(&["forked", "a forked child ends: it gets no copy of its parent's variables"]);
        }
    }
}

#[test]
fn a_forked_child_has_what_was_there_however_long_its_copy_takes() {
    for (name, options) in [("dynamic", [].as_slice()), ("static", &["-static"])] {
        let binary = Build::program("links/fork-slow.c").named(&format!("fork-slow-{name}")).options(options).build();
        for pes in [1, 2] {
            let outcome = Job::oshrun(pes).arg(&binary).limit(60).run().expect_code(0);
            assert_eq!(outcome.stdout.matches("children: 0 9 0\n").count(), pes, "{}", outcome.describe());
        }
    }
}

/// Its exit handlers are those of the PE, and may finalize the library, as those of bindings for Python do.
#[test]
fn a_forked_child_has_no_part_in_the_end() {
    for (name, options) in [("dynamic", [].as_slice()), ("static", &["-static", "-g"])] {
        let binary = Build::program("links/forked-end.c").named(&format!("forked-end-{name}")).options(options).build();
        for pes in [1, 2, 3] {
            let outcome = Job::oshrun(pes).arg(&binary).limit(20).run().expect_code(0);
            assert_eq!(outcome.stdout.matches("ended\n").count(), pes, "{}", outcome.describe());
        }
        let outcome = Job::oshrun(2).arg(&binary).arg("init").limit(20).run().expect_code(1);
        outcome.expect_text(&["PE 0: shmem_init: called in a forked child of PE 0, which has no part in the job"]);
    }
}

#[test]
fn a_library_of_the_program_may_call() {
    // The objects are the executable's, the calls come from a shared object that it links to, and from one it opens.
    let folder = tree::scratch("links");
    let library = folder.join("libworker.so");
    Job::new(tree::tool("oshcc"))
        .args(["-shared", "-fPIC", "-O1"])
        .arg(tree::package().join("programs/links/worker.c"))
        .arg("-o")
        .arg(&library)
        .run()
        .expect_code(0);
    let binary = Build::program("links/uses-worker.c")
        .libraries(["-L", &folder.to_string_lossy(), "-lworker", &format!("-Wl,-rpath,{}", folder.display()), "-ldl"])
        .build();
    for pes in [1, 2, 3] {
        Job::oshrun(pes).arg(&binary).arg(&library).run().expect_code(0).expect_text(&["worked"]);
    }
}

#[test]
fn cpp_program() {
    for (name, version) in [("11", "-std=c++11"), ("17", "-std=c++17"), ("20", "-std=c++20")] {
        let binary = Build::program("links/plus.cpp").named(&format!("plus-{name}")).options([version]).build();
        for pes in [1, 2, 3] {
            Job::oshrun(pes).arg(&binary).run().expect_code(0).expect_text(&["constructed and symmetric"]);
        }
    }
}

#[test]
fn a_program_without_the_launcher_is_one_pe() {
    let binary = Build::program("links/symmetry.c").named("symmetry-default").build();
    let outcome = Job::new(&binary).run().expect_code(0);
    assert_eq!(outcome.stdout, "symmetric\n", "{}", outcome.describe());
}

#[test]
fn fortran_program() {
    if Job::new(PathBuf::from("sh")).args(["-c", "command -v gfortran"]).run().code() != 0 {
        println!("not tested: no gfortran here");
        return;
    }
    let binary = tree::scratch("links").join("fortran");
    Job::new(PathBuf::from("gfortran"))
        .arg("-J")
        .arg(tree::scratch("links"))
        .arg(tree::package().join("programs/links/fortran.f90"))
        .arg("-L")
        .arg(tree::prefix().join("lib"))
        .args([&format!("-Wl,-rpath,{}", tree::prefix().join("lib").display()), "-lsma", "-o"])
        .arg(&binary)
        .run()
        .expect_code(0);
    for pes in [1, 2, 3] {
        Job::oshrun(pes).arg(&binary).run().expect_code(0).expect_text(&["Fortran works"]);
    }
}

#[test]
fn under_sanitizers() {
    for (name, options, variable) in [
        ("address", ["-fsanitize=address", "-fno-omit-frame-pointer"].as_slice(), "ASAN_OPTIONS=detect_leaks=1"),
        ("undefined", &["-fsanitize=undefined", "-fno-sanitize-recover=all"], "UBSAN_OPTIONS=halt_on_error=1"),
        ("address-no-pie", &["-fsanitize=address", "-no-pie", "-fno-pie"], "ASAN_OPTIONS=detect_leaks=1"),
        ("thread", &["-fsanitize=thread"], "TSAN_OPTIONS=halt_on_error=1"),
    ] {
        if !links(&options[..1]) {
            println!("not tested: no {name} sanitizer here");
            continue;
        }
        let binary = Build::program("links/symmetry.c").named(&format!("symmetry-{name}")).options(options).build();
        for pes in [1, 2, 3] {
            let outcome = Job::oshrun(pes).args(["-x", variable]).arg(&binary).run().expect_code(0);
            assert!(!outcome.stderr.contains("Sanitizer"), "{}", outcome.describe());
            assert_eq!(outcome.stdout.matches("symmetric\n").count(), pes, "{}", outcome.describe());
        }
    }
}

#[test]
fn under_valgrind() {
    if Job::new(PathBuf::from("sh")).args(["-c", "command -v valgrind"]).run().code() != 0 {
        println!("not tested: no valgrind here");
        return;
    }
    let binary = Build::program("links/symmetry.c").named("symmetry-default").build();
    let outcome = Job::oshrun(2)
        .args(["-x", "SHMEM_SYMMETRIC_SIZE=8m"])
        .args(["valgrind", "-q", "--error-exitcode=99"])
        .arg(&binary)
        .limit(120)
        .run()
        .expect_code(0);
    assert_eq!(outcome.stdout.matches("symmetric\n").count(), 2, "{}", outcome.describe());
    // A tool in the program, whose calls are told from the program's by what is on the stack.
    let tool = tree::package().join("programs/tools/few.c");
    let binary = Build::program("tools/app.c").named("app-with-tool").with(&tool).options(["-O0", "-DNAME=\"few\""]);
    let valgrind = ["--heap", "8m", "valgrind", "-q", "--error-exitcode=99"];
    let outcome = Job::oshrun(1).args(valgrind).arg(binary.build()).limit(120).run().expect_code(0);
    outcome.expect_text(&["few on 0: put 10 p 20 mem 4 "]);
}

#[test]
fn the_library_may_be_opened_at_run_time() {
    let binary = tree::scratch("links").join("opened");
    Job::new(PathBuf::from("cc"))
        .args(["-O1", "-Wall"])
        .arg(tree::package().join("programs/links/opened.c"))
        .args(["-ldl", "-o"])
        .arg(&binary)
        .run()
        .expect_code(0);
    for pes in [1, 3] {
        Job::oshrun(pes).arg(&binary).arg(tree::library("libsma.so")).run().expect_code(0).expect_text(&["opened"]);
    }
}

/// A library that the static one is part of is closed: what runs at the end of the process is there still.
#[test]
fn a_plugin_with_the_library_in_it_may_be_closed() {
    let include = format!("-I{}", tree::prefix().join("include").display());
    let archive = tree::library("libsma.a").to_string_lossy().into_owned();
    let compile = |name: &str, options: &[&str]| {
        let to = tree::scratch("links").join(name);
        let cc = Job::new("cc").args(["-O1", "-Wall", "-Wextra"]).arg(tree::package().join("programs/links/plugin.c"));
        cc.args(options).arg("-o").arg(&to).run().expect_code(0);
        to
    };
    let plugin = compile("plugin.so", &["-DLIBRARY", "-shared", "-fPIC", &include, &archive, "-lm"]);
    let program = compile("plugin", &["-ldl"]);
    for pes in [1, 2, 3] {
        Job::oshrun(pes).arg(&program).arg(&plugin).run().expect_code(0).expect_text(&["worked"]);
    }
    Job::new(&program).arg(&plugin).run().expect_code(0).expect_text(&["worked"]);
}

#[test]
fn unusual_surroundings() {
    let binary = Build::program("links/symmetry.c").named("symmetry-default").build();
    let oshrun = tree::tool("oshrun");
    // Another layout of the address space, one core for all, no environment, no standard input.
    for surroundings in ["ulimit -s unlimited;", "ulimit -v 16000000;", "taskset -c 0", "env -i", "exec <&-;"] {
        let script = format!("{surroundings} {} -n 3 {}", oshrun.display(), binary.display());
        let outcome = Job::new(PathBuf::from("sh")).args(["-c", &script]).run().expect_code(0);
        assert_eq!(outcome.stdout.matches("symmetric\n").count(), 3, "{}", outcome.describe());
    }
}
