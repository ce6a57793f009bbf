//! The extensions as a whole: every routine whose name is fixed is there, as a routine has to be; what their page shows
//! compiles; and with `./x test --long`, what they promise in large numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use harness::compile::Build;
use harness::hosts::Hosts;
use harness::program::Program;
use harness::run::{self, Job};
use harness::{program, system, table, tree};

/// The first alternative of a text written out: `a{b,c}` is `ab` and `ac`.
fn alternatives(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_string()] };
    let (words, after) = rest.split_once('}').expect("a closed brace");
    words.split(',').flat_map(|word| alternatives(&format!("{before}{word}{after}"))).collect()
}

/// The name of a prototype's function.
fn name(prototype: &str) -> &str {
    let (head, _) = prototype.split_once('(').expect("a prototype");
    head.rsplit([' ', '*']).next().expect("a name")
}

/// Prototypes of all routines whose names are fixed.
fn prototypes() -> Vec<String> {
    let text = include_str!("../tables/extensions.txt");
    let mut all = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (template, prototype) = line.split_once('|').expect("types and a prototype");
        if template == "-" {
            all.extend(alternatives(prototype));
            continue;
        }
        let rows: Vec<_> = table::functions().iter().filter(|function| function.template == template).collect();
        assert!(!rows.is_empty(), "{template} is no template");
        for row in rows {
            let typed = prototype.replace("TYPENAME", &row.typename).replace("TYPE ", &format!("{} ", row.c_type));
            all.extend(alternatives(&typed));
        }
    }
    all
}

#[test]
fn prototypes_are_written_out() {
    assert_eq!(alternatives("a{b,c}{1,2}"), ["ab1", "ab2", "ac1", "ac2"]);
    assert_eq!(name("void *shmemx_f(int, g (*)(int))"), "shmemx_f");
    let all = prototypes();
    let names: BTreeSet<&str> = all.iter().map(|prototype| name(prototype)).collect();
    assert_eq!(names.len(), all.len(), "a name is there twice");
    assert!(names.contains("shmemx_ctx_ptrdiff_cswap_nb") && names.contains("shmemx_complexf_prod_to_all_aset"));
}

/// A second declaration has to agree with that of the header.
#[test]
fn every_routine_is_declared_as_it_was_fixed_and_so_is_its_twin() {
    let mut text = String::from("#include <sys/types.h>\n#include <shmemx.h>\n");
    for prototype in prototypes() {
        let own = name(&prototype);
        let twin = prototype.replacen(&format!("{own}("), &format!("p{own}("), 1);
        writeln!(text, "{prototype};\n{twin};\nvoid *of_{own} = (void *){own}, *of_p{own} = (void *)p{own};")
            .expect("a text");
    }
    text += "int main(void) { return 0; }\n";
    let source = tree::scratch("extensions").join("prototypes.c");
    fs::write(&source, text).expect("target/tests can be written");
    Build::source("extensions-prototypes", &source).options(["-Werror", "-Wno-pedantic"]).build();
}

/// Weak, with a strong twin, and a row of its own in profiles, traces and metrics.
#[test]
fn every_routine_is_weak_and_has_its_place_in_profiles() {
    let outcome = Job::new(PathBuf::from("nm")).args(["-D", "--defined-only"]).arg(tree::library("libsma.so")).run();
    let symbols: BTreeMap<&str, &str> = outcome
        .stdout
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let kind = words.next()?;
            Some((words.next()?.split('@').next()?, kind))
        })
        .collect();
    let operations = fs::read_to_string(tree::workspace().join("src/profile/src/generated/ops.rs")).expect("the table");
    let named: BTreeSet<&str> =
        operations.lines().filter_map(|line| line.split_once("Row { name: \"")?.1.split('"').next()).collect();
    for prototype in prototypes() {
        let name = name(&prototype);
        assert_eq!(symbols.get(name), Some(&"W"), "{name} has to be weak");
        assert_eq!(symbols.get(format!("p{name}").as_str()), Some(&"T"), "p{name} has to be strong");
        assert!(named.contains(name), "{name} is no operation of profiles");
    }
}

/// What the examples of the page use and do not say.
const AROUND: &str = "#include <fcntl.h>\n#include <stddef.h>\n#include <sys/types.h>\n#include <shmem.h>\n\
    static long counter, before, mine, counts[64], target[8], source[8], value;\n\
    static double residual[8], partial[8], *line, copy[8], state[8];\n\
    static char block[64];\nstatic size_t bytes = 64, n = 8;\n\
    static int me, pe, right, lost, all_went_well;\nstatic shmem_team_t row, team, left;\n\
    static void compute(void) { (void)pe; (void)me; (void)right; (void)line; (void)value; }\n";

#[test]
fn the_examples_of_the_page_compile() {
    let page = fs::read_to_string(tree::workspace().join("docs/extensions.md")).expect("the page");
    let blocks: Vec<&str> =
        page.split("```c\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    let groups = page.matches("\n## ").count();
    assert!(blocks.len() > groups, "{} examples for {groups} groups", blocks.len());
    for section in page.split("\n## ").skip(1) {
        assert!(section.contains("```c\n"), "{} has no example", section.lines().next().unwrap_or_default());
    }
    for (i, block) in blocks.iter().enumerate() {
        let text = match block.contains("#include") {
            true => format!("{block}\nint main(void) {{ return 0; }}\n"),
            false => {
                // What a program does in between.
                let filled = block.lines().map(|line| if line.trim() == "..." { ";" } else { line });
                let body = filled.collect::<Vec<&str>>().join("\n");
                format!("{AROUND}#include <shmemx.h>\nint main(void) {{\ncompute();\n{body}\nreturn 0;\n}}\n")
            }
        };
        let source = tree::scratch("extensions").join(format!("page-{i}.c"));
        fs::write(&source, text).expect("target/tests can be written");
        Build::source(&format!("extensions-page-{i}"), &source).options(["-Wno-unused"]).build();
    }
}

/// A conformance program with counts of its own, and what its header says of how it is run.
fn with_counts(name: &str, counts: &[&str]) -> (PathBuf, Program) {
    let title = format!("extensions/{name}");
    let program = program::conformance().into_iter().find(|program| program.name == title).expect("a program");
    let source = tree::package().join("conformance").join(&title).with_extension("c");
    let include = format!("-I{}", tree::package().join("include").display());
    let options = counts.iter().map(|count| format!("-D{count}")).chain([include]);
    let of = format!("extensions-{name}-{}", counts.join("-"));
    (Build::source(&of, &source).options(options).libraries(["-pthread"]).build(), program)
}

/// So much takes minutes.
fn soak(name: &str, counts: &[&str], pes: &[usize]) {
    if !system::is_long() || run::is_over_network() {
        return;
    }
    let (binary, program) = with_counts(name, counts);
    for pes in pes {
        program.job_of(Job::oshrun(*pes), &binary).limit(1500).run().expect_code(0);
    }
}

#[test]
fn ten_thousand_random_sets_give_what_they_must() {
    soak("sets", &["SETS=5000"], &[13]);
}

#[test]
fn many_requests_are_outstanding() {
    soak("transfers", &["MANY=1048576"], &[2, 4]);
    soak("collectives", &["ROUNDS=200"], &[4, 13]);
    soak("lives", &["LIVES=40"], &[4]);
}

#[test]
fn a_thousand_spaces_are_there_at_a_time() {
    soak("spaces", &["MOST_OF_MANY=1000"], &[8, 13]);
}

#[test]
fn sets_and_collectives_reach_over_several_hosts() {
    if !system::is_long() || run::is_over_network() {
        return;
    }
    let Some(net) = Hosts::new(3) else { return };
    for (name, counts) in [("sets", "SETS=1000"), ("collectives", "ROUNDS=20")] {
        let (binary, program) = with_counts(name, &[counts]);
        program.job_of(net.oshrun(5), &binary).limit(1500).run().expect_code(0);
    }
}

/// Its root computes until others have come out of it.
#[test]
fn nonblocking_collectives_go_on_while_the_program_computes() {
    let binary = Build::program("extensions/progress.c").build();
    let job = |job: Job| job.env("SHMEM_PROGRESS", "thread").limit(60);
    for pes in [2, 5] {
        job(Job::oshrun(pes)).arg(&binary).run().expect_code(0);
        job(Job::oshrun(pes)).env("SHMEM_TRANSPORT", "ofi").arg(&binary).run().expect_code(0);
    }
    let Some(net) = Hosts::new(2) else { return };
    for pes in [1, 2] {
        job(net.oshrun(pes)).arg(&binary).run().expect_code(0);
    }
}

/// Where PEs leave no core to it, there is no thread unless the user asks for it.
#[test]
fn threads_that_move_collectives_on_are_there_where_they_have_a_core() {
    if run::is_over_network() {
        return;
    }
    let binary = Build::program("extensions/helpers.c").build();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pes = |count: usize| Job::oshrun(count).limit(100).arg(&binary);
    for (mode, count, threads) in [
        ("auto", cores, "0"),
        ("auto", 16.max(cores), "0"),
        ("calls", 2, "0"),
        ("thread", 1, "0"),
        ("thread", 2, "1"),
        ("thread", 13, "1"),
    ] {
        pes(count).env("SHMEM_PROGRESS", mode).arg(threads).run().expect_code(0);
    }
    for count in [2, 5] {
        pes(count).env("SHMEM_PROGRESS", "thread").args(["1", "leaves"]).run().expect_code(0);
    }
}

#[test]
fn what_threads_keep_of_errors_goes_with_them() {
    let binary = Build::program("extensions/errors_of_threads.c").options(["-pthread"]).build();
    Job::oshrun(1).limit(60).arg(&binary).run().expect_code(0);
}

#[test]
fn signal_handlers_may_come_to_errors_while_handlers_of_errors_are_set() {
    let binary = Build::program("extensions/errors_in_handlers.c").build();
    Job::oshrun(1).limit(30).arg(&binary).run().expect_code(0);
}

#[test]
fn an_error_of_one_member_of_a_collect_is_its_own() {
    if run::is_over_network() {
        return;
    }
    let binary = Build::program("extensions/collect_error.c").build();
    for pes in [2, 3] {
        Job::oshrun(pes).limit(30).arg(&binary).run().expect_code(0);
    }
}

/// What waits for room is the parent's to send.
#[test]
fn a_forked_child_waits_beside_a_collective_of_its_parent() {
    if run::is_over_network() {
        return;
    }
    let binary = Build::program("extensions/forked.c").build();
    for pes in [2, 3] {
        Job::oshrun(pes).limit(60).arg(&binary).run().expect_code(0);
    }
}

/// A file system of 2 MiB in a mount namespace of the job's own, which becomes full, and then read-only.
#[test]
fn files_of_a_full_disk_are_right_as_far_as_they_go() {
    let mount = tree::scratch("extensions").join("full");
    fs::create_dir_all(&mount).expect("target/tests can be written");
    let script = "mount -t tmpfs -o size=2m pellucid-full \"$0\" && exec \"$@\"";
    let within = |command: &[&str]| {
        Job::new("unshare").args(["--mount", "sh", "-c", script]).arg(&mount).args(command).limit(60).run()
    };
    if within(&["true"]).code() != 0 {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let binary = Build::program("extensions/full.c").build();
    let [oshrun, binary, folder] = [&tree::tool("oshrun"), &binary, &mount].map(|path| path.display().to_string());
    for pes in ["1", "2", "5"] {
        within(&[&oshrun, "-n", pes, &binary, &folder]).expect_code(0);
    }
}

/// What fails and is no mistake of the program's is told of, too; flags say what is wrong with them.
#[test]
fn a_handler_of_errors_may_be_left_by_a_jump() {
    let job = Job::oshrun(1).arg(Build::program("extensions/left_handler.cpp").build());
    job.run().expect_code(0).expect_text(&["jumps 6 6\nthrows 6 6\nfails 6\n"]);
}

#[test]
fn a_handlers_error_stays_until_it_returns() {
    let job = Job::oshrun(1).arg(Build::program("extensions/own_error.c").build());
    job.run().expect_code(0).expect_text(&["failed 0\ncleared 0\n"]);
}

#[test]
fn a_handler_of_errors_may_end_a_task_and_its_stack() {
    let binary = Build::program("extensions/ended_task.c").options(["-D_GNU_SOURCE"]).build();
    Job::oshrun(1).arg(binary).run().expect_code(0).expect_text(&["2 errors\n"]);
}

#[test]
fn the_last_error_tells_of_every_call_that_fails() {
    let binary = Build::program("extensions/refused.c").options(["-D_GNU_SOURCE"]).build();
    Job::oshrun(2).arg(binary).run().expect_code(0);
}
