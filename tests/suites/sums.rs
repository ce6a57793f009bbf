//! Programs of random calls with known counts and known delays: every view says what was done, and adds up.

#[path = "sums/forms.rs"]
mod forms;
#[path = "sums/known.rs"]
mod known;
#[path = "sums/views.rs"]
mod views;

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::{system, tree};
use known::Known;
use views::Views;

/// PEs, and threads of each.
type Shape = (usize, usize);

fn program() -> PathBuf {
    Build::program("profile/random.c").options(["-g", "-O1"]).libraries(["-lpthread"]).build()
}

/// Runs the program with its profile in a directory of this name: the directory, what it said, and its name for
/// messages.
fn run(name: &str, binary: &Path, (pes, threads): Shape, rest: &[usize]) -> (PathBuf, Outcome, String) {
    let directory = tree::fresh(&format!("sums/{name}")).join("profile");
    let (seed, calls) = (rest[0], rest[1]);
    let args: Vec<String> = [&[seed, calls, threads], &rest[2..]].concat().iter().map(usize::to_string).collect();
    let outcome = Job::oshrun(pes).arg("--profile-dir").arg(&directory).arg(binary).args(&args).run();
    (directory, outcome, format!("seed {seed}, {calls} calls, {pes} PEs, {threads} threads"))
}

/// A run in which no view differs from what is known. Its times may: a thread may lose its core between the program's
/// clock and the library's; gives what differs then.
fn differs(name: &str, binary: &Path, shape: Shape, seed: usize, calls: usize) -> Option<String> {
    let (directory, outcome, what) = run(name, binary, shape, &[seed, calls]);
    let outcome = outcome.expect_code(0);
    let (views, known) = (Views::read(&directory, what), Known::read(&outcome.stdout));
    views.agree();
    views.are(&known, shape.0);
    views.times_are(&known).err()
}

#[test]
fn every_view_says_what_was_done() {
    let binary = program();
    let shapes = [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (1, 4), (2, 3), (4, 2)];
    for (seed, shape) in shapes.into_iter().enumerate() {
        let name = format!("random-{}-{}", shape.0, shape.1);
        let mut attempts = 0;
        while let Some(difference) = differs(&name, &binary, shape, seed + 1, 2000) {
            attempts += 1;
            assert!(attempts < 5, "{difference}");
        }
    }
}

/// First sights of rows by threads that run at the same time: one in many runs would show that a row is lost or taken
/// for another's.
#[test]
fn a_thousand_runs_count_the_same() {
    let binary = program();
    let mut late = Vec::new();
    let runs = system::repetitions(20, 1000);
    for run in 0..runs {
        let shape = [(2, 1), (1, 4), (2, 2), (3, 1), (1, 8)][run % 5];
        late.extend(differs("thousand", &binary, shape, 1000 + run, 200 + run % 97));
    }
    assert!(late.len() <= 1 + runs / 20, "times differ in {} of {runs} runs: {late:#?}", late.len());
}

#[test]
fn text_and_csv_say_what_json_says() {
    let binary = program();
    for (seed, shape) in [(1, 1), (4, 1), (2, 3)].into_iter().enumerate() {
        let name = format!("forms-{}-{}", shape.0, shape.1);
        let (directory, outcome, what) = run(&name, &binary, shape, &[seed + 50, 500]);
        outcome.expect_code(0);
        forms::agree(&directory, &Views::read(&directory, what.clone()), &what);
    }
}

#[test]
fn views_of_killed_pes_add_up_too() {
    let binary = program();
    for (shape, victim) in [((1, 1), 0), ((2, 1), 1), ((4, 1), 2), ((8, 1), 7), ((2, 3), 0)] {
        let name = format!("victim-{}-{}", shape.0, shape.1);
        let (directory, outcome, what) = run(&name, &binary, shape, &[99, 3000, victim]);
        outcome.expect_failure();
        Views::read(&directory, format!("{what}, PE {victim} killed")).with_killed(shape.0).agree();
    }
}
