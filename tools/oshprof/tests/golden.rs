//! Every report of every case against its golden text. `UPDATE_GOLDEN=1` rewrites them.

mod cases;
mod scratch;

use std::fs;
use std::path::Path;
use std::process::Command;

use pellucid_profile::file;
use pellucid_profile::output::OutputDir;
use scratch::Scratch;

/// Reports: file name and options.
const REPORTS: [(&str, &[&str]); 32] = [
    ("routine.txt", &[]),
    ("routine-top.txt", &["--top", "2", "--sort", "calls"]),
    ("pe.txt", &["--by", "pe"]),
    ("size.txt", &["--by", "size"]),
    ("peer.txt", &["--by", "peer"]),
    ("routine.json", &["--json"]),
    ("routine-top.json", &["--json", "--top", "1", "--sort", "name"]),
    ("pe.json", &["--by", "pe", "--json"]),
    ("size.json", &["--by", "size", "--json"]),
    ("peer.json", &["--by", "peer", "--json"]),
    ("matrix.txt", &["--view", "matrix"]),
    ("callsites.txt", &["--view", "callsites"]),
    ("imbalance.txt", &["--view", "imbalance"]),
    ("nbi.txt", &["--view", "nbi"]),
    ("regions.txt", &["--view", "regions"]),
    ("contexts.txt", &["--view", "contexts"]),
    ("counters.txt", &["--view", "counters"]),
    ("network.txt", &["--view", "network"]),
    ("counters.csv", &["--view", "counters", "--csv"]),
    ("counters.json", &["--view", "counters", "--json"]),
    ("network.json", &["--view", "network", "--json"]),
    ("routines.csv", &["--view", "routines", "--csv"]),
    ("sizes.csv", &["--view", "sizes", "--csv"]),
    ("matrix.csv", &["--view", "matrix", "--csv"]),
    ("imbalance.csv", &["--view", "imbalance", "--csv"]),
    ("regions.csv", &["--view", "regions", "--csv"]),
    ("matrix.json", &["--view", "matrix", "--json"]),
    ("callsites.json", &["--view", "callsites", "--json"]),
    ("imbalance.json", &["--view", "imbalance", "--json"]),
    ("nbi.json", &["--view", "nbi", "--json"]),
    ("regions.json", &["--view", "regions", "--json"]),
    ("contexts.json", &["--view", "contexts", "--json"]),
];

/// Cases whose JSON is worth keeping: the others would only be long.
const WITH_JSON: [&str; 2] = ["stencil", "killed"];

#[test]
fn reports_match_their_golden_texts() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut different = Vec::new();
    for (case, profile) in cases::all() {
        let dir = Scratch::new(case);
        file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
        for (name, options) in REPORTS {
            if !name.ends_with(".txt") && !WITH_JSON.contains(&case) {
                continue;
            }
            let output = Command::new(env!("CARGO_BIN_EXE_oshprof"))
                .arg("report")
                .arg(dir.path())
                .args(options)
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(
                output.status.success() && output.stderr.is_empty(),
                "{case} {name}: {output:?}",
                output = output.stderr
            );
            check_width(case, name, &text);
            let golden = root.join(case).join(name);
            if update {
                fs::create_dir_all(root.join(case)).unwrap();
                fs::write(&golden, &text).unwrap();
            } else if fs::read_to_string(&golden).unwrap_or_default() != text {
                different.push(format!("{}:\n{text}", golden.display()));
            }
        }
    }
    assert!(different.is_empty(), "differ from their golden texts:\n{}", different.join("\n"));
}

fn check_width(case: &str, name: &str, text: &str) {
    if name.ends_with(".txt") {
        for line in text.lines().filter(|line| !line.starts_with("note:")) {
            assert!(line.chars().count() <= 100, "{case} {name}: more than 100 columns: {line}");
        }
    }
}

#[test]
fn json_keeps_its_contract() {
    let (case, profile) = cases::all().remove(0);
    let dir = Scratch::new(&format!("contract-{case}"));
    file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_oshprof"))
        .args(["report", "--by", "pe", "--json"])
        .arg(dir.path())
        .output()
        .unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in ["schema_version", "pes", "wall_ns"] {
        assert!(value[name].is_u64(), "{name}");
    }
    let per_pe = value["per_pe"].as_array().unwrap();
    assert_eq!(per_pe.len(), 4);
    let routines = value["routines"].as_array().unwrap();
    for routine in per_pe.iter().flat_map(|pe| pe["routines"].as_array().unwrap()).chain(routines) {
        for name in ["calls", "bytes", "errors", "timed_calls"] {
            assert!(routine[name].is_u64(), "{routine}");
        }
        for name in ["total", "mean", "p50", "p99", "max", "total_stderr"] {
            assert!(routine["time_ns"][name].is_number(), "{routine}");
        }
    }
    let sum = |name: &str, of: &serde_json::Value| {
        of["routines"].as_array().unwrap().iter().map(|r| r[name].as_u64().unwrap()).sum::<u64>()
    };
    for name in ["calls", "bytes", "errors", "timed_calls"] {
        assert_eq!(per_pe.iter().map(|pe| sum(name, pe)).sum::<u64>(), sum(name, &value), "{name}");
    }
    let put = routines.iter().find(|r| r["name"] == "shmem_double_put").unwrap();
    assert_eq!((put["calls"].as_u64(), put["bytes"].as_u64()), (Some(200), Some(4 * (48 * 65_536 + 2 * 4096))));
}
