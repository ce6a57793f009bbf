//! Profiles and traces of jobs on several hosts: one directory for the job, on the host where it was started.

use harness::compile::Build;
use harness::hosts::{Hosts, write_script};
use harness::report::Report;
use harness::run::Job;
use harness::{system, tree};

#[test]
fn the_profile_of_all_hosts_is_one() {
    let Some(net) = Hosts::new(3) else { return };
    let program = Build::program("hosts/record.c").build();
    let directory = tree::fresh("hosts-profile").join("prof");
    let last = directory.join("pe-00005.prof");
    let job = net.oshrun(2).arg("--profile-dir").arg(&directory).arg(&program).arg(&last);
    let outcome = job.run().expect_code(0).expect_text(&["6 PEs", "shmem_long_put", "profile kept"]);
    // A snapshot in between, asked for on another host.
    assert_eq!(outcome.stdout, "kept\n", "{}", outcome.describe());
    let report = Report::read(&directory, true);
    assert_eq!(report.routine("shmem_long_put"), (21, 21 * 32));
    for pe in 0..6 {
        let calls = pe as u64 + 1;
        assert_eq!(report.routine_of(pe, "shmem_long_put"), (calls, calls * 32), "PE {pe}");
    }
    let json = report.json().to_string();
    for name in net.names() {
        assert!(json.contains(&format!("\"{name}\"")), "host {name} is not in the report: {json}");
    }
}

#[test]
fn times_of_all_hosts_are_on_one_line() {
    let Some(net) = Hosts::new(2) else { return };
    let program = Build::program("hosts/record.c").build();
    let directory = tree::fresh("hosts-times").join("prof");
    // A host that is slow to answer: the begin of the job is the root's, not that of the PEs.
    let agent = tree::scratch("hosts").join(format!("slow-{}.sh", std::process::id()));
    write_script(&agent, &format!("#!/bin/sh\n[ \"$1\" = b ] && sleep 0.5\nexec {} \"$@\"\n", net.agent().display()));
    let job = net.on("a", tree::tool("oshrun")).arg("--launch-agent").arg(&agent).args(["--hosts", "a,b"]);
    job.arg("--profile-dir").arg(&directory).arg(&program).run().expect_code(0);
    let loaded = pellucid_profile::file::read(&directory).expect("a profile");
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert_eq!(loaded.profile.job.transport, "ofi");
    let (job, pes) = (&loaded.profile.job, &loaded.profile.pes);
    let hosts: Vec<&str> = pes.iter().map(|pe| pe.host.as_str()).collect();
    assert_eq!((job.npes, hosts.as_slice(), job.host.as_str()), (2, &["a", "b"][..], "a"));
    for pe in pes {
        // They run on one machine: what one clock says, the other one says too.
        assert!(
            pe.start_ns >= 500_000_000 && pe.start_ns <= pe.end_ns && pe.end_ns <= job.wall_ns,
            "{pe:?} in {job:?}"
        );
    }
}

#[test]
fn the_trace_of_all_hosts_is_one() {
    let Some(net) = Hosts::new(2) else { return };
    let program = Build::program("hosts/record.c").build();
    let directory = tree::fresh("hosts-trace").join("trace");
    let temporary = tree::fresh("hosts-trace-temporary");
    let job = net.oshrun(2).arg(format!("--trace={}", directory.display())).arg(&program);
    let outcome = job.env("TMPDIR", temporary.to_str().expect("text")).run().expect_code(0);
    outcome.expect_text(&["oshrun: trace of ", "calls"]);
    let outcome = Job::new(tree::tool("oshprof")).arg("trace").arg(&directory).args(["--to", "csv"]).run();
    let outcome = outcome.expect_code(0);
    let puts = outcome.stdout.lines().filter(|line| line.contains("shmem_long_put")).count();
    assert_eq!(puts, 1 + 2 + 3 + 4, "{}", outcome.describe());
    assert_eq!(outcome.stderr.matches("belongs to another job").count(), 0, "{}", outcome.describe());
    // Nothing is left where the hosts kept it.
    assert!(system::entries(&temporary).is_empty(), "{:?}", system::entries(&temporary));
}
