//! What can be measured: groups of programs and the numbers of PEs they run at.

/// Who runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Every library, in turn.
    Libraries,
    /// This library only, under its launcher.
    Ours,
    /// This library only: an example of the core, for what programs do not see.
    Core,
    /// This library only, with its GASNet-EX interface.
    Gasnet,
    /// This library only, once, as one PE without a launcher.
    OursAlone,
    /// No library: a plain program.
    Plain,
    /// This library over a network, and libfabric alone beside it.
    Network,
    /// Ours: its profile against its own times.
    Verify,
    /// Ours: what the profile says that it took, against what its loops take more with it.
    Cost,
    /// Ours: programs of `examples/`, with and without profile and trace, in pairs.
    Overhead,
    /// Ours: a program that switches profile and trace on and off itself.
    Turns,
    /// Ours: a program that switches its profile on and off itself, without a profile that is kept, then with one.
    Levels,
    /// Every library; the driver times the whole job, and a plain process beside it.
    WholeJob,
}

/// One C program of `programs/`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// File name without `.c`.
    pub name: &'static str,
    /// Numbers of PEs.
    pub pes: &'static [u32],
    /// `--pes` replaces `pes`.
    pub any_pes: bool,
    /// Who runs it.
    pub runs: Runs,
}

/// What the user can ask for by name.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// On the command line.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// In this order.
    pub programs: &'static [Program],
    /// Runs only where the user names it: it takes long.
    pub only_named: bool,
}

const fn pair(name: &'static str, runs: Runs) -> Program {
    Program { name, pes: &[2], any_pes: false, runs }
}

/// Everything, in the order it runs and is printed.
pub const GROUPS: &[Group] = &[
    Group {
        name: "limits",
        about: "the machine alone: copies, atomic instructions, a cache line between two cores",
        programs: &[Program { name: "limits", pes: &[1], any_pes: false, runs: Runs::Plain }],
        only_named: false,
    },
    Group {
        name: "rma",
        about: "p, g, put, get, put + quiet of 8 bytes and strided transfers, heap and static",
        programs: &[pair("rma", Runs::Libraries)],
        only_named: false,
    },
    Group {
        name: "amo",
        about: "atomic operations, heap and static; two PEs on one word",
        programs: &[pair("amo", Runs::Libraries)],
        only_named: false,
    },
    Group {
        name: "bandwidth",
        about: "putmem and getmem from 8 B to 16 MiB, heap and static",
        programs: &[pair("bandwidth", Runs::Libraries)],
        only_named: false,
    },
    Group {
        name: "collectives",
        about: "barrier, sync, broadcast, sum, a ring, gathers, locks, allocation at 2, 4 and 8 PEs; hand-over of 2 \
            PEs",
        programs: &[
            Program { name: "collective", pes: &[2, 4, 8], any_pes: true, runs: Runs::Libraries },
            Program { name: "exchange", pes: &[2, 4, 8], any_pes: true, runs: Runs::Libraries },
        ],
        only_named: false,
    },
    Group {
        name: "messages",
        about: "active messages of the core: round trip of a short one against that of a flag; one way, short and with \
            payload",
        programs: &[pair("message_bench", Runs::Core)],
        only_named: false,
    },
    Group {
        name: "gasnet",
        about: "GASNet-EX: messages against a flag and memcpy, put, get and fetch-add of 8 bytes against shmem_",
        programs: &[pair("gasnet", Runs::Gasnet)],
        only_named: false,
    },
    Group {
        name: "busy",
        about: "put, get and atomics to a PE that computes",
        programs: &[pair("busy", Runs::Libraries)],
        only_named: false,
    },
    Group {
        name: "files",
        about: "one file written and read by all of 2 and 8 PEs, against dd with the same block size (in $TMPDIR)",
        programs: &[Program { name: "files", pes: &[2, 8], any_pes: true, runs: Runs::Ours }],
        only_named: true,
    },
    Group {
        name: "startup",
        about: "an empty program from start to finish with 2 and 8 PEs",
        programs: &[Program { name: "empty", pes: &[2, 8], any_pes: true, runs: Runs::WholeJob }],
        only_named: false,
    },
    Group {
        name: "network",
        about: "8-byte latencies, strided transfers, rates and bandwidth over libfabric, against libfabric alone \
            (two namespaces; root)",
        programs: &[pair("network", Runs::Network)],
        only_named: false,
    },
    Group {
        name: "threads",
        about: "1, 2 and 4 threads, each with a private context, against the same on the default context; within the \
            host and over libfabric",
        programs: &[pair("threads", Runs::Ours), pair("threads", Runs::Network)],
        only_named: true,
    },
    Group {
        name: "overlap",
        about: "put, fetch-add and broadcast with handles over libfabric: the part that work in between leaves over",
        programs: &[pair("overlap", Runs::Network)],
        only_named: true,
    },
    Group {
        name: "sets",
        about: "collectives on an explicit set against the same on (start, stride, size), at 2 and 8 PEs",
        programs: &[Program { name: "sets", pes: &[2, 8], any_pes: true, runs: Runs::Ours }],
        only_named: true,
    },
    Group {
        name: "interception",
        about: "shmem_X with the profile off and on against pshmem_X: time and instructions; instructions of \
            collectives",
        programs: &[
            pair("interception", Runs::Ours),
            Program { name: "interception_steps", pes: &[1], any_pes: false, runs: Runs::OursAlone },
        ],
        only_named: false,
    },
    Group {
        name: "profile",
        about: "calls that feel the profile: off, on, and kept (call sites and peers): in turns, in one process",
        programs: &[Program { name: "profile", pes: &[2], any_pes: false, runs: Runs::Levels }],
        only_named: false,
    },
    Group {
        name: "updates",
        about: "random atomic updates with the profile off, on, and with a trace: in turns, in one process",
        programs: &[Program { name: "turns", pes: &[1, 2], any_pes: true, runs: Runs::Turns }],
        only_named: false,
    },
    Group {
        name: "verify",
        about: "times in the profile against a clock outside of it",
        programs: &[Program { name: "verify", pes: &[2], any_pes: true, runs: Runs::Verify }],
        only_named: false,
    },
    Group {
        name: "cost",
        about: "what a report says that profiling took, against loops with the profile off and on in turns",
        programs: &[Program { name: "cost", pes: &[2], any_pes: true, runs: Runs::Cost }],
        only_named: false,
    },
    Group {
        name: "overhead",
        about: "gups and isort as a whole with profile and trace against without, in pairs (minutes; only when named)",
        programs: &[Program { name: "nothing", pes: &[2], any_pes: true, runs: Runs::Overhead }],
        only_named: true,
    },
    Group {
        name: "scaling",
        about: "collectives from 1 to 64 PEs and 8 B to 16 MiB (minutes; only when named; --plot draws it)",
        programs: &[Program { name: "scaling", pes: &[1, 2, 4, 8, 16, 32, 64], any_pes: true, runs: Runs::Ours }],
        only_named: true,
    },
];

/// Name and description of each group, a line each.
pub fn list() -> String {
    GROUPS.iter().map(|g| format!("  {:<14} {}\n", g.name, g.about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn names_are_unique_and_programs_exist() {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        for (i, group) in GROUPS.iter().enumerate() {
            assert!(GROUPS[..i].iter().all(|g| g.name != group.name));
            for program in group.programs {
                let core = programs.join(format!("../../../src/core/examples/{}.rs", program.name));
                let file = if program.runs == Runs::Core { core } else { programs.join(format!("{}.c", program.name)) };
                assert!(file.is_file(), "{} is missing", program.name);
                assert!(!program.pes.is_empty());
            }
        }
    }
}
