//! What the built libraries export and need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use harness::run::Job;
use harness::{declared, table, tree};
use pellucid_profile::op::{self, OPS};

/// Defined global symbols with their type letters (`W` weak, `T` text ...).
fn symbols(options: &[&str], file: &Path) -> BTreeMap<String, char> {
    let outcome =
        Job::new(PathBuf::from("nm")).args(["--defined-only", "-g"]).args(options).arg(file).run().expect_code(0);
    outcome
        .stdout
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let kind = words.next()?.chars().next()?;
            let name = words.next()?;
            // Version definitions and the linker's own marks.
            (kind != 'A').then(|| (name.split('@').next().unwrap_or(name).to_string(), kind))
        })
        .collect()
}

/// Cache management of older versions of the specification, without effect.
const CACHE: &[&str] =
    &["clear_cache_inv", "set_cache_inv", "clear_cache_line_inv", "set_cache_line_inv", "udcflush", "udcflush_line"];

fn check(symbols: &BTreeMap<String, char>, what: &str) {
    for name in CACHE {
        assert_eq!(symbols.get(&format!("shmem_{name}")), Some(&'W'), "{what}: shmem_{name} must be weak");
        assert_eq!(symbols.get(&format!("pshmem_{name}")), Some(&'T'), "{what}: pshmem_{name} must be strong");
    }

    let mut count = 0;
    for function in table::functions() {
        if !declared::functions().contains(&function.name) {
            assert!(!symbols.contains_key(&function.name), "{what}: {} is exported but not declared", function.name);
            continue;
        }
        let weak = symbols.get(&function.name);
        assert_eq!(weak, Some(&'W'), "{what}: {} must be weak", function.name);
        let strong = symbols.get(&function.pshmem);
        assert_eq!(strong, Some(&'T'), "{what}: {} must be strong", function.pshmem);
        count += 1;
    }
    assert!(count > 0, "{what} exports nothing of the API");
    for op in OPS {
        assert_eq!(symbols.get(op.name()), Some(&'W'), "{what}: {} must be weak", op.name());
        let twin = format!("p{}", op.name());
        assert_eq!(symbols.get(&twin), Some(&'T'), "{what}: {twin} must be strong");
    }
    let extra: Vec<&String> = symbols
        .keys()
        .filter(|name| name.starts_with("shmem_") || name.starts_with("pshmem_"))
        .filter(|name| op::find(name.strip_prefix('p').unwrap_or(name)).is_none())
        .collect();
    assert!(extra.is_empty(), "{what} has symbols that are in no table: {extra:?}");
    println!("{what}: {count} of {} functions, each with its profiling twin", table::functions().len());
    let known: BTreeSet<&str> =
        table::functions().iter().flat_map(|function| [function.name.as_str(), function.pshmem.as_str()]).collect();
    let strange: Vec<&String> = symbols
        .keys()
        .filter(|name| !known.contains(name.as_str()))
        .filter(|name| !["shmem", "pshmem", "pellucid_"].iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    assert!(strange.is_empty(), "{what} exports other names: {strange:?}");
}

#[test]
fn the_shared_library_exports_the_api() {
    check(&symbols(&["-D"], &tree::library("libsma.so")), "libsma.so");
}

#[test]
fn the_archive_exports_the_api() {
    check(&symbols(&[], &tree::library("libsma.a")), "libsma.a");
}

/// A routine whose code is that of another one is not folded into it: tools tell routines by their addresses.
#[test]
fn each_routine_and_its_twin_has_an_address_of_its_own() {
    let library = tree::library("libsma.so");
    let outcome = Job::new(PathBuf::from("nm")).args(["-D", "--defined-only"]).arg(library).run().expect_code(0);
    let mut routines: BTreeMap<&str, &str> = BTreeMap::new();
    for line in outcome.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [address, "W" | "T", name] = words[..]
            && op::find(name.strip_prefix('p').unwrap_or(name)).is_some()
        {
            let other = routines.insert(address, name);
            assert_eq!(other, None, "{name} is where another routine is");
        }
    }
    assert_eq!(routines.len(), 2 * OPS.len());
}

#[test]
fn the_shared_library_needs_the_c_library_only() {
    let outcome =
        Job::new(PathBuf::from("readelf")).args(["-d", "-W"]).arg(tree::library("libsma.so")).run().expect_code(0);
    let mut soname = "";
    for line in outcome.stdout.lines() {
        let value = line.split(['[', ']']).nth(1).unwrap_or_default();
        if line.contains("(NEEDED)") {
            let allowed = ["libc.so.", "libm.so.", "libgcc_s.so.", "ld-linux"];
            assert!(allowed.iter().any(|name| value.starts_with(name)), "libsma.so needs {value}");
        }
        if line.contains("(SONAME)") {
            soname = value;
        }
        assert!(!line.contains("(TEXTREL)"), "libsma.so has text relocations");
        assert!(!line.contains("(RUNPATH)") && !line.contains("(RPATH)"), "libsma.so has a search path: {line}");
    }
    // docs/install.md says when the number changes.
    assert_eq!(soname, "libsma.so.1");
}

#[test]
fn other_names_of_the_library_are_there() {
    for name in ["libpsma.so", "libpsma.a", "libopenshmem.so", "libshmem.so"] {
        assert!(tree::library(name).exists(), "{name} is missing");
    }
}

/// What counts a call leaves the call site behind only where it goes on to the probe: from where the caller has left
/// it, which is so after a jump.
#[cfg(target_arch = "x86_64")]
#[test]
fn what_counts_a_call_goes_on_by_a_jump() {
    let archive = tree::prefix().join("lib/libsma.a");
    let options = ["-dr", "--no-show-raw-insn", "--no-addresses"];
    let disassembly = Job::new(PathBuf::from("objdump")).args(options).arg(archive).limit(120).run().expect_code(0);
    let (mut jumping, mut calling) = (0, Vec::new());
    for function in disassembly.stdout.split("\n\n").filter(|text| text.contains("pellucid_placed_")) {
        let lines: Vec<&str> = function.trim_start().lines().collect();
        let name = lines.first().copied().unwrap_or_default();
        if !name.starts_with("<pellucid_count_") {
            continue;
        }
        // By a register, or by the place that the next line names.
        let is_call = |at: &usize| {
            let to = lines.get(at + 1).filter(|next| next.contains("R_X86_64_")).unwrap_or(&lines[*at]);
            lines[*at].contains("call ") && (lines[*at].contains("*%") || to.contains("pellucid_placed_"))
        };
        jumping += 1;
        calling.extend((0..lines.len()).filter(is_call).map(|at| format!("{name} {}", lines[at].trim())));
    }
    assert!(jumping > 200 && calling.is_empty(), "{jumping} functions, calls: {calling:#?}");
}
