//! What existing tools look for when they are built against an OpenSHMEM library, and rely on when they run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use harness::compile::Build;
use harness::run::{Job, Outcome};
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

/// Compiles, and links unless told not to, what a configure script would write.
fn conftest(compiler: &str, options: &[&str], text: &str) -> Outcome {
    let extension = match compiler {
        "oshcxx" | "oshCC" | "oshc++" => "cpp",
        "oshfort" => "f",
        _ => "c",
    };
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = tree::fresh(&format!("conftest-{compiler}-{number}"));
    std::fs::write(folder.join(format!("conftest.{extension}")), text).expect("target/tests can be written");
    let job = Job::new(tree::tool(compiler)).args(options).arg(format!("conftest.{extension}"));
    job.args(["-o", "conftest"]).directory(&folder).run()
}

/// As Score-P's configure does it: the library is known by a file, the headers by what the preprocessor says, the
/// vendor by what the wrapper says.
#[test]
fn as_score_p_finds_the_library() {
    let folder = tree::fresh("tool-ready-scorep");
    std::fs::write(folder.join("conftest.c"), "#include <shmem.h>\n").expect("target/tests can be written");
    let text = Job::new(tree::tool("oshcc")).args(["-E", "conftest.c"]).directory(&folder).run().expect_code(0).stdout;
    let line = text.lines().find(|line| line.contains("/shmem.h\"")).expect("the header's own line");
    let header = line.split('"').nth(1).expect("a quoted name");
    assert_eq!(PathBuf::from(header).canonicalize().ok(), tree::header("shmem.h").canonicalize().ok(), "{line}");
    for wrapper in ["oshcc", "oshcxx", "oshCC", "oshfort"] {
        for option in ["-showme:version", "--showme:version"] {
            let outcome = Job::new(tree::tool(wrapper)).arg(option).run().expect_code(0);
            let said = &outcome.stdout;
            assert!(said.contains("Pellucid") && !said.contains("Open SHMEM"), "{wrapper}: {}", outcome.describe());
        }
    }
}

/// Compilers, libraries and a routine without its prototype, in each language.
#[test]
fn as_score_p_tries_the_compilers() {
    let call = "#ifdef __cplusplus\nextern \"C\"\n#endif\nchar start_pes();\nint main() { return start_pes(); }\n";
    for (wrapper, options) in
        [("oshcc", ["-g", "-O2", "-lopenshmem"]), ("oshcxx", ["-O2", "-std=c++11", "-lopenshmem"])]
    {
        conftest(wrapper, &options, call).expect_code(0);
        conftest(wrapper, &["-c"], "#include <shmem.h>\nint main() { return 0; }\n").expect_code(0);
    }
    if Job::new(PathBuf::from("sh")).args(["-c", "command -v gfortran"]).run().code() == 0 {
        let call = "      program main\n      interface\n      subroutine fence() bind(C, name='shmem_fence')\n      \
                    end subroutine\n      end interface\n      call fence\n      end\n";
        conftest("oshfort", &["-g", "-O2"], call).expect_code(0);
    }
    let shifted = "#include <pshmem.h>\nint main() { pstart_pes(0); pshmem_barrier_all(); return 0; }\n";
    conftest("oshcc", &["-static"], shifted).expect_code(0);
}

/// Symbols: many at once, declared as nothing in particular.
#[test]
fn as_score_p_looks_for_symbols() {
    let symbols = [
        "_my_pe",
        "_num_pes",
        "shfree",
        "shmalloc",
        "shmemalign",
        "shrealloc",
        "start_pes",
        "shmem_addr_accessible",
        "shmem_barrier",
        "shmem_broadcast32",
        "shmem_char_g",
        "shmem_clear_cache_inv",
        "shmem_clear_cache_line_inv",
        "shmem_set_cache_inv",
        "shmem_set_cache_line_inv",
        "shmem_udcflush",
        "shmem_udcflush_line",
        "shmem_collect64",
        "shmem_complexd_prod_to_all",
        "shmem_double_swap",
        "shmem_fcollect32",
        "shmem_iget128",
        "shmem_int_cswap",
        "shmem_int_wait",
        "shmem_longdouble_max_to_all",
        "shmem_long_finc",
        "shmem_longlong_xor_to_all",
        "shmem_short_and_to_all",
        "shmem_short_wait_until",
        "shmem_test_lock",
        "shmem_wait",
        "shmem_wait_until",
    ];
    let known: Vec<&str> = symbols.into_iter().filter(|name| is_routine(name)).collect();
    assert!(known.len() > 25, "{known:?}");
    let declared: String = known.iter().map(|name| format!("char p{name}();\n")).collect();
    let called: String = known.iter().map(|name| format!(" | p{name}()")).collect();
    conftest("oshcc", &[], &format!("{declared}int main() {{ return 0{called}; }}\n")).expect_code(0);
}

/// Prototypes: a definition of the tool's own beside the header's declaration.
#[test]
fn as_score_p_looks_for_prototypes() {
    for definition in [
        "void shmem_finalize(void) { return; }",
        "char shmem_char_g(const char *addr, int pe) { return 0; }",
        "long double shmem_longdouble_g(const long double *addr, int pe) { return 0.0; }",
        "void shmem_longdouble_iput(long double *addr, const long double *src, ptrdiff_t tst, ptrdiff_t sst, size_t \
         len, int pe) { return; }",
        "void shmem_short_and_to_all(short *target, const short *source, int nreduce, int peStart, int logPeStride, \
         int peSize, short *pWork, long *pSync) { return; }",
        "void shmem_complexd_sum_to_all(double _Complex *target, const double _Complex *source, int nreduce, int \
         peStart, int logPeStride, int peSize, double _Complex *pWork, long *pSync) { return; }",
        "int shmem_addr_accessible(const void *addr, int pe) { return 1; }",
        "void *shmem_ptr(const void *ptr, int pe) { return NULL; }",
        "void shmem_set_lock(long *lock) { return; }",
        "void shmem_int_wait_until(int *addr, int cmp, int value) { return; }",
        // Where it is a macro as well, Score-P leaves it out.
        "#ifndef shmem_wait_until\nvoid shmem_wait_until(long *addr, int cmp, long value) { return; }\n#endif",
    ] {
        for version in ["-std=gnu99", "-std=gnu17"] {
            let text = format!("#include <shmem.h>\n{definition}\nint main(void) {{ return 0; }}\n");
            conftest("oshcc", &[version, "-c"], &text).expect_code(0);
        }
    }
}

fn is_routine(name: &str) -> bool {
    harness::declared::functions().contains(name)
}
