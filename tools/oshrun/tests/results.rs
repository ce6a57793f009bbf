//! The profile at the end of a job, as far as it can be seen without the library.
mod common;

use common::{Folder, command, shell};

#[test]
fn the_directory_is_kept_and_never_overwritten() {
    let folder = Folder::new("kept");
    for (round, name) in ["pellucid-true.prof", "pellucid-true.prof.2", "pellucid-true.prof.3"].iter().enumerate() {
        let output = command(&["-n", "2", "--profile", "true"]).current_dir(&folder.0).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout.is_empty(), "what the program prints stays clean");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("profile of true"), "round {round}: {err}");
        assert!(err.ends_with(&format!("oshprof report {name}\n")), "round {round}: {err}");
        assert!(folder.0.join(name).join("job.json").is_file());
    }
}

#[test]
fn without_the_option_nothing_is_printed_or_written() {
    let folder = Folder::new("silent");
    for args in [&["-n", "2", "true"][..], &["--profile", "off", "true"]] {
        let output = command(args).current_dir(&folder.0).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_written_is_said_once_and_changes_no_status() {
    let folder = Folder::new("refused");
    let file = folder.file("file", "", false);
    for (directory, status) in [(format!("{file}/below"), 0), ("/proc/no/such".to_string(), 5)] {
        let result = shell(&["--profile-dir", &directory], &format!("exit {status}"));
        assert_eq!(result.status, status);
        let lines = result.err.lines().filter(|line| line.contains("the profile is not kept: cannot make "));
        assert_eq!(lines.count(), 1, "{}", result.err);
        assert!(result.err.contains(&directory), "{}", result.err);
    }
}
