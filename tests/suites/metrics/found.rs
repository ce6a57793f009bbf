//! Jobs that an exporter finds by itself: nobody has handed them over.

use harness::compile::Build;
use harness::exporter::{Exporter, sum, wait_for};
use harness::hosts::Hosts;
use harness::run::Job;
use harness::{launchers, system, tree};

/// A job that was there before the exporter, and the end of one whose launcher is killed.
#[test]
fn jobs_are_found_without_a_hand_over() {
    let binary = Build::program("metrics/short.c").build();
    let running = Job::oshrun(2).arg(binary).arg("stand").env("PELLUCID_SERVE", "/nowhere/s").limit(60).start();
    let exporter = Exporter::start("metrics-found", &[]);
    let start = format!("-{}-", running.pid());
    let of_job =
        |page: &str| page.lines().find(|line| line.starts_with("shmem_job_pes{") && line.contains(&start)).is_some();
    wait_for("the job", || of_job(&exporter.metrics()).then_some(()));
    // SAFETY: no pointers.
    unsafe { libc::kill(running.pid() as i32, libc::SIGKILL) };
    running.wait();
    let ended = || {
        let page = exporter.metrics();
        (sum(&page, "shmem_job_state", &[&start, "state=\"killed\""]) == 1.0).then_some(())
    };
    wait_for("the job's end", ended);
}

/// The same of single processes, and under other launchers: of each the first PE of the host has made the profile.
#[test]
fn jobs_of_all_launchers_are_found() {
    let binary = Build::program("metrics/short.c").build();
    let launchers = [launchers::hydra(), launchers::open_mpi()];
    let under = launchers.iter().filter_map(|launcher| Some(launcher.as_ref().ok()?.job(2).arg(&binary).arg("stand")));
    let alone = Job::new(&binary).arg("load");
    let name = |number: usize| format!("found-{}-{number}", std::process::id());
    let start = |(number, job): (usize, Job)| {
        let job = job.env("PELLUCID_SERVE", "/nowhere/s").env("PELLUCID_JOB_ID", &name(number));
        job.limit(60).start()
    };
    let running: Vec<_> = under.chain([alone]).enumerate().map(start).collect();
    let exporter = Exporter::start("metrics-found-all", &[]);
    let is_there = |page: &str, number| page.contains(&format!("shmem_job_pes{{job_id=\"{}\"}}", name(number)));
    let all = |page: String| (0..running.len()).all(|number| is_there(&page, number));
    wait_for("the jobs", || all(exporter.metrics()).then_some(()));
    for one in &running {
        system::kill_group(one.pid());
    }
    running.into_iter().for_each(|one| _ = one.wait());
}

/// The same of the parts of a job of several hosts, each of which is called by its own process, or by that of the whole
/// job.
#[test]
fn parts_of_a_job_are_found() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = Build::program("metrics/short.c").build();
    let name = format!("parts-{}", std::process::id());
    let job = net.oshrun(2).arg(&binary).arg("stand").env("PELLUCID_SERVE", "/nowhere/s");
    let running = job.env("PELLUCID_JOB_ID", &name).limit(60).start();
    let exporter = Exporter::start("metrics-parts", &[]);
    let label = format!("job_id=\"{name}");
    let local = |page: &str| sum(page, "shmem_job_local_pes", &[&label]);
    wait_for("the parts", || (local(&exporter.metrics()) == 4.0).then_some(()));
    let hang = |number: &str| Job::new(tree::tool("oshprof")).args(["hang", number]).run();
    let head = hang(&running.pid().to_string()).expect_code(1);
    let listed = head.stderr.lines().filter_map(|line| line.trim().strip_prefix("job ")?.split_once(':'));
    let numbers: Vec<&str> = listed.map(|(number, _)| number).collect();
    assert_eq!(numbers.len(), 2, "{}", head.describe());
    assert_ne!(numbers[0], numbers[1], "{}", head.describe());
    for number in numbers {
        let one = hang(number);
        assert!(one.stdout.contains(&format!("job {number}: ")), "{}", one.describe());
    }
    // SAFETY: no pointers.
    unsafe { libc::kill(running.pid() as i32, libc::SIGKILL) };
    running.wait();
    let ended = || (sum(&exporter.metrics(), "shmem_job_state", &[&label, "state=\"running\""]) == 0.0).then_some(());
    wait_for("the end of the parts", ended);
}
