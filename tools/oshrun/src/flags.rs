//! The options of `oshrun`, as one table that yields both the parser and the help text.

/// Which option a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// Number of PEs.
    Pes,
    /// Hosts to run on.
    Hosts,
    /// A file of hosts.
    Hostfile,
    /// PEs of a host.
    Ppn,
    /// How other hosts are reached.
    LaunchAgent,
    /// Say what would be done.
    Info,
    /// A variable for the PEs' environment.
    Export,
    /// Where PEs may run.
    Bind,
    /// Cores of a PE.
    CoresPerPe,
    /// Placement, in words of Open MPI.
    MapBy,
    /// Variable and value in two words, as Hydra has it.
    Env,
    /// Several variables to pass on.
    EnvList,
    /// Working directory of the PEs.
    Wdir,
    /// Files for what PEs write.
    Output,
    /// What another launcher needs to be told, and this one does not.
    Nothing,
    /// PE number before every line.
    Label,
    /// Longest time the job may take.
    Timeout,
    /// Symmetric heap size.
    Heap,
    /// Profile level, and the table at the end.
    Profile,
    /// Where the profile is written.
    ProfileDir,
    /// The job once more, without its profile.
    ProfileCost,
    /// What calls take here.
    Calibrate,
    /// Hardware and software counters.
    Counters,
    /// Trace, and where it is written.
    Trace,
    /// Metrics of the job at an address.
    Metrics,
    /// Metrics of the job in a file.
    MetricsFile,
    /// Metrics of the job, sent.
    MetricsPush,
    /// A Pushgateway is to forget the job.
    MetricsPushForget,
    /// The job on a page for a browser.
    Dashboard,
    /// A debugger for some PEs.
    Gdb,
    /// Argument checks.
    Check,
    /// Go on without PEs that are lost.
    Survive,
    /// A tool to load.
    Tool,
    /// Go on without tools that cannot be loaded.
    ToolOptional,
    /// Help text.
    Help,
    /// Version.
    Version,
}

/// Whether an option takes a value, and what the help text calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Takes none.
    None,
    /// Needs one, in the next argument or after `=`.
    Required(&'static str),
    /// Takes one after `=`, or in the next argument where that reads as one: as a level, or as a directory before the
    /// program.
    Optional(&'static str),
}

/// One option.
pub struct Flag {
    /// Which.
    pub id: Id,
    /// Spellings, with their dashes.
    pub names: &'static [&'static str],
    /// Its value.
    pub value: Value,
    /// What it does; wrapped to the terminal, and at line ends.
    pub help: &'static str,
}

/// Every option, in the order of the help text.
pub const FLAGS: &[Flag] = &[
    Flag {
        id: Id::Pes,
        names: &["-n", "-np"],
        value: Value::Required("N"),
        help: "number of PEs (default 1; with hosts: as many as they have slots)",
    },
    Flag {
        id: Id::Hosts,
        names: &["--hosts"],
        value: Value::Required("A:SLOTS,B,..."),
        help: "run on these hosts, each with a block of consecutive PEs: as its SLOTS say, or \
               an even share of -n where it has no number (docs/launchers.md)",
    },
    Flag {
        id: Id::Hostfile,
        names: &["--hostfile"],
        value: Value::Required("FILE"),
        help: "the same from a file, a host a line: \"name\", \"name:8\" or \"name slots=8\"",
    },
    Flag { id: Id::Ppn, names: &["--ppn"], value: Value::Required("N"), help: "PEs on each host, whatever its slots" },
    Flag {
        id: Id::LaunchAgent,
        names: &["--launch-agent"],
        value: Value::Required("CMD"),
        help: "how hosts are reached: run as CMD HOST COMMAND ARGUMENT... (default: ssh)",
    },
    Flag {
        id: Id::Info,
        names: &["--info"],
        value: Value::None,
        help: "print what would be used: launcher, hosts and their PEs; start nothing",
    },
    Flag {
        id: Id::Export,
        names: &["-x"],
        value: Value::Required("VAR[=VALUE]"),
        help: "set VAR in the environment of the PEs (without a value: pass it on as it is); \
               may be given several times",
    },
    Flag {
        id: Id::Bind,
        names: &["--bind"],
        value: Value::Required("WHERE"),
        help: "core: each PE on a core of its own, cores in use by other jobs last\n\
               numa: each on all CPUs of a NUMA node, neighbours together\n\
               socket: each on all CPUs of a socket\n\
               list:CPUS,CPUS,...: PE 0 on the first, PE 1 on the second; CPUS is 3, 0-3 or 0+4\n\
               none: wherever the system puts it\n\
               Without the option: core where 2 or more PEs find a free core each and \
               OMP_NUM_THREADS is not above 1, none otherwise",
    },
    Flag {
        id: Id::CoresPerPe,
        names: &["--cores-per-pe"],
        value: Value::Required("N"),
        help: "bind each PE to N cores, for programs with threads",
    },
    Flag { id: Id::Wdir, names: &["--wdir"], value: Value::Required("DIR"), help: "run the PEs in this directory" },
    Flag {
        id: Id::Output,
        names: &["--output"],
        value: Value::Required("FILE"),
        help: "a file for the output of each PE: %p in its name stands for the number of the PE, %h for its host, %j \
            for the job, %s for out or err (without it both go to one file); directories are made",
    },
    Flag {
        id: Id::Label,
        names: &["--label"],
        value: Value::None,
        help: "begin every line of output with the number of its PE, as in \"[3] \"",
    },
    Flag {
        id: Id::Timeout,
        names: &["--timeout"],
        value: Value::Required("TIME"),
        help: "end the job after this time, say what each PE was doing, and exit with 124; \
               seconds, or 500ms, 5s, 2m, 1h, 1:30 (minutes:seconds), 1:00:00",
    },
    Flag {
        id: Id::Heap,
        names: &["--heap"],
        value: Value::Required("SIZE"),
        help: "symmetric heap of a PE: a number with an optional suffix k, m, g or t \
               (sets SHMEM_SYMMETRIC_SIZE)",
    },
    Flag {
        id: Id::Profile,
        names: &["--profile"],
        value: Value::Optional("LEVEL|off|DIR"),
        help: "print the profile when the job ends (stderr) and write it to a directory; LEVEL is 1 unless given \
               (sets SHMEM_PROFILE)\n\
               off: record nothing\n\
               DIR: as --profile-dir; --profile=DIR where there is a command of that name\n\
               LEVEL,NAME=VALUE...: sampling, long, sites, counters, trace-start, trace-detail \
               (set SHMEM_PROFILE_SAMPLING and so on: docs/environment.md)",
    },
    Flag {
        id: Id::ProfileDir,
        names: &["--profile-dir"],
        value: Value::Required("DIR"),
        help: "directory for the profile, as --profile writes it; never overwritten \
               (default: pellucid-PROGRAM.prof in the current directory)",
    },
    Flag {
        id: Id::ProfileCost,
        names: &["--profile-cost"],
        value: Value::None,
        help: "run the job with its profile, then once more without, and print what profiling cost: the difference \
            from start to end (level 1 unless --profile says another)",
    },
    Flag {
        id: Id::Calibrate,
        names: &["--calibrate"],
        value: Value::None,
        help: "run no program: measure for a second what puts, gets and atomics take on this host, or with --hosts A,B \
            between two, and keep it for oshprof report --view rates; with -n N also what the algorithms of \
            collectives take at N PEs, for oshprof advise",
    },
    Flag {
        id: Id::Counters,
        names: &["--counters"],
        value: Value::Required("NAME,..."),
        help: "count page-faults, context-switches, cycles ... around library calls and regions \
               (docs/counters.md; sets SHMEM_COUNTERS, and --profile where not given)",
    },
    Flag {
        id: Id::Trace,
        names: &["--trace"],
        value: Value::Optional("DIR"),
        help: "write every call to a trace (default: pellucid-PROGRAM.trace; never overwritten); \
               oshprof trace DIR converts it (sets SHMEM_TRACE)\n\
               DIR: --trace=DIR; behind a space it is the program where there is a command of that name",
    },
    Flag {
        id: Id::Metrics,
        names: &["--metrics"],
        value: Value::Optional("ADDR"),
        help: "serve the job's metrics to Prometheus (default: 127.0.0.1:9745), until it has seen the last \
               ones (docs/metrics.md; sets SHMEM_METRICS, as do the others)",
    },
    Flag {
        id: Id::MetricsFile,
        names: &["--metrics-file"],
        value: Value::Required("FILE"),
        help: "write the metrics to FILE every 15 s, at snapshots and at the end, for node_exporter's \
               textfile collector, which reads names that end with .prom; %h in the name is the host",
    },
    Flag {
        id: Id::MetricsPush,
        names: &["--metrics-push"],
        value: Value::Required("URL|otlp"),
        help: "send the metrics to a collector of OpenTelemetry or to a Pushgateway; otlp: where the \
               OTEL_ variables say",
    },
    Flag {
        id: Id::MetricsPushForget,
        names: &["--metrics-push-forget"],
        value: Value::None,
        help: "delete the job from the Pushgateway when it ends",
    },
    Flag {
        id: Id::Dashboard,
        names: &["--dashboard"],
        value: Value::None,
        help: "serve a page for a browser that shows the job while it runs, on this host only",
    },
    Flag {
        id: Id::Gdb,
        names: &["--gdb"],
        value: Value::Optional("=PE,..."),
        help: "run a PE (0 unless named) under gdb, in this terminal; several, or where this is no terminal: each in a \
               window of the tmux that oshrun is started in (docs/debugging.md)",
    },
    Flag {
        id: Id::Check,
        names: &["--check"],
        value: Value::None,
        help: "check more arguments, at some cost (sets SHMEM_DEBUG)",
    },
    Flag {
        id: Id::Survive,
        names: &["--survive"],
        value: Value::None,
        help: "a PE that is killed by a signal, or a host that is lost, does not end the job: the others are told, and \
               go on; the status is theirs. An exit with another status than 0 and shmem_global_exit end it \
               (docs/extensions.md)",
    },
    Flag {
        id: Id::Tool,
        names: &["--tool"],
        value: Value::Required("FILE"),
        help: "load a PSHMEM tool, a shared object, into every PE; several times: each one's pshmem_ \
               calls go to the next one's shmem_ routines (sets SHMEM_TOOLS)",
    },
    Flag {
        id: Id::ToolOptional,
        names: &["--tool-optional"],
        value: Value::None,
        help: "go on without a tool that cannot be loaded (sets SHMEM_TOOLS_OPTIONAL)",
    },
    Flag { id: Id::Help, names: &["-h", "--help"], value: Value::None, help: "print this text" },
    Flag { id: Id::Version, names: &["-V", "--version"], value: Value::None, help: "print the version" },
];
