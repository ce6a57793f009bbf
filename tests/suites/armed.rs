//! Where a profiling tool defines `shmem_X`, calls are recorded where it goes on, at `pshmem_X` too, however it got
//! into the process: as the flags of the profile (src/profile/src/arm.rs) say, which lie in the library where its
//! debug information has them.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use pellucid_profile::op;

const AT_SHMEM: &str = "p 1 0 g 1 0 x 2\n";
/// At both: a tool goes on to either. Behind `pshmem_X` the dispatcher (129) tells its own calls from the program's.
const AT_PSHMEM: &str = "p 1 129 g 1 0 x 2\n";
/// A tool in a shared object is taken into the row of tools: through the dispatcher, and what it calls itself is its
/// own.
const AT_THE_GATE: &str = "p 129 0 g 1 0 x 2\n";

fn source(name: &str) -> PathBuf {
    tree::package().join("programs/tools").join(name)
}

/// The symbol of a flag of each operation in a library: its name and its value.
fn symbol(library: &Path, flags: &str) -> [String; 2] {
    let symbols = Job::new(PathBuf::from("nm")).arg("--format=posix").arg(library).run().expect_code(0).stdout;
    let mangled = format!("pellucid_profile3arm{}{flags}17h", flags.len());
    let words = symbols.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let found = words.filter(|words| words[0].contains(&mangled)).collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "symbols of {flags}: {found:?}");
    [found[0][0].to_owned(), format!("0x{}", found[0][2])]
}

/// The numbers of the program's routines.
fn routines() -> [String; 2] {
    let id = |name: &str| op::find(name).expect("a routine of the table");
    [format!("-DP={}", id("shmem_long_p")), format!("-DG={}", id("shmem_long_g"))]
}

/// The program, with its knowledge of the library.
fn program(name: &str) -> Build {
    let place = |flags: &str| {
        let [_, place] = symbol(&tree::library(".debug/libsma.so.1.debug"), flags);
        format!("-D{flags}={place}")
    };
    let build = Build::program("tools/armed.c").named(&format!("armed-{name}"));
    build.options(routines()).options([place("ARM"), place("PARM")])
}

fn output(program: &Path, preload: Option<&Path>) -> String {
    let mut job = Job::new(program).env("SHMEM_PROFILE", "1");
    if let Some(tool) = preload {
        job = job.env("LD_PRELOAD", &tool.to_string_lossy());
    }
    job.run().expect_code(0).stdout
}

#[test]
fn calls_are_recorded_where_tools_go_on() {
    let preload = tree::scratch("armed").join("tool.so");
    let compiler = Job::new(PathBuf::from("cc")).args(["-shared", "-fPIC", "-I"]).arg(tree::prefix().join("include"));
    compiler.arg(source("long_p.c")).arg("-o").arg(&preload).run().expect_code(0);

    let plain = program("plain").build();
    assert_eq!(output(&plain, None), AT_SHMEM);
    assert_eq!(output(&plain, Some(&preload)), AT_THE_GATE);
    let own = program("own").with(&source("long_p.c")).build();
    assert_eq!(output(&own, None), AT_PSHMEM);
    // The address of a function is then a jump in the program, which is no tool.
    let pointer = program("pointer").options(["-DTAKES_ADDRESS", "-no-pie", "-fno-pic"]).build();
    assert_eq!(output(&pointer, None), AT_SHMEM);
}

/// The archive that is installed shows routines only: this is what it is made of.
#[test]
fn so_they_are_in_a_program_with_the_archive_in_it() {
    let whole = tree::workspace().join("target/library/libgasnet_pellucid.a");
    if std::env::var_os(tree::PREFIX_VARIABLE).is_some() {
        eprintln!("the archive of another tree does not show its flags: not tested");
        return;
    }
    let folder = tree::scratch("armed");
    let archive = folder.join("flags.a");
    let names = ["ARM", "PARM"].map(|flags| symbol(&whole, flags)[0].clone());
    let show = names.each_ref().map(|name| format!("--globalize-symbol={name}"));
    Job::new(PathBuf::from("objcopy")).args(&show).args([&whole, &archive]).run().expect_code(0);
    let known = [format!("-DARM_SYMBOL=\"{}\"", names[0]), format!("-DPARM_SYMBOL=\"{}\"", names[1])];
    for (name, tool, expected) in [("plain", None, AT_SHMEM), ("own", Some(source("long_p.c")), AT_PSHMEM)] {
        let binary = folder.join(format!("static-{name}"));
        let compiler = Job::new(PathBuf::from("cc")).arg("-I").arg(tree::prefix().join("include"));
        let compiler = compiler.args(routines()).args(&known).arg(source("armed.c")).args(tool).arg(&archive);
        compiler.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&binary).run().expect_code(0);
        assert_eq!(output(&binary, None), expected, "{name}");
    }
}
