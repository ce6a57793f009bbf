//! What is committed is what the table says.

use std::path::Path;
use std::process::Command;

#[test]
fn committed_files_are_up_to_date() {
    let result = Command::new(env!("CARGO_BIN_EXE_pellucid-generate")).arg("--check").output().unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
}

#[test]
fn a_difference_is_named_with_its_line() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differs");
    let run = |check: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid-generate"));
        command.arg("--root").arg(&root);
        if check {
            command.arg("--check");
        }
        command.output().unwrap()
    };
    assert!(run(false).status.success());
    assert!(run(true).status.success());
    let header = root.join("include/shmem.h");
    let text = std::fs::read_to_string(&header).unwrap();
    std::fs::write(&header, text.replacen("SHMEM_MINOR_VERSION 6", "SHMEM_MINOR_VERSION 5", 1)).unwrap();
    let result = run(true);
    let line = text.lines().position(|line| line.contains("SHMEM_MINOR_VERSION 6")).unwrap() + 1;
    let message = String::from_utf8_lossy(&result.stderr);
    assert_eq!(result.status.code(), Some(1));
    assert!(message.contains(&format!("include/shmem.h:{line}: differs")), "{message}");
}

#[test]
fn wrong_options_are_refused() {
    for args in [&["--bogus"][..], &["--root"], &["--coverage"]] {
        let result = Command::new(env!("CARGO_BIN_EXE_pellucid-generate")).args(args).output().unwrap();
        assert_eq!(result.status.code(), Some(2), "{args:?}");
        let message = String::from_utf8_lossy(&result.stderr);
        assert!(message.contains(args[0]) && message.contains("usage:"), "{message}");
    }
}
