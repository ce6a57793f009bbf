//! What a program is linked to: one of another OpenSHMEM library knows nothing of this launcher. Each of its PEs would
//! be PE 0 of 1, or crash.

use object::read::elf::{Dyn, FileHeader};
use object::{Endianness, ReadCache, elf};
use std::fs::File;
use std::path::Path;

/// Other libraries by the beginning of their names, and whose they are.
const OTHERS: &[(&str, &str)] =
    &[("liboshmem.so", "Open MPI"), ("libshmem.so", "OSSS-UCX"), ("libsma.so", "another one")];
/// Ours; programs of before it had a number ask for the name without one.
const OWN: [&str; 2] = ["libsma.so.1", "libsma.so"];

/// The OpenSHMEM library that is not ours among those that a program names: its name, and whose it is. `None` also for
/// what is no ELF file, or names ours, too.
pub fn other_library(program: &Path) -> Option<(String, &'static str)> {
    let needed = needed(program)?;
    if needed.iter().any(|name| OWN.contains(&name.as_str())) {
        return None;
    }
    let other = |name: &str| OTHERS.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, whose)| *whose);
    needed.into_iter().find_map(|name| other(&name).map(|whose| (name, whose)))
}

/// The libraries that a program is linked to.
fn needed(program: &Path) -> Option<Vec<String>> {
    let cache = ReadCache::new(File::open(program).ok()?);
    let header = elf::FileHeader64::<Endianness>::parse(&cache).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &cache).ok()?;
    let (entries, names) = sections.dynamic(endian, &cache).ok()??;
    let names = sections.strings(endian, &cache, names).ok()?;
    let needed = entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED);
    let name = |entry: &elf::Dyn64<Endianness>| entry.string(endian, names).ok().map(String::from_utf8_lossy);
    Some(needed.filter_map(name).map(|name| name.into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_a_program() {
        let own = std::env::current_exe().expect("this program");
        assert!(needed(&own).is_some_and(|names| names.iter().any(|name| name.starts_with("libc.so"))));
        assert_eq!(other_library(&own), None);
        assert_eq!(needed(Path::new("/etc/passwd")), None);
        assert_eq!(needed(Path::new("/nonexistent")), None);
    }
}
