//! Symbols of the library: every routine twice, `shmem_X` weak and `pshmem_X` strong, none missing.

mod common;

use std::collections::HashMap;
use std::process::Command;

use pellucid_profile::op::OPS;

#[test]
fn each_routine_is_weak_and_its_twin_strong() {
    let result = Command::new("nm").args(["--defined-only", "--format=posix"]).arg(common::library()).output().unwrap();
    let mut symbols: HashMap<String, Vec<String>> = HashMap::new();
    for line in String::from_utf8_lossy(&result.stdout).lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(kind)) = (words.next(), words.next()) {
            symbols.entry(name.to_owned()).or_default().push(kind.to_owned());
        }
    }
    for op in OPS {
        assert_eq!(symbols.get(op.name()), Some(&vec!["W".to_owned()]), "{}", op.name());
        let twin = format!("p{}", op.name());
        assert_eq!(symbols.get(&twin), Some(&vec!["T".to_owned()]), "{twin}");
    }
    let extra: Vec<_> = symbols
        .keys()
        .filter(|name| name.starts_with("shmem_") || name.starts_with("pshmem_"))
        .filter(|name| pellucid_profile::op::find(name.strip_prefix('p').unwrap_or(name)).is_none())
        .collect();
    assert!(extra.is_empty(), "symbols that are in no table: {extra:?}");
}

#[test]
fn each_routine_and_its_twin_has_an_address_of_its_own() {
    let result = Command::new("nm").args(["--defined-only", "--format=posix"]).arg(common::library()).output().unwrap();
    let mut addresses: HashMap<String, String> = HashMap::new();
    for line in String::from_utf8_lossy(&result.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, "W" | "T", address, ..] = words[..]
            && pellucid_profile::op::find(name.strip_prefix('p').unwrap_or(name)).is_some()
        {
            let other = addresses.insert(address.to_owned(), name.to_owned());
            assert_eq!(other, None, "{name} is where another routine is");
        }
    }
    assert_eq!(addresses.len(), 2 * OPS.len());
}
