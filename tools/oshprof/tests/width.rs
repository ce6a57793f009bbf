//! A report on a terminal is as wide as that.

mod cases;
mod scratch;

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

use pellucid_profile::file;
use pellucid_profile::output::OutputDir;
use pellucid_profile::report::VIEWS;
use scratch::Scratch;

/// What a command prints on a terminal of so many columns.
fn on_terminal(command: &mut Command, columns: u16) -> String {
    let (mut ours, mut its) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let none = std::ptr::null_mut();
    // SAFETY: places for two descriptors, and a size that is only read.
    let opened = unsafe { libc::openpty(&raw mut ours, &raw mut its, none, none.cast(), (&raw const size).cast_mut()) };
    assert_eq!(opened, 0);
    // SAFETY: both descriptors are new and nobody else's.
    let (mut ours, its) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(its)) };
    let mut child = command.stdout(its).spawn().expect("the command starts");
    // The command kept the other end, which has to close for the text to end.
    command.stdout(std::process::Stdio::null());
    let mut text = Vec::new();
    // At the end a terminal gives an error.
    let _ = ours.read_to_end(&mut text);
    assert!(child.wait().expect("it ends").success());
    String::from_utf8_lossy(&text).replace('\r', "")
}

/// Without what sets colours.
fn plain(text: &str) -> String {
    text.split("\x1b[")
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect()
}

#[test]
fn colours_are_for_terminals_whose_user_wants_them() {
    let dir = Scratch::new("colours");
    file::write(&cases::all().remove(0).1, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let report = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oshprof"));
        command.arg("report").arg(dir.path()).env("TERM", "xterm").env_remove("NO_COLOR");
        command
    };
    let coloured = on_terminal(&mut report(), 80);
    assert!(coloured.contains("\x1b[33mnote: "), "{coloured}");
    for unwanted in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        assert_eq!(on_terminal(report().env(unwanted.0, unwanted.1), 80), plain(&coloured), "{unwanted:?}");
    }
    let piped = report().output().unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), plain(&coloured));
}

/// A reader that has seen enough is no failure: no message, and the exit status of a report.
#[test]
fn a_pipe_may_end_early() {
    let dir = Scratch::new("pipe");
    file::write(&cases::all().remove(0).1, &OutputDir::take(dir.path()).unwrap()).unwrap();
    for form in [&["--view", "all"][..], &["--json", "--view", "all"], &["--csv", "--view", "timeline"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oshprof"));
        command.arg("report").arg(dir.path()).args(form);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{form:?}");
    }
}

#[test]
fn text_is_as_wide_as_the_terminal() {
    let dir = Scratch::new("width");
    file::write(&cases::all().remove(0).1, &OutputDir::take(dir.path()).unwrap()).unwrap();
    for view in VIEWS.iter().map(|view| view.name) {
        let text = |columns| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_oshprof"));
            plain(&on_terminal(command.args(["report", "--view", view]).arg(dir.path()), columns))
        };
        let narrow = text(80);
        let table = narrow.split("\n\n").skip(1).flat_map(str::lines).filter(|line| !line.ends_with('.'));
        for line in table {
            assert!(line.chars().count() <= 80, "{view}: more than 80 columns: {line}");
        }
        if view == "routines" {
            assert!(text(200).lines().any(|line| line.chars().count() > 100), "{}", text(200));
        }
    }
}

#[test]
fn advice_is_as_wide_as_the_terminal() {
    let dir = Scratch::new("advice");
    let (_, crowd) = cases::all().into_iter().find(|(case, _)| *case == "crowd").unwrap();
    file::write(&crowd, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let text = |columns| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oshprof"));
        plain(&on_terminal(command.arg("advise").arg(dir.path()), columns))
    };
    let (narrow, wide) = (text(80), text(200));
    assert!(narrow.contains("\n   seen: ") && narrow.contains("\n         "), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert!(wide.lines().any(|line| line.chars().count() > 80), "{wide}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&wide));
    // Sentences have no need of 80 columns.
    let narrower = text(50);
    assert!(narrower.lines().all(|line| line.chars().count() <= 50), "{narrower}");
    assert_eq!(words(&narrower), words(&wide));
}

/// Help fits a terminal of 80 columns, that of each command that the program's own names.
#[test]
fn help_is_80_columns_wide() {
    let help = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_oshprof")).args(arguments).arg("--help").output();
        String::from_utf8(output.expect("oshprof runs").stdout).expect("text")
    };
    let all = help(&[]);
    let (_, list) = all.split_once("\nCommands:\n").expect("a list of commands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let commands: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() >= 12, "{commands:?}");
    let pages = commands.iter().map(|command| help(&[command])).chain([all.clone()]);
    for line in pages.flat_map(|page| page.lines().map(str::to_owned).collect::<Vec<_>>()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
