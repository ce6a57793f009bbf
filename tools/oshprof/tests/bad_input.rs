//! Wrong usage and damaged profiles: a message that names what is wrong, the right exit status, and what can be read.

mod cases;
mod scratch;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use pellucid_profile::file;
use pellucid_profile::output::OutputDir;
use scratch::Scratch;

fn oshprof(args: &[&str], dir: Option<&Path>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oshprof")).args(args).args(dir).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn profile(name: &str) -> Scratch {
    let dir = Scratch::new(name);
    file::write(&cases::all().remove(0).1, &OutputDir::take(dir.path()).unwrap()).unwrap();
    dir
}

#[test]
fn usage_errors_exit_with_2() {
    for (args, part) in [
        (&[][..], "requires a subcommand"),
        (&["frobnicate"], "'frobnicate'"),
        (&["report", "d", "--view", "all", "--csv"], "--csv-dir DIR"),
        (&["report", "d", "--by", "colour"], "'colour'"),
        (&["report", "d", "--sort", "size"], "'size'"),
        (&["report", "d", "--top", "-1"], "'-1'"),
    ] {
        let output = oshprof(args, None);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(part) && output.stdout.is_empty(), "{args:?}: {}", stderr(&output));
    }
    for args in [&["-h"][..], &["--help"], &["report", "-h"], &["--version"]] {
        let output = oshprof(args, None);
        assert!(output.status.success() && !output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn what_is_no_profile_exits_with_1() {
    let dir = Scratch::new("no-profile");
    let output = oshprof(&["report"], Some(dir.path()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no-profile: no such directory"), "{}", stderr(&output));
    fs::create_dir_all(dir.path()).unwrap();
    let output = oshprof(&["report"], Some(dir.path()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no-profile: not a profile"), "{}", stderr(&output));
    // As the launcher leaves it that is killed.
    fs::write(dir.path().join(".pellucid-job"), "0123456789abcdef\n").unwrap();
    let output = oshprof(&["report"], Some(dir.path()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("or oshrun was killed before it wrote one"), "{}", stderr(&output));
    fs::remove_file(dir.path().join(".pellucid-job")).unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    let output = oshprof(&["report"], Some(&file));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("file: not a directory"), "{}", stderr(&output));
}

#[test]
fn a_damaged_profile_is_reported_as_far_as_it_goes() {
    let dir = profile("damaged");
    let path = dir.path().join("pe-00002.prof");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let output = oshprof(&["report"], Some(dir.path()));
    assert_eq!(output.status.code(), Some(1));
    let offset = format!("pe-00002.prof: truncated at offset {}", bytes.len() / 2);
    assert!(stderr(&output).contains(&offset), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("shmem_barrier_all"));

    let output = oshprof(&["report", "--json"], Some(dir.path()));
    assert_eq!(output.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["problems"][0].as_str().unwrap().contains("pe-00002.prof"));

    fs::write(dir.path().join("job.json"), "{ \"format\": ").unwrap();
    let output = oshprof(&["report", "--by", "pe"], Some(dir.path()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("job.json: truncated"), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("node7"));
}

#[test]
fn another_version_is_refused_by_name() {
    let dir = profile("version");
    let path = dir.path().join("job.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"version\": 1", "\"version\": 2");
    fs::write(&path, text).unwrap();
    let output = oshprof(&["report"], Some(dir.path()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("job.json: written by version 2"), "{}", stderr(&output));
}
