//! `--gdb`: the debugger for one PE in the terminal, or under tmux a window for each of several.
//!
//! In the terminal the PE is what `gdb` runs, and the terminal is `gdb`'s until that ends. In a window `gdb` attaches
//! to a PE that has not begun yet: a shell in its place stops itself, and becomes the program when it goes on. So the
//! PE stays a child of this process, and writes where all others do.

use crate::sys::file;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};

/// Commands to begin with: where a program has no `main`, it runs.
const BEGIN: [&str; 6] =
    ["-iex", "set breakpoint pending off", "-ex", "tbreak main", "-ex", "set breakpoint pending auto"];
/// As a shell in place of the program: it stops, and goes on as that.
const STOPPED_SHELL: &str = "kill -STOP $$; exec \"$0\" \"$@\"";

/// Which PEs have a debugger, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Debugger {
    /// One, in our terminal.
    Terminal(u32),
    /// Each in a window of tmux.
    Windows(Vec<u32>),
}

/// A value of `--gdb`: PEs, or nothing for PE 0.
pub fn pes(value: &OsStr) -> Result<Vec<u32>, String> {
    let text = crate::values::text(value)?;
    let text = if text.is_empty() { "0" } else { text };
    let numbers = text.split(',').map(|number| number.parse().ok());
    let mut pes = numbers.collect::<Option<Vec<u32>>>().ok_or("expected numbers of PEs: 0,2,3")?;
    pes.sort_unstable();
    pes.dedup();
    Ok(pes)
}

impl Debugger {
    /// Where these PEs of a job of `npes` have one. Error: what is missing.
    pub fn find(pes: Option<&[u32]>, npes: u32) -> Result<Option<Debugger>, String> {
        let Some(pes) = pes else { return Ok(None) };
        let wrong = |what: &str| Err(format!("option --gdb: {what}"));
        if let Some(pe) = pes.iter().find(|pe| **pe >= npes) {
            return wrong(&format!("there is no PE {pe}: PEs are 0 to {}", npes - 1));
        }
        if crate::program::locate(OsStr::new("gdb")).is_err() {
            return wrong("gdb is not found in PATH (Debian's package is gdb)");
        }
        let is_under_tmux = std::env::var_os("TMUX").is_some_and(|tmux| !tmux.is_empty());
        match pes {
            [one] if io::stdin().is_terminal() && io::stdout().is_terminal() => Ok(Some(Debugger::Terminal(*one))),
            [_] if !is_under_tmux => wrong("standard input and output are no terminal"),
            _ if is_under_tmux => Ok(Some(Debugger::Windows(pes.to_vec()))),
            _ => wrong("several PEs have a window of tmux each: start oshrun within tmux, or name one PE"),
        }
    }

    /// The PE whose debugger has our terminal.
    pub fn in_terminal(&self) -> Option<u32> {
        match self {
            Debugger::Terminal(pe) => Some(*pe),
            Debugger::Windows(_) => None,
        }
    }

    /// Whether this PE has our terminal.
    pub fn has_terminal(&self, pe: u32) -> bool {
        self.in_terminal() == Some(pe)
    }

    /// What is started in place of a program, and with which arguments before those of the program; `None`: nothing
    /// else.
    pub fn wrap(&self, pe: u32, file: &Path) -> Option<Command> {
        match self {
            Debugger::Terminal(one) if *one == pe => {
                let mut command = Command::new("gdb");
                command.arg("-q").args(BEGIN).args(["-ex", "run", "--args"]).arg(file);
                Some(command)
            }
            Debugger::Windows(pes) if pes.contains(&pe) => {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", STOPPED_SHELL]).arg(file);
                Some(command)
            }
            _ => None,
        }
    }

    /// Opens the window of a PE that was started. Error: why it cannot be.
    pub fn open(&self, pe: u32, pid: i32) -> Result<(), String> {
        if !matches!(self, Debugger::Windows(pes) if pes.contains(&pe)) {
            return Ok(());
        }
        // Up to where the shell has become the program.
        let mut gdb: Vec<OsString> = ["gdb", "-q", "-p", &pid.to_string()].map(OsString::from).into();
        let until_it_begins =
            ["handle SIGSTOP nostop noprint nopass", "tcatch exec", "continue", "handle SIGSTOP stop print pass"];
        gdb.extend(until_it_begins.iter().flat_map(|command| ["-ex", command]).map(OsString::from));
        gdb.extend(BEGIN.map(OsString::from));
        gdb.extend(["-ex", "continue"].map(OsString::from));
        let mut tmux = Command::new("tmux");
        tmux.args(["new-window", "-d", "-n", &format!("PE {pe}")]).args(gdb).stdin(Stdio::null());
        let output = tmux.output().map_err(|error| format!("tmux: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("tmux: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// The terminal is ours again.
pub fn take_terminal_back() {
    file::take_foreground(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_pes() {
        assert_eq!(pes(OsStr::new("")), Ok(vec![0]));
        assert_eq!(pes(OsStr::new("3,1,3")), Ok(vec![1, 3]));
        for wrong in ["x", "1,", "-1"] {
            assert!(pes(OsStr::new(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(Debugger::find(None, 2), Ok(None));
        let error = Debugger::find(Some(&[2]), 2).unwrap_err();
        assert_eq!(error, "option --gdb: there is no PE 2: PEs are 0 to 1");
    }

    #[test]
    fn only_the_pes_named_are_wrapped() {
        let file = Path::new("/p");
        let shown = |command: Option<Command>| command.map(|it| it.get_program().to_owned());
        assert_eq!(shown(Debugger::Terminal(1).wrap(1, file)), Some("gdb".into()));
        assert_eq!(shown(Debugger::Terminal(1).wrap(0, file)), None);
        assert_eq!(shown(Debugger::Windows(vec![0, 2]).wrap(2, file)), Some("/bin/sh".into()));
        assert!(Debugger::Terminal(1).has_terminal(1) && !Debugger::Windows(vec![1]).has_terminal(1));
    }
}
