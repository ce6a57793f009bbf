//! How fast puts were and what held them up: `oshrun --calibrate`, and what the view says of programs whose puts are
//! known.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::hosts::{Hosts, write_script};
use harness::run::{Job, Running};
use harness::tree;
use serde_json::{Value, json};

/// A cache folder with a calibration, and what was said of it.
fn calibrated(name: &str, options: &[&str], transport: Option<&str>) -> (PathBuf, String) {
    let cache = tree::fresh(&format!("rates/{name}"));
    let job = Job::new(tree::tool("oshrun")).arg("--calibrate").args(options);
    let job = job.env("XDG_CACHE_HOME", &cache.to_string_lossy());
    let job = transport.into_iter().fold(job, |job, transport| job.env("SHMEM_TRANSPORT", transport));
    (cache, job.run().expect_code(0).stdout)
}

fn kept(cache: &Path) -> Vec<Value> {
    let entries = std::fs::read_dir(cache.join("pellucid")).expect("the cache");
    let files = entries.map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("a file"));
    files.map(|text| serde_json::from_str(&text).expect("JSON")).collect()
}

fn report(directory: &Path, cache: &Path, options: &[&str]) -> String {
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(directory).args(["--view", "rates"]);
    job.env("XDG_CACHE_HOME", &cache.to_string_lossy()).args(options).run().expect_code(0).stdout
}

/// The row of the routine that a mode of the program is about.
fn row(what: &str, routine: &str, cache: &Path) -> (Value, PathBuf) {
    let binary = Build::program("profile/rates.c").options(["-O2"]).build();
    let directory = tree::fresh(&format!("rates/{what}.prof")).join("profile");
    let job = Job::oshrun(2).args(["--heap", "300m", "--profile-dir"]).arg(&directory).arg(&binary).arg(what);
    job.run().expect_code(0);
    let report: Value = serde_json::from_str(&report(&directory, cache, &["--json"])).expect("JSON");
    let rows = report["rates"].as_array().cloned().unwrap_or_default();
    let found = rows.iter().find(|row| row["routine"] == routine);
    (found.cloned().unwrap_or_else(|| panic!("no {routine}: {report:#}")), directory)
}

fn number(row: &Value, member: &str) -> f64 {
    row[member].as_f64().unwrap_or_else(|| panic!("no {member}: {row}"))
}

fn why(row: &Value) -> &str {
    row["why"].as_str().unwrap_or_default()
}

#[test]
fn what_holds_puts_up_is_told_apart() {
    let (cache, said) = calibrated("memory", &[], None);
    assert!(said.starts_with("calibrated on ") && said.contains(", through memory: spread "), "{said}");
    for row in ["put", "get", "atomic", "strided"] {
        assert!(said.lines().any(|line| line.trim_start().starts_with(row)), "{said}");
    }
    let (first, _) = row("first", "shmem_putmem", &cache);
    // 64 puts of 4 MiB, 1024 pages each.
    assert_eq!((number(&first, "calls"), &first["size"]), (64.0, &"4 MiB".into()), "{first}");
    assert!(number(&first, "page_faults") > 0.9 * 64.0 * 1024.0, "{first}");
    let (busy, _) = row("busy", "shmem_putmem", &cache);
    assert!(number(&busy, "busy") > 0.25 && number(&busy, "page_faults") < 64.0 * 1024.0 / 4.0, "{busy}");
    let (strided, directory) = row("strided", "shmem_long_iput", &cache);
    assert!(why(&strided).starts_with("strided: elements of 8 bytes one by one, for which "), "{strided}");
    let (well, _) = row("well", "shmem_putmem", &cache);
    assert!(number(&well, "page_faults") < 64.0 * 1024.0 / 4.0 && number(&well, "busy") <= 0.25, "{well}");
    assert!(!why(&well).contains("page faults") && !why(&well).contains("moved data"), "{well}");
    for row in [&first, &busy, &strided, &well] {
        let (rate, best, share) = (number(row, "rate"), number(row, "best"), number(row, "share"));
        assert!(rate > 0.0 && best > 0.0 && (0.0..=1.0).contains(&share), "{row}");
        assert!((share - (rate / best).min(1.0)).abs() < 1e-6, "{row}");
        // What is told is told of calls that are slower than the best.
        assert!(row == &strided || why(row).is_empty() || share < 0.8, "{row}");
    }
    let text = report(&directory, &cache, &[]);
    assert!(text.contains("best here: oshrun --calibrate on "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let without = report(&directory, &tree::fresh("rates/empty"), &["--csv"]);
    assert!(without.starts_with("of,routine,size,calls,rate,best,share,over_ns,"), "{without}");
    let without = report(&directory, &tree::fresh("rates/empty"), &[]);
    assert!(without.contains("run oshrun --calibrate once on this host"), "{without}");
}

#[test]
fn each_way_has_a_calibration_of_its_own() {
    let (cache, _) = calibrated("both", &[], None);
    let options = ["-x", "SHMEM_OFI_PROVIDER=tcp;ofi_rxm"];
    let said = Job::new(tree::tool("oshrun")).arg("--calibrate").args(options);
    let said = said.env("XDG_CACHE_HOME", &cache.to_string_lossy()).env("SHMEM_TRANSPORT", "ofi").run();
    let said = said.expect_code(0).stdout;
    assert!(said.contains(", tcp;ofi_rxm: spread "), "{said}");
    let all = kept(&cache);
    let mut ways: Vec<&str> = all.iter().filter_map(|one| one["way"].as_str()).collect();
    ways.sort_unstable();
    assert_eq!(ways, ["memory", "tcp;ofi_rxm"]);
    for one in &all {
        let points = one["points"].as_array().expect("points");
        assert!(
            points.len() > 20 && one["library"].as_str().is_some_and(|text| text.starts_with("Pellucid ")),
            "{one}"
        );
        let ns = |kind: &str, bytes: u64| {
            let point = points.iter().find(|p| p["kind"] == kind && p["bytes"] == bytes);
            number(point.unwrap_or_else(|| panic!("no {kind} of {bytes}: {one}")), "ns")
        };
        assert!(
            ns("put", 8) < ns("put", 8 << 20) && ns("get", 8) < ns("get", 8 << 20) && ns("atomic", 8) > 0.0,
            "{one}"
        );
    }
}

/// Over real hosts: what goes between them is measured by a job on both, and a profile of such a job finds it.
#[test]
fn hosts_have_a_calibration_of_what_goes_between_them() {
    let Some(net) = Hosts::new(2) else { return };
    let cache = tree::fresh("rates/hosts");
    let home = ("XDG_CACHE_HOME", cache.to_string_lossy().into_owned());
    let job = net.oshrun_with(&["--calibrate", "--hosts", "a,b"]).env(home.0, &home.1);
    let said = job.env("SHMEM_OFI_PROVIDER", "tcp;ofi_rxm").run().expect_code(0).stdout;
    assert!(said.starts_with("calibrated from a to b, tcp;ofi_rxm: spread "), "{said}");
    let all = kept(&cache);
    assert_eq!((all.len(), &all[0]["hosts"], &all[0]["way"]), (1, &json!(["a", "b"]), &"tcp;ofi_rxm".into()));
    for point in all[0]["points"].as_array().expect("points") {
        // A message and its answer have been under way.
        assert!(number(point, "ns") > 500.0, "{point}");
    }
    let binary = Build::program("profile/rates.c").options(["-O2"]).build();
    let directory = tree::fresh("rates/hosts.prof").join("profile");
    let job = net.oshrun_with(&["--hosts", "a,b", "--heap", "300m", "--profile-dir"]).arg(&directory);
    job.env("SHMEM_OFI_PROVIDER", "tcp;ofi_rxm").arg(&binary).arg("well").run().expect_code(0);
    let report: Value = serde_json::from_str(&report(&directory, &cache, &["--json"])).expect("JSON");
    let rows = report["rates"].as_array().cloned().unwrap_or_default();
    let far = rows.iter().find(|row| row["distance"] == "remote").unwrap_or_else(|| panic!("none: {report:#}"));
    assert!(number(far, "rate") > 0.0 && number(far, "best") > 0.0, "{far}");
}

/// Containers and virtual machines may all be called the same: what goes over a network is not taken for memory.
#[test]
fn hosts_of_one_name_are_told_from_one_host() {
    let cache = tree::fresh("rates/one-name");
    let agent = tree::scratch("hosts").join(format!("here-{}.sh", std::process::id()));
    write_script(&agent, "#!/bin/sh\n# Any host is this one.\nshift\nexec \"$@\"\n");
    let run = |options: &[&str]| {
        let job = Job::new(tree::tool("oshrun")).arg("--launch-agent").arg(&agent);
        job.args(["--hosts", "localhost,127.0.0.2"]).args(options).env("XDG_CACHE_HOME", &cache.to_string_lossy())
    };
    let said = run(&["--calibrate"]).run().expect_code(0).stdout;
    assert!(said.starts_with("calibrated on ") && said.contains(", network: spread "), "{said}");
    assert_eq!(kept(&cache).iter().map(|one| one["way"].clone()).collect::<Vec<_>>(), ["network"]);
    let binary = Build::program("profile/rates.c").options(["-O2"]).build();
    let directory = tree::fresh("rates/one-name.prof").join("profile");
    let job = run(&["--heap", "300m", "--profile-dir"]).arg(&directory).arg(&binary).arg("well");
    job.run().expect_code(0);
    let text = report(&directory, &cache, &[]);
    assert!(text.contains(", network, spread "), "{text}");
    let report: Value = serde_json::from_str(&report(&directory, &cache, &["--json"])).expect("JSON");
    let far = report["rates"].as_array().into_iter().flatten().find(|row| row["distance"] == "remote");
    assert!(number(far.unwrap_or_else(|| panic!("none: {report:#}")), "best") > 0.0);
}

/// A machine at work is told from a quiet one: who measures has to stand in line for a core.
#[test]
fn a_calibration_beside_others_is_marked_and_does_not_last() {
    let (cache, _) = calibrated("loud", &[], None);
    let before = kept(&cache);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = || Job::new("/bin/sh").args(["-c", "while :; do :; done"]).start();
    let others: Vec<Running> = (0..4 * cores).map(|_| busy()).collect();
    let job = Job::new(tree::tool("oshrun")).arg("--calibrate").env("XDG_CACHE_HOME", &cache.to_string_lossy());
    let said = job.run().expect_code(0).stdout;
    drop(others);
    let coreless = said.split(", without a core ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    assert!(coreless.is_some_and(|percent| percent > 10.0), "{said}");
    // The first may have been measured beside others as well: then the newer of two that are marked stays.
    let is_loud = number(&before[0], "spread") > 0.25 || number(&before[0], "coreless") > 0.1;
    let (word, is_kept) =
        if is_loud { ("marked: others were at work", true) } else { ("not kept: others were", false) };
    assert!(said.contains(word), "{said}");
    assert_eq!(kept(&cache) != before, is_kept, "{said}");
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let oshrun = || Job::new(tree::tool("oshrun")).arg("--calibrate");
    oshrun().arg("true").run().expect_code(2).expect_text(&["--calibrate and a program exclude each other"]);
    oshrun().env("XDG_CACHE_HOME", "/dev/null").run().expect_code(1).expect_text(&["--calibrate: /dev/null/pellucid"]);
    let none = oshrun().env("SHMEM_SYMMETRIC_SIZE", "4k").run().expect_failure();
    none.expect_text(&["--calibrate: the job that measures ended with"]);
}
