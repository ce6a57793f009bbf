//! What a job is called: the same by all that shows it, and by no other job.

use std::path::Path;
use std::process::Command;

use harness::compile::Build;
use harness::exporter::{Exporter, sum};
use harness::run::Job;
use harness::tree;
use serde_json::Value;

/// What a job is called by an exporter, it is called by what it leaves behind: with oshrun, and where nobody starts it.
#[test]
fn a_job_has_one_name() {
    let exporter = Exporter::start("metrics-name", &[]);
    let binary = Build::program("metrics/short.c").build();
    let (profile, trace) = (exporter.folder.join("a.prof"), exporter.folder.join("a.trace"));
    let oshprof = |words: &[&str], folder: &Path| {
        let output = Command::new(tree::tool("oshprof")).args(words).arg(folder).output().expect("oshprof");
        String::from_utf8(output.stdout).expect("text")
    };
    let job =
        Job::oshrun(2).args(["--profile", "--profile-dir"]).arg(&profile).arg(format!("--trace={}", trace.display()));
    job.arg(&binary).env("PELLUCID_SERVE", &exporter.socket()).limit(60).run().expect_code(0);
    let alone = exporter.folder.join("alone.prof");
    let job = Job::new(&binary)
        .env("PELLUCID_SERVE", &exporter.socket())
        .env("SHMEM_PROFILE_DIR", &alone.display().to_string());
    job.limit(60).run().expect_code(0);
    let page = exporter.metrics();
    for (folder, launcher) in [(&profile, "oshrun"), (&alone, "none")] {
        let report: Value = serde_json::from_str(&oshprof(&["report", "--json"], folder)).expect("a report");
        let id = report["job_id"].as_str().expect("a name");
        assert_eq!(report["launcher"], launcher);
        let kept = oshprof(&["metrics"], folder);
        for text in [&page, &kept] {
            assert!(sum(text, "shmem_calls_total", &[&format!("job_id=\"{id}\""), "op=\"p\""]) > 0.0, "{id}\n{text}");
        }
    }
    let report: Value = serde_json::from_str(&oshprof(&["report", "--json"], &profile)).expect("a report");
    let spans = oshprof(&["trace", "--to", "otlp", "-o", "-"], &trace);
    let named = format!("{{\"key\":\"shmem.job\",\"value\":{{\"stringValue\":{}}}}}", report["job_id"]);
    assert!(spans.replace(": ", ":").contains(&named), "{named}\n{spans:.600}");
}

/// A name that is given is taken; two jobs of a batch script, and a job that another one starts, have names of their
/// own.
#[test]
fn jobs_have_names_of_their_own() {
    let folder = tree::fresh("metrics-own-names");
    let binary = Build::program("metrics/short.c").build();
    let name = |profile: &Path| {
        let text = std::fs::read_to_string(profile.join("job.json")).expect("a profile");
        let job: Value = serde_json::from_str(&text).expect("JSON");
        job["job_id"].as_str().expect("a name").to_owned()
    };
    let job = |profile: &str| Job::oshrun(1).arg("--profile-dir").arg(folder.join(profile)).limit(60);
    job("given").args(["-x", "PELLUCID_JOB_ID=mine"]).arg(&binary).run().expect_code(0);
    assert_eq!(name(&folder.join("given")), "mine");
    let in_batch = ["first", "second"].map(|profile| {
        job(profile).arg(&binary).env("SLURM_JOB_ID", "900").run().expect_code(0);
        name(&folder.join(profile))
    });
    assert!(in_batch.iter().all(|name| name.starts_with("900_")) && in_batch[0] != in_batch[1], "{in_batch:?}");
    let inner = folder.join("inner");
    let line = format!(
        "{} -n 1 --profile-dir {} {} && exec {}",
        tree::tool("oshrun").display(),
        inner.display(),
        binary.display(),
        binary.display()
    );
    job("outer").args(["-x", "PELLUCID_JOB_ID=outer", "sh", "-c", &line]).run().expect_code(0);
    assert_eq!(name(&folder.join("outer")), "outer");
    assert_ne!(name(&inner), "outer");
}
