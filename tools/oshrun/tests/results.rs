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
fn a_place_that_cannot_be_written_is_refused_before_anything_runs() {
    let folder = Folder::new("refused");
    let file = folder.file("file", "", false);
    for directory in [format!("{file}/below"), "/proc/no/such".to_string(), "/proc/zz".to_string()] {
        for (option, what) in [("--profile-dir", "profile"), ("--trace", "trace")] {
            let result = shell(&[&format!("{option}={directory}")], "echo has run");
            let (lines, said) =
                (result.err.lines().count(), format!("no place for the {what}, nothing was run: cannot make"));
            assert!(result.status == 1 && result.out.is_empty() && lines == 1, "{}{}", result.out, result.err);
            assert!(result.err.contains(&said) && result.err.contains(&directory[..8]), "{}", result.err);
        }
    }
}
