//! Names in the environment that are not known: typing errors, and names of other libraries.

use super::env::TABLE;
use super::text::edit_distance;

/// A name that is not known, and what to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// As given.
    pub name: String,
    /// What may have been meant.
    pub hint: String,
}

/// Names of other libraries (Sandia OpenSHMEM, OSSS-UCX, Open MPI, Cray), and what does that here. One that ends in `*`
/// is the beginning of a name. In docs/coming-from.md.
const OTHERS: &[(&str, &str)] = &[
    ("XT_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"),
    ("SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"),
    ("SMA_SYMMETRIC_HEAP_SIZE", "SMA_SYMMETRIC_SIZE"),
    ("SHMEM_BARRIER_ALGO*", "SHMEM_COLLECTIVES=barrier:NAME"),
    ("SHMEM_SYNC_ALGO*", "SHMEM_COLLECTIVES=barrier:NAME"),
    ("SHMEM_BCAST_ALGO*", "SHMEM_COLLECTIVES=broadcast:NAME"),
    ("SHMEM_BROADCAST_ALGO*", "SHMEM_COLLECTIVES=broadcast:NAME"),
    ("SHMEM_REDUCE_ALGO*", "SHMEM_COLLECTIVES=reduce:NAME"),
    ("SHMEM_FCOLLECT_ALGO*", "SHMEM_COLLECTIVES=fcollect:NAME"),
    ("SHMEM_SCAN_ALGO*", "SHMEM_COLLECTIVES=scan:NAME"),
    ("SHMEM_COLL_*", "SHMEM_COLLECTIVES"),
    ("SHMEM_OFI_DOMAIN", "SHMEM_OFI_INTERFACE"),
    ("SHMEM_OFI_FABRIC", "SHMEM_OFI_INTERFACE"),
    ("SHMEM_BACKTRACE", "SHMEM_ABORT=trace"),
    ("SHMEM_TRAP_ON_ABORT", "SHMEM_ABORT=abort"),
    ("SHMEM_ENV_DISPLAY", "SHMEM_INFO"),
    ("SHMEM_VERSION_DISPLAY", "SHMEM_VERSION"),
    ("SHMEM_MEMINFO_DISPLAY", "SHMEM_INFO"),
    ("SHMEM_LOGGING*", "SHMEM_TRACE"),
];

/// Names that the compiler wrappers read.
const OF_WRAPPERS: [&str; 1] = ["SHMEM_FC"];

/// What a name of another library is called here.
fn of_another_library(name: &str) -> Option<&'static str> {
    let is = |pattern: &str| match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == pattern,
    };
    OTHERS.iter().find(|(pattern, _)| is(pattern)).map(|(_, ours)| *ours)
}

/// Names in the environment that are another library's, that begin with `SHMEM_` or `SMA_` and are not known, or that
/// begin with `SHMEM` or `SMA` and are close to a known one.
pub fn unknown(names: impl Iterator<Item = String>) -> Vec<Unknown> {
    let known: Vec<String> = TABLE
        .iter()
        .flat_map(|v| std::iter::once(format!("SHMEM_{}", v.name)).chain(v.sma.then(|| format!("SMA_{}", v.name))))
        .collect();
    let mut found: Vec<Unknown> = Vec::new();
    for name in names.filter(|name| !known.contains(name)) {
        if let Some(hint) = hint(&name, &known) {
            let place = found.partition_point(|other| other.name < name);
            found.insert(place, Unknown { name, hint });
        }
    }
    found
}

fn hint(name: &str, known: &[String]) -> Option<String> {
    if let Some(ours) = of_another_library(name) {
        return Some(format!("in this library it is {ours}"));
    }
    if OF_WRAPPERS.contains(&name) || !name.starts_with("SHMEM") && !name.starts_with("SMA") {
        return None;
    }
    let nearest = known.iter().min_by_key(|known| edit_distance(name, known))?;
    let distance = edit_distance(name, nearest);
    if distance <= 1 + nearest.len() / 8 {
        return Some(format!("did you mean {nearest}?"));
    }
    let is_ours = name.starts_with("SHMEM_") || name.starts_with("SMA_");
    is_ours.then(|| match distance <= nearest.len() / 4 {
        true => format!("the nearest name is {nearest}"),
        false => "SHMEM_INFO=1 lists those that are".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Vec<(String, String)> {
        let found = unknown(names.iter().map(ToString::to_string));
        found.into_iter().map(|unknown| (unknown.name, unknown.hint)).collect()
    }

    fn row(name: &str, hint: &str) -> (String, String) {
        (name.into(), hint.into())
    }

    #[test]
    fn a_typing_error_finds_its_name() {
        let names = ["SHMEM_SYMETRIC_SIZE", "SHMEM_DEBUG", "SMA_VERSIN", "HOME", "SHMEMORY", "SMALL"];
        let rows = [
            row("SHMEM_SYMETRIC_SIZE", "did you mean SHMEM_SYMMETRIC_SIZE?"),
            row("SMA_VERSIN", "did you mean SMA_VERSION?"),
        ];
        assert_eq!(found(&names), rows);
    }

    #[test]
    fn a_name_like_none_is_told_too() {
        let rows = [row("SHMEM_TRACE_STRIPES", "the nearest name is SHMEM_TRACE_SIZE")];
        assert_eq!(found(&["SHMEM_TRACE_STRIPES"]), rows);
        assert_eq!(found(&["SHMEM_HOME"]), [row("SHMEM_HOME", "SHMEM_INFO=1 lists those that are")]);
        assert_eq!(found(&["SHMEM_FC"]), [], "oshfort's");
        assert_eq!(found(&["SHMEM_", "SMA_"]).len(), 2);
    }

    #[test]
    fn names_of_other_libraries_find_ours() {
        for (name, ours) in [
            ("XT_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"),
            ("SMA_SYMMETRIC_HEAP_SIZE", "SMA_SYMMETRIC_SIZE"),
            ("SHMEM_BARRIER_ALGORITHM", "SHMEM_COLLECTIVES=barrier:NAME"),
            ("SHMEM_BROADCAST_ALGO", "SHMEM_COLLECTIVES=broadcast:NAME"),
            ("SHMEM_COLL_CROSSOVER", "SHMEM_COLLECTIVES"),
        ] {
            assert_eq!(found(&[name]), [row(name, &format!("in this library it is {ours}"))]);
        }
    }

    #[test]
    fn what_is_said_is_there() {
        for (name, ours) in OTHERS {
            let variable = ours.split('=').next().unwrap_or_default();
            let is_known = TABLE.iter().any(|var| {
                variable == format!("SHMEM_{}", var.name) || var.sma && variable == format!("SMA_{}", var.name)
            });
            assert!(is_known, "{name}: {ours}");
            assert!(TABLE.iter().all(|var| format!("SHMEM_{}", var.name) != *name), "{name} is ours");
        }
    }
}
