//! Race detectors, with the suppressions that are installed: what the library does is no report; what the program does
//! is.

use std::path::PathBuf;

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::{system, tree};

fn suppressions(name: &str) -> String {
    tree::prefix().join("share/pellucid").join(name).to_string_lossy().into_owned()
}

fn helgrind(tool: &str, program: &PathBuf, options: &[&str]) -> Outcome {
    let tool = format!("--tool={tool}");
    Job::oshrun(1)
        .arg("valgrind")
        .args([&*tool, "-q", "--error-exitcode=9"])
        .args(options)
        .arg(program)
        .limit(200)
        .run()
}

#[test]
fn helgrind_and_drd_report_the_program_only() {
    if system::find(&["valgrind"]).is_none() {
        return println!("no valgrind here: not tested");
    }
    let options = ["-pthread"];
    let clean = Build::program("tools/threads.c").options(options).build();
    let races = Build::program("tools/threads.c").named("threads-races").options(["-pthread", "-DRACES"]).build();
    let with = format!("--suppressions={}", suppressions("valgrind.supp"));
    helgrind("helgrind", &clean, &[]).expect_code(9).expect_text(&["Possible data race"]);
    helgrind("helgrind", &clean, &[&with]).expect_code(0).expect_text(&["60"]);
    helgrind("drd", &clean, &[&with]).expect_code(0).expect_text(&["60"]);
    let outcome = helgrind("helgrind", &races, &[&with]).expect_code(9);
    assert!(outcome.stderr.contains("work (threads.c") && !outcome.stderr.contains("probe_"), "{}", outcome.describe());
}

#[test]
fn thread_sanitizer_reports_the_program_only() {
    let build = |name: &str, options: &[&str]| {
        let build = Build::program("tools/threads.c").named(name).options(["-pthread", "-fsanitize=thread"]);
        build.options(options).try_build()
    };
    let clean = match build("threads-tsan", &[]) {
        Ok(binary) => binary,
        Err(why) => return println!("no ThreadSanitizer here: {}", why.lines().last().unwrap_or_default()),
    };
    let races = build("threads-tsan-races", &["-DRACES"]).expect("it was built without races");
    let with = format!("TSAN_OPTIONS=exitcode=66 suppressions={}", suppressions("tsan.supp"));
    let run = |options: &str, binary: &PathBuf| Job::oshrun(2).args(["-x", options]).arg(binary).limit(60).run();
    run("TSAN_OPTIONS=exitcode=66", &clean).expect_failure().expect_text(&["data race", "memcpy", "libsma.so"]);
    run(&with, &clean).expect_code(0).expect_text(&["120"]);
    let outcome = run(&with, &races).expect_failure();
    assert!(outcome.stderr.contains("threads.c") && !outcome.stderr.contains("libsma.so"), "{}", outcome.describe());
    // The library's own thread has ended when the program does.
    if system::library("libfabric.so.1").is_some() {
        let over = Job::oshrun(2).args(["-x", &with]).arg(&clean).env("SHMEM_TRANSPORT", "ofi").limit(60).run();
        over.expect_code(0).expect_text(&["120"]);
    }
}

/// A client of GASNet-EX, compiled with these options.
fn client(name: &str, options: &[&str]) -> Option<PathBuf> {
    let to = tree::scratch("detectors").join(name);
    let source = tree::package().join("programs/gasnet/locked.c");
    let line = "to=$1 source=$2; export PKG_CONFIG_PATH=$3; shift 3; cc -g -O1 -Wall -Wextra -Werror -o \"$to\" \
                \"$source\" \"$@\" $(pkg-config --cflags --libs gasnet-pellucid-par) -lpthread";
    let job = Job::new("sh").arg("-c").arg(line).arg("sh").arg(&to).arg(source).arg(tree::library("pkgconfig"));
    (job.args(options).run().code() == 0).then_some(to)
}

#[test]
fn detectors_report_nothing_of_a_client_without_races() {
    let total = "counted 600";
    if system::find(&["valgrind"]).is_some() {
        let with = format!("--suppressions={}", suppressions("valgrind.supp"));
        let program = client("locked-mutex", &["-DMUTEX"]).expect("it compiles");
        for tool in ["helgrind", "drd"] {
            helgrind(tool, &program, &[&with]).expect_code(0).expect_text(&[total]);
        }
    }
    let Some(program) = client("locked-tsan", &["-fsanitize=thread"]) else {
        return println!("no ThreadSanitizer here");
    };
    let with = format!("TSAN_OPTIONS=exitcode=66 suppressions={}", suppressions("tsan.supp"));
    let run = |program: &PathBuf| Job::oshrun(1).args(["-x", &with]).arg(program).limit(60).run();
    run(&program).expect_code(0).expect_text(&[total]);
    let races = client("locked-races", &["-fsanitize=thread", "-DRACES"]).expect("it was built without races");
    let outcome = run(&races).expect_failure();
    assert!(outcome.stderr.contains("locked.c") && !outcome.stderr.contains("libgasnet"), "{}", outcome.describe());
}
