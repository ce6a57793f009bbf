//! Constants, handles and types of the headers.

/// How a constant is written down.
pub enum Value {
    /// `int`.
    Int(i32),
    /// `long`.
    Long(i64),
    /// Another spelling of this constant.
    Same(&'static str),
    /// A context handle: a small number that no object has as its address.
    Ctx(usize),
    /// A team handle.
    Team(usize),
    /// The vendor string, with the package version.
    Vendor,
}

/// One constant.
pub struct Constant {
    /// Name in C.
    pub name: &'static str,
    /// Value.
    pub value: Value,
}

/// Constants that belong together.
pub struct Section {
    /// Comment in the header.
    pub title: &'static str,
    /// The constants.
    pub constants: &'static [Constant],
}

const fn int(name: &'static str, value: i32) -> Constant {
    Constant { name, value: Value::Int(value) }
}
const fn long(name: &'static str, value: i64) -> Constant {
    Constant { name, value: Value::Long(value) }
}
const fn same(name: &'static str, other: &'static str) -> Constant {
    Constant { name, value: Value::Same(other) }
}

/// Longest vendor string with its terminating null.
pub const MAX_NAME_LEN: i32 = 64;

/// Every constant of sections 6 and 7.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Version (9.1.11, 9.1.12)",
        constants: &[
            int("SHMEM_MAJOR_VERSION", 1),
            int("SHMEM_MINOR_VERSION", 6),
            int("SHMEM_MAX_NAME_LEN", MAX_NAME_LEN),
            Constant { name: "SHMEM_VENDOR_STRING", value: Value::Vendor },
        ],
    },
    Section {
        title: "Thread levels (9.2)",
        constants: &[
            int("SHMEM_THREAD_SINGLE", 0),
            int("SHMEM_THREAD_FUNNELED", 1),
            int("SHMEM_THREAD_SERIALIZED", 2),
            int("SHMEM_THREAD_MULTIPLE", 3),
        ],
    },
    Section {
        title: "Hints of shmem_malloc_with_hints (9.3.5)",
        constants: &[long("SHMEM_MALLOC_ATOMICS_REMOTE", 1), long("SHMEM_MALLOC_SIGNAL_REMOTE", 2)],
    },
    Section {
        title: "Teams (9.4); handles serve in static initializers",
        constants: &[
            Constant { name: "SHMEM_TEAM_INVALID", value: Value::Team(0) },
            Constant { name: "SHMEM_TEAM_WORLD", value: Value::Team(1) },
            Constant { name: "SHMEM_TEAM_SHARED", value: Value::Team(2) },
            long("SHMEM_TEAM_NUM_CONTEXTS", 1),
        ],
    },
    Section {
        title: "Contexts (9.5) and sessions (9.9)",
        constants: &[
            Constant { name: "SHMEM_CTX_INVALID", value: Value::Ctx(0) },
            Constant { name: "SHMEM_CTX_DEFAULT", value: Value::Ctx(1) },
            long("SHMEM_CTX_SERIALIZED", 1),
            long("SHMEM_CTX_PRIVATE", 2),
            long("SHMEM_CTX_NOSTORE", 4),
            long("SHMEM_CTX_SESSION_TOTAL_OPS", 1),
            long("SHMEM_CTX_SESSION_BATCH", 1),
        ],
    },
    Section { title: "Signal operators (9.8.2)", constants: &[int("SHMEM_SIGNAL_SET", 0), int("SHMEM_SIGNAL_ADD", 1)] },
    Section {
        title: "Comparison operators (9.11)",
        constants: &[
            int("SHMEM_CMP_EQ", 0),
            int("SHMEM_CMP_NE", 1),
            int("SHMEM_CMP_GT", 2),
            int("SHMEM_CMP_LE", 3),
            int("SHMEM_CMP_LT", 4),
            int("SHMEM_CMP_GE", 5),
        ],
    },
    Section {
        title: "Work arrays of the active-set collectives (9.10, deprecated)",
        constants: &[
            long("SHMEM_SYNC_VALUE", 0),
            int("SHMEM_SYNC_SIZE", 16),
            int("SHMEM_BARRIER_SYNC_SIZE", 16),
            int("SHMEM_BCAST_SYNC_SIZE", 16),
            int("SHMEM_COLLECT_SYNC_SIZE", 16),
            int("SHMEM_REDUCE_SYNC_SIZE", 16),
            int("SHMEM_ALLTOALL_SYNC_SIZE", 16),
            int("SHMEM_ALLTOALLS_SYNC_SIZE", 16),
            int("SHMEM_REDUCE_MIN_WRKDATA_SIZE", 16),
        ],
    },
    Section {
        title: "Old spellings (Annex F, deprecated)",
        constants: &[
            same("_SHMEM_MAJOR_VERSION", "SHMEM_MAJOR_VERSION"),
            same("_SHMEM_MINOR_VERSION", "SHMEM_MINOR_VERSION"),
            same("_SHMEM_MAX_NAME_LEN", "SHMEM_MAX_NAME_LEN"),
            same("_SHMEM_VENDOR_STRING", "SHMEM_VENDOR_STRING"),
            same("_SHMEM_CMP_EQ", "SHMEM_CMP_EQ"),
            same("_SHMEM_CMP_NE", "SHMEM_CMP_NE"),
            same("_SHMEM_CMP_GT", "SHMEM_CMP_GT"),
            same("_SHMEM_CMP_LE", "SHMEM_CMP_LE"),
            same("_SHMEM_CMP_LT", "SHMEM_CMP_LT"),
            same("_SHMEM_CMP_GE", "SHMEM_CMP_GE"),
            same("_SHMEM_SYNC_VALUE", "SHMEM_SYNC_VALUE"),
            same("_SHMEM_BARRIER_SYNC_SIZE", "SHMEM_BARRIER_SYNC_SIZE"),
            same("_SHMEM_BCAST_SYNC_SIZE", "SHMEM_BCAST_SYNC_SIZE"),
            same("_SHMEM_COLLECT_SYNC_SIZE", "SHMEM_COLLECT_SYNC_SIZE"),
            same("_SHMEM_REDUCE_SYNC_SIZE", "SHMEM_REDUCE_SYNC_SIZE"),
            same("_SHMEM_REDUCE_MIN_WRKDATA_SIZE", "SHMEM_REDUCE_MIN_WRKDATA_SIZE"),
        ],
    },
];

/// A level of `shmem_pcontrol` that this library knows, as `shmemx.h` has it.
pub struct Level {
    /// Name in C.
    pub name: &'static str,
    /// Value. Levels with arguments are far from what programs written for other libraries may pass: those come
    /// without.
    pub value: i32,
    /// The call, where it takes arguments.
    pub call: &'static str,
    /// What it does.
    pub help: &'static str,
}

/// Levels of `shmem_pcontrol`.
pub const LEVELS: &[Level] = &[
    Level { name: "SHMEMX_PCONTROL_OFF", value: 0, call: "", help: "Stop recording. Levels below 0 do the same." },
    Level { name: "SHMEMX_PCONTROL_DEFAULT", value: 1, call: "", help: "Record: counts, bytes, times." },
    Level {
        name: "SHMEMX_PCONTROL_FLUSH",
        value: 2,
        call: "",
        help: "Write a snapshot of the whole job to the profile directory, if one is kept, and return when it is \
            there; under other launchers than oshrun, the first PE of a host writes that of its host.",
    },
    Level {
        name: "SHMEMX_PCONTROL_REGION_BEGIN",
        value: 4101,
        call: "const char *name",
        help: "The calling thread enters a region: up to 63 names of up to 63 bytes a PE, nested up to 64 deep; \
            one that begins before shmem_init is not recorded.",
    },
    Level {
        name: "SHMEMX_PCONTROL_REGION_END",
        value: 4102,
        call: "const char *name",
        help: "It leaves its innermost region, which must have this name; NULL: whatever it is called.",
    },
    Level {
        name: "SHMEMX_PCONTROL_MARKER",
        value: 4103,
        call: "const char *name, double value",
        help: "Keep count, sum, least, greatest and last of the values marked under a name: up to 64 names a PE.",
    },
    Level {
        name: "SHMEMX_PCONTROL_SAMPLING",
        value: 4104,
        call: "int calls",
        help: "Threshold: of short calls, time one in so many at most; 1 times each (default 1024).",
    },
    Level {
        name: "SHMEMX_PCONTROL_LONG",
        value: 4105,
        call: "int nanoseconds",
        help: "Threshold: a sampled call at least this long stands for itself only (default 100000).",
    },
    Level {
        name: "SHMEMX_PCONTROL_TRACE_ON",
        value: 4106,
        call: "",
        help: "Trace each call from now on, where oshrun --trace or SHMEM_TRACE has given a directory.",
    },
    Level { name: "SHMEMX_PCONTROL_TRACE_OFF", value: 4107, call: "", help: "Trace no call from now on." },
];

/// `SHMEM_VENDOR_STRING`.
pub fn vendor() -> String {
    format!("Pellucid {}", env!("CARGO_PKG_VERSION"))
}

/// A handle in C. What is none is a null pointer, which constant expressions of C++ may have.
fn handle(kind: &str, value: usize) -> String {
    match value {
        0 => format!("PELLUCID_NONE({kind})"),
        value => format!("PELLUCID_BITS({kind}, {value})"),
    }
}

impl Constant {
    /// The value as C text.
    pub fn c(&self) -> String {
        match self.value {
            Value::Int(value) => value.to_string(),
            Value::Long(value) => format!("{value}L"),
            Value::Same(other) => other.to_owned(),
            Value::Ctx(value) => handle("shmem_ctx_t", value),
            Value::Team(value) => handle("shmem_team_t", value),
            Value::Vendor => format!("\"{}\"", vendor()),
        }
    }

    /// The value as the type and text of a Rust constant, for the numbers.
    pub fn rust(&self) -> Option<(&'static str, String)> {
        match self.value {
            Value::Int(value) => Some(("c_int", value.to_string())),
            Value::Long(value) => Some(("c_long", value.to_string())),
            Value::Ctx(value) | Value::Team(value) => Some(("usize", value.to_string())),
            Value::Vendor => Some(("&CStr", format!("c\"{}\"", vendor()))),
            Value::Same(_) => None,
        }
    }
}
