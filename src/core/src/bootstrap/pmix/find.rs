//! Which libpmix is opened: the launcher's own where it can be found. Others speak with it too, but not all of them
//! well: a client of PMIx 4 has the server of PMIx 5 print errors, and takes the components of the place that the
//! launcher names.

use super::abi::Functions;
use super::wrong;
use crate::base::{Fault, env};
use crate::os::ancestors;
use crate::os::library::Library;

/// The library's name, for those whose loader knows where it is.
const LIBRARY: &str = "libpmix.so.2";
/// Variables that say where a launcher and its libraries are installed.
const PREFIXES: [&str; 2] = ["PMIX_PREFIX", "OPAL_PREFIX"];
/// Where below such a place it is; Open MPI's Python package hides its own copy.
const BELOW: [&str; 3] = ["lib", "lib64", "lib/openmpi"];
/// Where it is otherwise.
const FOLDERS: [&str; 4] =
    ["/usr/lib/x86_64-linux-gnu/pmix2/lib", "/usr/local/lib", "/usr/local/lib64", "/opt/pmix/lib"];

/// Opens it: its functions, and where it was found.
pub(super) fn load() -> Result<(Functions, String), Fault> {
    let names = match env::lookup("PMIX_LIBRARY").filter(|(_, path)| !path.is_empty()) {
        Some((_, path)) => vec![path],
        None => {
            let prefixes = PREFIXES.iter().filter_map(|name| std::env::var(name).ok());
            candidates(ancestors::library(LIBRARY), prefixes)
        }
    };
    let (library, path) = Library::open_first(names.iter().map(String::as_str)).map_err(|reasons| {
        wrong(format!(
            "the launcher speaks PMIx, and {LIBRARY} cannot be opened: {reasons}. Install it (Debian: libpmix2, \
             others: pmix), or say where it is with SHMEM_PMIX_LIBRARY"
        ))
    })?;
    let functions =
        Functions::find(library).map_err(|name| wrong(format!("{path} has no {name}: PMIx 2 or later is needed")))?;
    Ok((functions, path.to_owned()))
}

/// Where to look, in this order: what the launcher's daemon has loaded, where it says that it is installed, what the
/// loader finds, and the usual folders.
fn candidates(launchers: Option<String>, prefixes: impl Iterator<Item = String>) -> Vec<String> {
    let below = prefixes
        .filter(|prefix| !prefix.is_empty())
        .flat_map(|prefix| BELOW.map(|folder| format!("{}/{folder}/{LIBRARY}", prefix.trim_end_matches('/'))));
    let folders = FOLDERS.iter().map(|folder| format!("{folder}/{LIBRARY}"));
    let mut names: Vec<String> = Vec::new();
    for name in launchers.into_iter().chain(below).chain([LIBRARY.to_owned()]).chain(folders) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launchers_own_comes_first() {
        let names =
            candidates(Some("/l/libpmix.so.2.9".into()), ["/p/".to_owned(), String::new(), "/p".into()].into_iter());
        assert_eq!(
            names[..5],
            [
                "/l/libpmix.so.2.9",
                "/p/lib/libpmix.so.2",
                "/p/lib64/libpmix.so.2",
                "/p/lib/openmpi/libpmix.so.2",
                "libpmix.so.2"
            ]
        );
        assert_eq!(names.len(), 5 + FOLDERS.len());
        assert_eq!(candidates(None, std::iter::empty())[0], LIBRARY);
    }
}
