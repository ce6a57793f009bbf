//! What the tests of this folder share: the library that cargo built with them, and C programs linked to it.
#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The static library that cargo built together with this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libsma-") && name.ends_with(".a")
    };
    let built =
        std::fs::read_dir(test.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).filter(is_library);
    built.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).expect("libsma.a next to the tests")
}

/// What a static link against the library needs besides.
pub const SYSTEM: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

/// Where a test puts what it makes.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Writes C text to a file.
pub fn source(name: &str, text: &str) -> PathBuf {
    let path = scratch(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The C compiler with the headers of this repository.
pub fn cc() -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    command.args(["-Wall", "-Wextra", "-Werror", "-O1"]).arg(format!("-I{}/../include", env!("CARGO_MANIFEST_DIR")));
    command
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) -> Output {
    let result = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        result.status.success(),
        "{command:?}: {}\n{}{}",
        result.status,
        text(&result.stdout),
        text(&result.stderr)
    );
    result
}
