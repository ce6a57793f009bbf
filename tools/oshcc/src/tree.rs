//! The installation that this program belongs to.

use std::env;
use std::path::{Path, PathBuf};

/// `bin/`, `include/` and `lib/` beside each other, wherever they were put.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree {
    /// Where the headers are.
    pub include: PathBuf,
    /// Where the libraries are.
    pub lib: PathBuf,
}

impl Tree {
    /// The tree around this executable. Error: it lies in no such tree.
    pub fn of_this_program() -> Result<Self, String> {
        let program = env::current_exe().and_then(|path| path.canonicalize());
        let program = program.map_err(|error| format!("cannot find out where this program is: {error}"))?;
        let root = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let tree = Self::at(root);
        if tree.include.join("shmem.h").is_file() {
            return Ok(tree);
        }
        Err(format!(
            "no {}: this program ({}) must be in bin/ of an installation, as ./x build and ./x install make it",
            tree.include.join("shmem.h").display(),
            program.display()
        ))
    }

    /// Whether the Fortran interface was built.
    pub fn has_fortran(&self) -> bool {
        ["libsmaf.so", "libsmaf.a"].iter().any(|name| self.lib.join(name).exists())
    }

    /// The tree with this root.
    pub fn at(root: &Path) -> Self {
        Self { include: root.join("include"), lib: root.join("lib") }
    }
}
