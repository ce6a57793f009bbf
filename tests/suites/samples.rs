//! What the profile keeps a part of only stands for the whole: meetings of loops with several barriers a turn.

use std::path::Path;

use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

const SOURCE: &str = include_str!("../programs/profile/loops.c");
/// More than the 4,096 meetings that a thread keeps, several times over.
const MEETINGS: usize = 40_000;

fn imbalance(directory: &Path) -> Vec<Value> {
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(directory);
    let outcome = job.args(["--view", "imbalance", "--json"]).run().expect_code(0);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    report["imbalance"].as_array().cloned().unwrap_or_else(|| panic!("no imbalance: {report}"))
}

fn line(barrier: usize) -> usize {
    let mark = format!("/* BARRIER {barrier} */");
    1 + SOURCE.lines().position(|line| line.contains(&mark)).expect("each barrier is marked")
}

#[test]
fn every_barrier_of_a_loop_has_its_share_of_the_meetings() {
    let binary = Build::program("profile/loops.c").options(["-g"]).build();
    let directory = tree::scratch("samples").join("loops");
    for barriers in 1..=8 {
        if directory.exists() {
            std::fs::remove_dir_all(&directory).expect("an old profile can be removed");
        }
        let turns = MEETINGS / barriers;
        let job = Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary);
        job.args([barriers.to_string(), turns.to_string()]).run().expect_code(0);
        let rows = imbalance(&directory);
        for barrier in 0..barriers {
            let place = format!("loops.c:{}", line(barrier));
            let row = rows.iter().find(|row| row["site"].as_str().is_some_and(|site| site.contains(&place)));
            let row = row.unwrap_or_else(|| panic!("no {place} with {barriers} barriers a turn: {rows:#?}"));
            // At least 2,048 are kept of all: 256 of each of 8, and the standard deviation is a sixteenth of it.
            let part = row["calls"].as_f64().expect("a number") / turns as f64;
            assert!((0.7..1.3).contains(&part), "{part} of {turns} meetings at {place}, {barriers} a turn: {rows:#?}");
        }
    }
}
