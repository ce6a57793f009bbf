//! Starting one PE, or whatever else the launcher starts.
#![allow(unsafe_code)]

use crate::plan::{Plan, rank_variables};
use crate::sys::cpu::CpuSet;
use crate::sys::file;
use crate::sys::limit::{self, Limit};
use crate::sys::process;
use crate::sys::signal::Set;
use crate::watchdog;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What every PE of a job gets.
pub struct Launch<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Where PEs announce their process groups.
    pub watchdog: RawFd,
    /// The limit of open files as the user had it.
    pub limit: Limit,
    /// The signal mask as the user had it.
    pub mask: Set,
}

/// A PE that was started.
pub struct Started {
    /// Its process, which leads a group of its own.
    pub pid: i32,
    /// What it writes.
    pub out: io::PipeReader,
    /// What it writes to standard error.
    pub err: io::PipeReader,
}

/// What another launcher has given to the process in which this one runs: it says nothing to the PEs, which take the
/// innermost launcher.
const OF_OTHERS: [&str; 3] = ["PMI_FD", "PMI_PORT", "PMI_ID"];

impl Launch<'_> {
    /// Starts one PE, the `place`th of this host. `wireup`: its end of the way to other hosts.
    pub fn start(&self, pe: u32, place: usize, input: Stdio, wireup: Option<OwnedFd>) -> io::Result<Started> {
        let debugger = self.plan.debugger.as_ref();
        let mut command = debugger.and_then(|debugger| debugger.wrap(pe, &self.plan.file)).unwrap_or_else(|| {
            let mut command = Command::new(&self.plan.file);
            command.arg0(&self.plan.program);
            command
        });
        for name in OF_OTHERS {
            command.env_remove(name);
        }
        command
            .args(&self.plan.args)
            .envs(self.plan.environment.iter().map(|(name, value)| (name, value)))
            .envs(rank_variables(pe, place));
        if let Some(directory) = &self.plan.directory {
            command.current_dir(directory).env("PWD", directory);
        }
        if let Some(wireup) = &wireup {
            command.env("PELLUCID_WIREUP_FD", wireup.as_raw_fd().to_string());
        }
        let cpus = self.plan.binding.sets.get(place).cloned();
        let terminal = debugger.is_some_and(|debugger| debugger.has_terminal(pe));
        let start = Start {
            watchdog: self.watchdog,
            limit: self.limit,
            mask: self.mask,
            cpus,
            keep: wireup,
            terminal,
            debugged: debugger.is_some(),
        };
        start.start(command, input, self.plan.files.get(place))
    }
}

/// How a process is started that the launcher looks after: a PE, or what reaches another host.
pub struct Start {
    /// Where it announces its process group.
    pub watchdog: RawFd,
    /// Its limit of open files.
    pub limit: Limit,
    /// Its signal mask.
    pub mask: Set,
    /// The CPUs that it may use; `None`: all of ours.
    pub cpus: Option<CpuSet>,
    /// A descriptor that it inherits.
    pub keep: Option<OwnedFd>,
    /// Our terminal is its own, for input and output.
    pub terminal: bool,
    /// A debugger that it did not start may attach to it.
    pub debugged: bool,
}

impl Start {
    /// Starts it in a process group of its own. `files`: what it writes to in place of the pipes, which end at once
    /// then.
    pub fn start(self, mut command: Command, input: Stdio, files: Option<&[File; 2]>) -> io::Result<Started> {
        let (out, out_writer) = io::pipe()?;
        let (err, err_writer) = io::pipe()?;
        match files {
            _ if self.terminal => command.stdout(Stdio::inherit()).stderr(Stdio::inherit()),
            Some([out, err]) => command.stdout(out.try_clone()?).stderr(err.try_clone()?),
            None => command.stdout(out_writer).stderr(err_writer),
        };
        command.stdin(input).process_group(0);
        let Self { watchdog, limit, mask, cpus, keep, terminal, debugged } = self;
        let kept = keep.as_ref().map(AsRawFd::as_raw_fd);
        let launcher = process::id();
        // SAFETY: the closure makes system calls only (each function says that it is async-signal-safe) and does not
        // allocate.
        unsafe {
            command.pre_exec(move || {
                watchdog::announce(watchdog);
                if terminal {
                    file::take_foreground(0);
                }
                if debugged {
                    process::let_attach();
                }
                if !process::die_with(launcher) {
                    process::exit_now(1);
                }
                if let Some(cpus) = &cpus {
                    cpus.confine();
                }
                kept.iter().for_each(|fd| file::inherit(*fd));
                limit::set_open_files(limit);
                mask.mask();
                Ok(())
            });
        }
        let child = command.spawn()?;
        drop(keep);
        Ok(Started { pid: child.id() as i32, out, err })
    }
}
