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
const REPORTS: [(&str, &[&str]); 59] = [
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
    ("waits.csv", &["--view", "waits", "--csv"]),
    ("markers.csv", &["--view", "markers", "--csv"]),
    ("contexts.csv", &["--view", "contexts", "--csv"]),
    ("teams.csv", &["--view", "teams", "--csv"]),
    ("network.csv", &["--view", "network", "--csv"]),
    ("waits.txt", &["--view", "waits"]),
    ("routine-wide.txt", &["--wide"]),
    ("matrix.json", &["--view", "matrix", "--json"]),
    ("callsites.json", &["--view", "callsites", "--json"]),
    ("imbalance.json", &["--view", "imbalance", "--json"]),
    ("nbi.json", &["--view", "nbi", "--json"]),
    ("regions.json", &["--view", "regions", "--json"]),
    ("contexts.json", &["--view", "contexts", "--json"]),
    ("phases.txt", &["--view", "phases"]),
    ("phases.csv", &["--view", "phases", "--csv"]),
    ("phases.json", &["--view", "phases", "--json"]),
    ("causes.txt", &["--view", "causes"]),
    ("causes.csv", &["--view", "causes", "--csv"]),
    ("causes.json", &["--view", "causes", "--json"]),
    ("locks.txt", &["--view", "locks"]),
    ("locks.csv", &["--view", "locks", "--csv"]),
    ("locks.json", &["--view", "locks", "--json"]),
    ("addresses.txt", &["--view", "addresses"]),
    ("addresses.csv", &["--view", "addresses", "--csv"]),
    ("addresses.json", &["--view", "addresses", "--json"]),
    ("rates.txt", &["--view", "rates"]),
    ("rates.csv", &["--view", "rates", "--csv"]),
    ("rates.json", &["--view", "rates", "--json"]),
    ("timeline.txt", &["--view", "timeline"]),
    ("timeline.csv", &["--view", "timeline", "--csv"]),
    ("efficiency.txt", &["--view", "efficiency"]),
    ("efficiency.csv", &["--view", "efficiency", "--csv"]),
    ("efficiency.json", &["--view", "efficiency", "--json"]),
];

/// Cases whose JSON is worth keeping: the others would only be long.
const WITH_JSON: [&str; 2] = ["stencil", "killed"];

#[test]
fn reports_match_their_golden_texts() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut different = Vec::new();
    let cache = Scratch::new("cache");
    cases::calibration().keep(&cache.path().join("pellucid")).unwrap();
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
                .env("XDG_CACHE_HOME", cache.path())
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
        for line in text.lines().filter(|line| !line.starts_with("note:") && name != "routine-wide.txt") {
            assert!(line.chars().count() <= 80, "{case} {name}: more than 80 columns: {line}");
        }
    }
}

fn oshprof(args: &[&str], dir: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_oshprof")).args(args).arg(dir).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Some of the tables of a report.
const VIEWS: &str = "efficiency phases causes locks addresses timeline imbalance waits regions markers contexts teams \
                     algorithms network distances pe";

/// What a spreadsheet or pandas expects: one line of names, and as many fields in every other.
#[test]
fn every_table_is_a_file_of_its_own() {
    let dir = Scratch::new("tables");
    file::write(&cases::all().remove(0).1, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let tables = dir.path().with_extension("tables");
    let _ = fs::remove_dir_all(&tables);
    oshprof(&["report", "--csv-dir", tables.to_str().unwrap()], dir.path());
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&tables).unwrap().flatten() {
        let (path, text) = (entry.path(), fs::read_to_string(entry.path()).unwrap());
        let commas = |line: &str| line.split('"').step_by(2).map(|part| part.matches(',').count()).sum::<usize>();
        let mut lines = text.split_terminator("\r\n");
        let header = lines.next().unwrap_or_default();
        assert!(commas(header) > 0 && !header.contains('"'), "{}: {header}", path.display());
        for line in lines {
            assert_eq!(commas(line), commas(header), "{}: {line}", path.display());
            assert!(!line.is_empty() && line != header, "{}: two tables", path.display());
        }
        let view = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert_eq!(text, oshprof(&["report", "--csv", "--view", &view], dir.path()), "{view}");
        names.push(view);
    }
    for view in VIEWS.split(' ') {
        assert!(names.iter().any(|name| name == view), "{view} is not among {names:?}");
    }
    let write = || {
        Command::new(env!("CARGO_BIN_EXE_oshprof"))
            .args(["report", "--csv-dir"])
            .args([&tables, dir.path()])
            .output()
            .unwrap()
    };
    // Nothing is overwritten.
    let again = write();
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains(".csv: File exists"), "{again:?}");
    // Nor is anything written where others could put links.
    fs::remove_dir_all(&tables).unwrap();
    fs::create_dir(&tables).unwrap();
    fs::set_permissions(&tables, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let open = write();
    assert_eq!((open.status.code(), fs::read_dir(&tables).unwrap().count()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&open.stderr).contains("can be written to by every user"), "{open:?}");
    fs::remove_dir_all(&tables).unwrap();
}

#[test]
fn all_views_are_one_object() {
    let dir = Scratch::new("all-views");
    file::write(&cases::all().remove(0).1, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let all: serde_json::Value =
        serde_json::from_str(&oshprof(&["report", "--view", "all", "--json"], dir.path())).unwrap();
    let members = [
        "routines",
        "efficiency",
        "phases",
        "causes",
        "locks",
        "addresses",
        "timeline",
        "per_size",
        "per_peer",
        "per_pe",
        "matrix",
        "callsites",
        "imbalance",
        "waits",
        "nbi",
    ];
    for name in members.into_iter().chain(["regions", "contexts", "teams", "algorithms", "by_distance", "network"]) {
        assert!(!all[name].is_null(), "{name}");
        let view = match name {
            "per_size" => "sizes",
            "per_peer" => "peer",
            "per_pe" => "pe",
            "by_distance" => "distances",
            name => name,
        };
        let alone: serde_json::Value =
            serde_json::from_str(&oshprof(&["report", "--view", view, "--json"], dir.path())).unwrap();
        assert_eq!(alone[name], all[name], "{name}");
    }
    let text = oshprof(&["report", "--view", "all"], dir.path());
    for part in ["Message sizes\n=====", "Call sites\n=====", "PEs\n==="] {
        assert!(text.contains(part), "{part}");
    }
}

/// The PE that waits least is the one that the others wait for: it is what a reader looks for.
#[test]
fn both_extremes_are_shown_whatever_the_number_of_pes() {
    let (_, profile) = cases::all().into_iter().find(|(case, _)| *case == "crowd").unwrap();
    let dir = Scratch::new("extremes");
    file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&oshprof(&["report", "--view", "pe", "--json"], dir.path())).unwrap();
    let waiting = |pe: &&serde_json::Value| -> u64 {
        pe["waiting_ns"].as_object().unwrap().values().map(|ns| ns.as_u64().unwrap()).sum()
    };
    let pes = json["per_pe"].as_array().unwrap();
    assert!(pes.len() > 16);
    let [most, least] =
        [pes.iter().max_by_key(waiting), pes.iter().min_by_key(waiting)].map(|pe| pe.unwrap()["pe"].clone());
    let text = oshprof(&["report"], dir.path());
    let page = dir.path().with_extension("html");
    oshprof(&["report", "--html", page.to_str().unwrap()], dir.path());
    let html = fs::read_to_string(&page).unwrap();
    fs::remove_file(&page).unwrap();
    for pe in [most, least.clone()] {
        assert!(text.lines().any(|line| line.starts_with(&format!("PE {pe} "))), "PE {pe} is not in\n{text}");
        assert!(html.contains(&format!(">PE {pe}<")), "PE {pe} is not in the page");
    }
    assert!(text.contains(&format!("\nPE {least} waits least")), "{text}");
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
