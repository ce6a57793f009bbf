//! Exports have every call, in the form that the reader's format asks for.

use serde_json::Value;

use crate::runs::{PES, oshprof, profiles, rows, version};

#[test]
fn every_format_has_every_call() {
    let run = profiles("export", &version("BASE"), 1, &["3"]);
    let dir = run[0].to_str().unwrap();
    let text = |format: &str| oshprof(&["export", dir, "--to", format]).run().expect_code(0).stdout;
    let parsed = |format: &str| serde_json::from_str::<Value>(&text(format)).unwrap();

    let puts: u64 = text("csv")
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| cells[1] == "shmem_long_put")
        .map(|cells| cells[6].parse::<u64>().unwrap())
        .sum();
    assert_eq!(puts, 3 * PES as u64);
    let lines = text("benchstat");
    assert!(lines.starts_with("Unit calls/run assume=exact\n"), "{lines}");
    let put = lines.lines().find(|line| line.contains("op=shmem_long_put/site=exchange#1")).unwrap();
    assert!(put.starts_with("BenchmarkShmem/") && put.ends_with("ns/op 24 calls/run 12288 bytes/run"), "{put}");
    assert!(parsed("gab").as_array().unwrap().iter().all(|row| row["name"].is_string() && row["value"].is_number()));
    assert!(parsed("bmf")["run"]["latency"]["value"].as_f64().unwrap() > 0.0);
    assert!(text("openmetrics").ends_with("# EOF\n"));

    fn inclusive(node: &Value) -> f64 {
        let own = node["metrics"]["time"].as_f64().unwrap();
        let sum = own + rows(node, "children").iter().map(inclusive).sum::<f64>();
        assert!((sum - node["metrics"]["time (inc)"].as_f64().unwrap()).abs() < 1e-9, "{node:#}");
        sum
    }
    assert!(inclusive(&parsed("hatchet")[0]) > 0.0);

    oshprof(&["export", dir, "--to", "excel"])
        .run()
        .expect_code(2)
        .expect_text(&["invalid value 'excel' for '--to <FORMAT>'", "benchstat, gab"]);
    oshprof(&["export", "/no/such/profile", "--to", "csv"]).run().expect_code(1).expect_text(&["/no/such/profile"]);
    oshprof(&["export", dir, "--to", "csv", "-o", "/no/such/folder/f"])
        .run()
        .expect_code(1)
        .expect_text(&["/no/such/folder/f"]);
}
