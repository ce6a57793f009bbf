//! From what the user asks for to what every PE is started with.

use crate::cpus::{self, Binding};
use crate::debugger::Debugger;
use crate::options::{Options, ProfileChoice};
use crate::{files, handover};
use pellucid_core::bootstrap::by_option;
use pellucid_profile::companion::VARIABLE;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::RawFd;
use std::path::PathBuf;

/// Variables that all PEs share.
pub struct Environment {
    /// Names and values; the last of a name counts.
    pub set: Vec<(OsString, OsString)>,
    /// Variables that `-x` names and that are not set.
    pub unset: Vec<OsString>,
}

/// The PEs of this host, ready to be started.
pub struct Plan {
    /// The file to run.
    pub file: PathBuf,
    /// The name it is run under, and its arguments.
    pub program: OsString,
    /// Arguments.
    pub args: Vec<OsString>,
    /// Where they run.
    pub binding: Binding,
    /// Variables that all PEs share.
    pub environment: Vec<(OsString, OsString)>,
    /// Where they run, if elsewhere than this process.
    pub directory: Option<PathBuf>,
    /// What each writes to; empty: to this process.
    pub files: Vec<[File; 2]>,
    /// Which of them have a debugger.
    pub debugger: Option<Debugger>,
}

impl Environment {
    /// What these options ask for, with `tools` as the tools that were found.
    pub fn new(options: &Options, tools: Option<OsString>) -> Self {
        let mut environment = Vec::new();
        let mut unset = Vec::new();
        let mut set = |name: &OsStr, value: OsString| environment.push((name.to_os_string(), value));
        for (name, value) in &options.exports {
            match value.clone().or_else(|| env::var_os(name)) {
                Some(value) => set(name, value),
                None => unset.push(name.clone()),
            }
        }
        let exported = options.exports.len() - unset.len();
        if let Some((text, _)) = &options.heap {
            set(OsStr::new("SHMEM_SYMMETRIC_SIZE"), text.into());
        }
        match options.profile {
            ProfileChoice::Silent => {}
            ProfileChoice::Off => set(OsStr::new("SHMEM_PROFILE"), "0".into()),
            ProfileChoice::Level(level) => set(OsStr::new("SHMEM_PROFILE"), level.to_string().into()),
        }
        for (name, value) in &options.settings {
            set(OsStr::new(name), value.into());
        }
        if !options.metrics.is_empty() {
            set(OsStr::new(VARIABLE), options.metrics.text().into());
        }
        if options.check {
            set(OsStr::new("SHMEM_DEBUG"), "1".into());
        }
        if let Some(tools) = tools {
            set(OsStr::new("SHMEM_TOOLS"), tools);
        }
        if options.tool_optional {
            set(OsStr::new("SHMEM_TOOLS_OPTIONAL"), "1".into());
        }
        let marks: Vec<_> =
            environment[exported..].iter().map(|(name, value)| by_option::marked(name, value)).collect();
        environment.extend(marks);
        let pes = OsString::from(options.pes.to_string());
        environment.extend([("PELLUCID_NPES".into(), pes.clone()), ("PMI_SIZE".into(), pes)]);
        Self { set: environment, unset }
    }
}

impl Plan {
    /// The plan for a job on this host alone, with `file` as the program.
    ///
    /// # Errors
    /// What cannot be bound as asked for, or not be written to.
    pub fn new(options: &Options, file: PathBuf, environment: Vec<(OsString, OsString)>) -> Result<Self, String> {
        let binding = cpus::bind(options.pes as usize, &options.bind, threads(&environment).as_deref())?;
        let output = options.output.as_deref();
        let files = output.map(|pattern| files::open(pattern, 0..options.pes, job_id(&environment))).transpose()?;
        Ok(Self {
            file,
            program: options.program.clone(),
            args: options.args.clone(),
            binding,
            environment,
            directory: options.wdir.clone(),
            files: files.unwrap_or_default(),
            debugger: Debugger::find(options.gdb.as_deref(), options.pes)?,
        })
    }

    /// Has the PEs find what they inherit.
    pub fn hand_over(&mut self, job: RawFd, profile: Option<RawFd>) {
        self.environment.push(("PELLUCID_JOB_FD".into(), job.to_string().into()));
        if let Some(profile) = profile {
            self.environment.push(("PELLUCID_PROFILE_FD".into(), profile.to_string().into()));
        }
    }
}

/// The last value of a variable that the PEs get.
fn value(environment: &[(OsString, OsString)], name: &str) -> Option<String> {
    let own = environment.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.clone());
    own.or_else(|| env::var_os(name)).map(|value| value.to_string_lossy().into_owned())
}

/// How many threads each PE is told to start.
pub fn threads(environment: &[(OsString, OsString)]) -> Option<String> {
    value(environment, "OMP_NUM_THREADS")
}

/// The job, as files are named after it.
pub fn job_id(environment: &[(OsString, OsString)]) -> String {
    value(environment, handover::JOB_VARIABLE).unwrap_or_default()
}

/// The variables that tell a PE, and tools that look for the usual ones, which it is.
pub fn rank_variables(pe: u32, place: usize) -> [(&'static str, String); 4] {
    let pe = pe.to_string();
    [("PELLUCID_PE", pe.clone()), ("PMI_RANK", pe.clone()), ("PMIX_RANK", pe), ("PELLUCID_LOCAL_PE", place.to_string())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse;
    use crate::options::Request;

    fn environment(args: &[&str]) -> Vec<(String, String)> {
        let Ok(Request::Run(options)) = parse(args.iter().chain(&["p"]).map(OsString::from)) else {
            panic!("{args:?}");
        };
        let text = |text: OsString| text.into_string().unwrap();
        let tools = crate::tools::list(&options).unwrap();
        Environment::new(&options, tools).set.into_iter().map(|(n, v)| (text(n), text(v))).collect()
    }

    #[test]
    fn options_become_variables() {
        for (args, name, value) in [
            (&["-n", "3"][..], "PELLUCID_NPES", "3"),
            (&["-n", "3"], "PMI_SIZE", "3"),
            (&["--heap", "2g"], "SHMEM_SYMMETRIC_SIZE", "2g"),
            (&["--profile"], "SHMEM_PROFILE", "1"),
            (&["--profile", "off"], "SHMEM_PROFILE", "0"),
            (&["--profile", "1,sampling=7"], "SHMEM_PROFILE_SAMPLING", "7"),
            (&["--counters", "cycles,page-faults"], "SHMEM_COUNTERS", "cycles,page-faults"),
            (&["--counters", "cycles"], "SHMEM_PROFILE", "1"),
            (&["--metrics", "--metrics-file", "f.prom"], "SHMEM_METRICS", "serve,file=f.prom"),
            (&["--metrics=:1", "--dashboard"], "SHMEM_METRICS", "serve=:1,page"),
            (&["--check"], "SHMEM_DEBUG", "1"),
            (&["--tool", "a.so", "--tool=b.so"], "SHMEM_TOOLS", "a.so:b.so"),
            (&["--tool-optional"], "SHMEM_TOOLS_OPTIONAL", "1"),
            (&["-x", "A=b"], "A", "b"),
        ] {
            assert!(environment(args).contains(&(name.into(), value.into())), "{args:?}");
        }
        assert!(!environment(&[]).iter().any(|(name, _)| name.starts_with("SHMEM_")));
    }

    #[test]
    fn what_an_option_has_set_is_marked() {
        let all = environment(&["-x", "SHMEM_INFO=1", "--metrics", "--heap", "2g"]);
        let marked: Vec<(&str, &str)> = all
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(by_option::BY_OPTION)?, value.as_str())))
            .collect();
        assert_eq!(marked, [("SHMEM_SYMMETRIC_SIZE", "2g"), ("SHMEM_METRICS", "serve")]);
    }

    #[test]
    fn options_win_over_exported_variables() {
        let all = environment(&["-x", "SHMEM_SYMMETRIC_SIZE=1g", "--heap", "2g"]);
        let last = all.iter().rfind(|(name, _)| name == "SHMEM_SYMMETRIC_SIZE").unwrap();
        assert_eq!(last.1, "2g");
    }
}
