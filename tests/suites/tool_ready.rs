//! What existing tools look for when they are built against an OpenSHMEM library, and rely on when they run.

use std::path::PathBuf;

use harness::compile::Build;
use harness::run::Job;
use harness::tree;

fn cc() -> Job {
    Job::new(PathBuf::from("cc")).arg("-I").arg(tree::prefix().join("include"))
}

fn read(header: &str) -> String {
    std::fs::read_to_string(tree::header(header)).expect("the header is there")
}

#[test]
fn the_layout_and_a_bare_compiler() {
    let folder = tree::fresh("tool-ready");
    std::fs::write(
        folder.join("x.c"),
        "#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n",
    )
    .expect("target/tests can be written");
    for name in ["sma", "openshmem", "shmem", "psma"] {
        cc().arg("x.c")
            .arg(format!("-L{}", tree::prefix().join("lib").display()))
            .args([&format!("-l{name}"), "-o", name])
            .directory(&folder)
            .run()
            .expect_code(0);
        let lib = tree::prefix().join("lib").to_string_lossy().into_owned();
        Job::new(folder.join(name)).env("LD_LIBRARY_PATH", &lib).run().expect_code(0);
        for extension in ["so", "a"] {
            assert!(tree::library(&format!("lib{name}.{extension}")).exists(), "lib{name}.{extension}");
        }
    }
    for name in ["bin", "include", "lib"] {
        assert!(tree::prefix().join(name).is_dir(), "{name}");
    }
}

#[test]
fn what_is_read_in_the_headers() {
    let text = read("shmem.h");
    for line in ["#define SHMEM_MAJOR_VERSION 1", "#define SHMEM_MINOR_VERSION 6"] {
        assert_eq!(text.lines().filter(|found| *found == line).count(), 1, "{line}");
        let word = line.split(' ').nth(1).expect("a name");
        assert_eq!(text.matches(&format!("define {word}")).count(), 1, "{word}");
    }
    for name in [
        "_SHMEM_BCAST_SYNC_SIZE",
        "_SHMEM_REDUCE_SYNC_SIZE",
        "_SHMEM_REDUCE_MIN_WRKDATA_SIZE",
        "_SHMEM_BARRIER_SYNC_SIZE",
        "_SHMEM_COLLECT_SYNC_SIZE",
        "_SHMEM_SYNC_VALUE",
        "_SHMEM_CMP_EQ",
        "_SHMEM_MAJOR_VERSION",
        "_SHMEM_MAX_NAME_LEN",
        "_SHMEM_VENDOR_STRING",
    ] {
        assert!(text.contains(&format!("#define {name} ")), "{name}");
    }
    // Sizes are found by the names of parameters.
    for (start, names) in [
        ("void shmem_long_put(", ["nelems", "pe"]),
        ("void *shmem_malloc(", ["size", "size"]),
        ("void shmem_long_wait_until(", ["cmp", "cmp_value"]),
        ("void shmem_barrier(", ["PE_start", "PE_size"]),
    ] {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}"));
        assert!(names.iter().all(|name| line.contains(name)), "{line}");
    }
    let text = read("pshmem.h");
    for name in [
        "pstart_pes",
        "pshmalloc",
        "pshfree",
        "pshrealloc",
        "pshmem_broadcast32",
        "pshmem_collect64",
        "pshmem_long_sum_to_all",
    ] {
        // The names before 1.2 are part of the library where the specification still has them.
        let known = harness::table::functions().iter().any(|function| function.pshmem == name);
        assert!(!known || text.contains(&format!("{name}(")), "{name}");
    }
}

#[test]
fn the_library_calls_no_public_name() {
    for name in ["libsma.so", "libsma.a"] {
        let outcome = Job::new(PathBuf::from("readelf")).args(["-rW"]).arg(tree::library(name)).run().expect_code(0);
        // Calls and jumps; what is left are addresses in tables, by which tools are found.
        let called = |line: &&str| ["JUMP_SLO", "PLT32"].iter().any(|kind| line.contains(kind));
        let public: Vec<&str> = outcome
            .stdout
            .lines()
            .filter(called)
            .filter(|line| {
                line.split_whitespace().any(|word| word.starts_with("shmem_") || word.starts_with("pshmem_"))
            })
            .collect();
        assert!(public.is_empty(), "{name}: {:?}", &public[..public.len().min(5)]);
    }
}

#[test]
fn ranks_are_where_tools_look() {
    for name in ["PMI_RANK", "PMIX_RANK"] {
        let outcome = Job::oshrun(3).args(["sh", "-c", &format!("echo ${name}")]).run().expect_code(0);
        let mut ranks: Vec<&str> = outcome.stdout.lines().collect();
        ranks.sort_unstable();
        assert_eq!(ranks, ["0", "1", "2"], "{name}");
    }
}

#[test]
fn it_works_to_the_last_of_the_process() {
    for (name, options) in [("shared", &["-pthread"][..]), ("static", &["-pthread", "-static"])] {
        let binary = Build::program("tools/exits.c").named(&format!("exits-{name}")).options(options).build();
        for pes in [1, 4] {
            let outcome = Job::oshrun(pes).arg(&binary).run().expect_code(0);
            for what in ["handler from before init", "handler from between", "handler from after finalize", "thread"] {
                let count = outcome.stderr.matches(&format!("works: {what} on")).count();
                assert_eq!(count, pes, "{what}: {}", outcome.describe());
            }
        }
    }
    let binary = Build::program("tools/exits.cpp").named("exits-cpp").options(["-pthread", "-std=c++11"]).build();
    let outcome = Job::oshrun(4).arg(&binary).run().expect_code(0);
    for what in ["static object", "thread-local object", "object of a thread"] {
        let count = outcome.stderr.matches(&format!("works: {what} on")).count();
        assert_eq!(count, 4, "{what}: {}", outcome.describe());
    }
}

#[test]
fn the_compiler_wrapper_as_tools_call_it() {
    let folder = tree::fresh("tool-ready-oshcc");
    std::fs::write(folder.join("x.c"), "#include <shmem.h>\nint main(void) { return 0; }\n").expect("can be written");
    std::fs::write(folder.join("t.c"), "#include <pshmem.h>\nvoid shmem_fence(void) { pshmem_fence(); }\n")
        .expect("can be written");
    let oshcc = || Job::new(tree::tool("oshcc")).directory(&folder);
    oshcc().args(["-E", "x.c"]).run().expect_code(0).expect_text(&["shmem_init"]);
    oshcc().args(["-shared", "-fPIC", "t.c", "-o", "libmyprof.so"]).run().expect_code(0);
    // A tool by what it does, whatever its name.
    oshcc().args(["-shared", "-fPIC", "t.c", "-o", "libcounter.so"]).run().expect_code(0);
    let outcome = oshcc().args(["x.c", "-L.", "-lsma", "-lcounter", "-o", "x"]).run().expect_code(0);
    outcome.expect_text(&["-lcounter comes after -lsma"]);
    let outcome = oshcc().args(["x.c", "-L.", "-lsma", "-lmyprof", "-o", "x"]).run().expect_code(0);
    outcome.expect_text(&["-lmyprof comes after -lsma", "never called"]);
    let outcome = oshcc().args(["x.c", "-L.", "-lmyprof", "-lsma", "-o", "x"]).run().expect_code(0);
    assert!(!outcome.stderr.contains("never called"), "{}", outcome.describe());
    for option in ["-show", "--show", "-showme"] {
        let outcome = oshcc().args([option, "x.c", "-lm"]).run().expect_code(0);
        let (user, ours) = (outcome.stdout.find("-lm "), outcome.stdout.find("-lsma"));
        assert!(user.is_some() && user < ours, "{}", outcome.describe());
        for vendor in ["Open MPI", "OSHMEM", "Cray", "Sandia", "MVAPICH"] {
            assert!(!outcome.stdout.contains(vendor), "{}", outcome.describe());
        }
    }
}
