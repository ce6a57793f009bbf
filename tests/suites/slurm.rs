//! docs/slurm.md: its batch script and its commands, in a Slurm cluster of the tests' own, with the memory and the
//! options that the page names.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use harness::collector::Collector;
use harness::compile::Build;
use harness::exporter::{Exporter, sum};
use harness::run::{Job, is_over_network};
use harness::slurm::Cluster;
use harness::{system, tree};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{metric::Data, number_data_point};
use prost::Message;
use serde_json::Value;

/// The blocks of the page: language, text.
fn blocks() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(tree::workspace().join("docs/slurm.md")).expect("docs/slurm.md");
    let parts: Vec<&str> = page.split("```").collect();
    let block = |text: &&str| text.split_once('\n').map(|(language, text)| (language.to_owned(), text.to_owned()));
    parts.iter().skip(1).step_by(2).filter_map(block).collect()
}

/// A command of the page, where this folder has `a.out`.
fn run(cluster: &Cluster, folder: &Path, line: &str) -> Job {
    let (name, value) = cluster.environment();
    let path = std::env::var("PATH").unwrap_or_default();
    let own = tree::tool("oshrun").parent().expect("bin").display().to_string();
    let job = Job::new("sh").args(["-c", line]).directory(folder).limit(90);
    job.env(&name, &value).env("PATH", &format!("{own}:{path}"))
}

#[test]
fn the_page_of_slurm_holds() {
    if is_over_network() {
        return;
    }
    let cluster = match Cluster::start() {
        Ok(Ok(cluster)) => cluster,
        Ok(Err(reason)) => return println!("skipped: {reason}"),
        Err(error) => panic!("{error}"),
    };
    if system::library("libfabric.so.1").is_none() {
        return println!("skipped: there is no libfabric");
    }
    let folder = tree::fresh("slurm-page");
    let hello = Build::source("hello", &tree::workspace().join("examples/hello/hello.c")).build();
    std::fs::copy(hello, folder.join("a.out")).expect("a copy");
    let blocks = blocks();
    let script = blocks.iter().find(|(language, _)| language == "sh").map(|(_, text)| text.as_str());
    let script = script.expect("a batch script");
    assert!(script.starts_with("#!/bin/bash\n#SBATCH"), "{script}");
    std::fs::write(folder.join("heat.sh"), script).expect("a script");
    let commands: Vec<&str> = blocks
        .iter()
        .filter(|(language, _)| language.is_empty())
        .flat_map(|(_, text)| text.lines())
        .filter(|line| ["srun ", "salloc ", "sbatch "].iter().any(|tool| line.starts_with(tool)))
        .collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for line in commands {
        let outcome = run(&cluster, &folder, line).run().expect_code(0);
        let said = if line.starts_with("sbatch") { output(&folder) } else { outcome.stdout.clone() };
        let expected = match line {
            _ if line.contains("--info") => &["PEs: 4 on 2 hosts", "srun --overlap", "--nodelist=node"][..],
            // Both ways of the script, then the report.
            _ if line.starts_with("sbatch") => &["4 PEs on", "shmem_"],
            _ => &["OK, all 4 PEs signed"],
        };
        expected
            .iter()
            .for_each(|part| assert!(said.contains(part), "{line}: no {part} in\n{said}\n{}", outcome.describe()));
        if line.starts_with("sbatch") {
            assert_eq!(said.matches("OK, all 4 PEs signed").count(), 2, "{said}");
        }
    }
    without_a_default(&cluster, &folder);
    metrics_of_a_step(&cluster, &folder);
    hydra_in_a_step(&cluster, &folder);
}

/// Processes of Hydra have what Slurm says of the task in which Hydra runs: they are no tasks.
fn hydra_in_a_step(cluster: &Cluster, folder: &Path) {
    let Some(hydra) = system::find(&["mpiexec.hydra"]) else { return println!("skipped: there is no mpiexec.hydra") };
    let line = format!("srun --mpi=pmi2 -n 1 {} -launcher fork -n 3 ./a.out", hydra.display());
    let outcome = run(cluster, folder, &line).run().expect_code(0);
    outcome.expect_text(&["OK, all 3 PEs signed"]);
}

/// Where Slurm binds tasks, the part of `oshrun` on the other node is no task of one CPU: it has all that the job has
/// there.
#[test]
fn the_parts_of_oshrun_are_not_bound() {
    if is_over_network() {
        return;
    }
    let cluster = match Cluster::that_binds() {
        Ok(Ok(cluster)) => cluster,
        Ok(Err(reason)) => return println!("skipped: {reason}"),
        Err(error) => panic!("{error}"),
    };
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = tree::fresh("slurm-binds");
    let look = "grep Cpus_allowed_list /proc/self/status";
    let lists = |line: &str| -> Vec<String> {
        let outcome = run(&cluster, &folder, line).run().expect_code(0);
        assert!(!outcome.stderr.contains("srun:"), "srun has nothing to say\n{}", outcome.describe());
        let found = outcome.stdout.lines().filter(|line| line.contains("Cpus_allowed_list"));
        found.map(|line| line.rsplit([' ', '\t']).next().unwrap_or_default().to_owned()).collect()
    };
    let all = if cpus > 1 { format!("0-{}", cpus - 1) } else { "0".to_owned() };
    if cpus > 1 {
        let bound = lists(&format!("srun --mpi=none --nodes=2 --ntasks=2 --cpu-bind=map_cpu:0 {look}"));
        assert_eq!(bound, ["0", "0"], "this Slurm binds");
    }
    let info = run(&cluster, &folder, "salloc -N 2 -n 2 oshrun --info").run().expect_code(0);
    info.expect_text(&["--cpu-bind=none", "--nodelist=node"]);
    let tasks = 2 * cpus;
    let seen = lists(&format!("salloc --quiet -N 2 -n {tasks} oshrun --bind none {look}"));
    assert_eq!(seen, vec![all; tasks]);
    if system::library("libfabric.so.1").is_some() {
        let hello = Build::source("hello", &tree::workspace().join("examples/hello/hello.c")).build();
        let outcome =
            run(&cluster, &folder, &format!("salloc --quiet -N 2 -n {tasks} oshrun {}", hello.display())).run();
        outcome.expect_code(0).expect_text(&[&format!("OK, all {tasks} PEs signed")]);
    }
}

/// Each node of a step sends the numbers of its PEs, and hands them over to an exporter, under the name of the step.
fn metrics_of_a_step(cluster: &Cluster, folder: &Path) {
    let short = Build::program("metrics/short.c").build();
    let (collector, exporter) = (Collector::start(Vec::new()), Exporter::start("slurm-exporter", &[]));
    let line = format!("srun --mpi=pmi2 -N 2 -n 4 {}", short.display());
    let push = format!("push={}", collector.url());
    let job = run(cluster, folder, &line).env("SHMEM_METRICS", &push).env("PELLUCID_SERVE", &exporter.socket());
    let outcome = job.run().expect_code(0);
    let shares: Vec<Value> = collector.taken().iter().map(|request| numbers(&request.body)).collect();
    assert_eq!(shares.len(), 2, "one a host\n{}", outcome.describe());
    let jobs: BTreeSet<String> = shares.iter().map(|share| share["job"].to_string()).collect();
    assert!(
        jobs.len() == 1 && jobs.iter().all(|job| job.contains("_0")),
        "the number of the job and of its step: {jobs:?}"
    );
    let puts: u64 = shares.iter().filter_map(|share| share["puts"].as_u64()).sum();
    assert_eq!(puts, 400, "{shares:?}");
    // Jobs of other tests may be there, too.
    let step = format!("job_id={}", jobs.first().map_or("", |job| job.trim_end_matches('"')));
    assert_eq!(sum(&exporter.metrics(), "shmem_calls_total", &[&step, "op=\"p\""]), 400.0, "{}", exporter.metrics());
}

/// The name of the job and its calls of `shmem_p`.
fn numbers(body: &[u8]) -> Value {
    let request = ExportMetricsServiceRequest::decode(body).expect("protobuf");
    let text = |list: &[KeyValue], name: &str| {
        let found = list.iter().find(|pair| pair.key == name).and_then(|pair| pair.value.clone()?.value);
        if let Some(any_value::Value::StringValue(text)) = found { text } else { String::new() }
    };
    let resource = &request.resource_metrics[0];
    let metrics = resource.scope_metrics.iter().flat_map(|scope| &scope.metrics);
    let mut puts = 0;
    for metric in metrics.filter(|metric| metric.name == "shmem.calls") {
        let Some(Data::Sum(calls)) = &metric.data else { panic!("{metric:?}") };
        for point in calls.data_points.iter().filter(|point| text(&point.attributes, "shmem.op") == "p") {
            if let Some(number_data_point::Value::AsInt(count)) = point.value {
                puts += count;
            }
        }
    }
    let job = text(&resource.resource.clone().unwrap_or_default().attributes, "shmem.job");
    serde_json::json!({ "job": job, "puts": puts })
}

/// What the batch script has written.
fn output(folder: &Path) -> String {
    let is_output = |name: &String| name.starts_with("heat-") && name.ends_with(".out");
    let find = || system::entries(folder).into_iter().find(is_output);
    // `sbatch --wait` may be told before the node has closed the file.
    system::wait_until(Duration::from_secs(5), || find().is_some());
    let name = find().expect("the output of the script");
    std::fs::read_to_string(folder.join(name)).expect("text")
}

/// What the page says of `MpiDefault`, and of users' own default.
fn without_a_default(cluster: &Cluster, folder: &Path) {
    let outcome = run(cluster, folder, "srun -n 2 ./a.out").run().expect_failure();
    outcome.expect_text(&["--mpi=pmi2", "--mpi=pmix"]);
    let outcome = run(cluster, folder, "SLURM_MPI_TYPE=pmi2 srun -n 2 ./a.out").run().expect_code(0);
    outcome.expect_text(&["OK, all 2 PEs signed"]);
}
