//! Programs of `tests/programs/gasnet`: how they are compiled, and how they say that all is well.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

use libtest_mimic::Failed;

use crate::run::{Job, Outcome};
use crate::tree;

/// A program in a thread mode.
#[derive(Debug, Clone)]
pub struct Program {
    /// What a test is called by.
    pub name: String,
    /// Its file, without extension.
    pub source: &'static str,
    /// `SEQ`, `PARSYNC` or `PAR`.
    pub mode: &'static str,
    /// Options of the compiler.
    pub options: Vec<String>,
}

impl Program {
    /// Compiled as it is.
    pub fn new(source: &'static str, mode: &'static str) -> Self {
        Self { name: format!("{source} {mode}"), source, mode, options: Vec::new() }
    }

    /// Numbers of PEs that it runs with.
    pub fn pes(&self) -> Vec<usize> {
        match (self.mode, self.source) {
            ("PAR", "threads") => vec![1, 3],
            ("PAR", _) if self.options.is_empty() => vec![1, 2, 3, 4, 8],
            ("PAR", _) => vec![1, 3],
            _ => vec![1, 4],
        }
    }

    /// Compiles it, once.
    pub fn build(&self) -> Result<PathBuf, Failed> {
        static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let to = tree::scratch("gasnet").join(self.name.replace(' ', "-"));
        let mut built = BUILT.lock().expect("no build panics");
        if built.contains(&self.name) {
            return Ok(to);
        }
        let source = tree::package().join("programs/gasnet").join(format!("{}.c", self.source));
        let lower = self.mode.to_lowercase();
        let line = format!(
            "cc -std=c11 -O1 -Wall -Wextra -Werror $4 -o \"$1\" \"$2\" \
             $(PKG_CONFIG_PATH=\"$3\" pkg-config --cflags --libs gasnet-pellucid-{lower})"
        );
        let job = Job::new("sh").arg("-c").arg(line).arg("sh").arg(&to).arg(source).arg(tree::library("pkgconfig"));
        good(&job.arg(self.options.join(" ")).run())?;
        built.insert(self.name.clone());
        Ok(to)
    }
}

/// Whether a command came to a good end.
pub fn good(outcome: &Outcome) -> Result<(), Failed> {
    if outcome.code() == 0 { Ok(()) } else { Err(outcome.describe().into()) }
}

/// Whether all PEs said that all is well.
pub fn all_is_well(outcome: &Outcome, pes: usize) -> Result<(), Failed> {
    let good = outcome.code() == 0 && outcome.stdout.matches("all is well").count() == pes;
    if good { Ok(()) } else { Err(outcome.describe().into()) }
}

/// A program in C++, compiled for a mode.
pub fn cxx(name: &str, mode: &str) -> Result<PathBuf, Failed> {
    let source = tree::package().join("programs/gasnet").join(format!("{name}.cpp"));
    let to = tree::scratch("gasnet").join(format!("{name}-{mode}"));
    let line = format!(
        "c++ -std=c++17 -O1 -Wall -Wextra -Werror -o \"$1\" \"$2\" \
         $(PKG_CONFIG_PATH=\"$3\" pkg-config --cflags --libs gasnet-pellucid-{mode})"
    );
    let built = Job::new("sh").arg("-c").arg(line).arg("sh").arg(&to).arg(source).arg(tree::library("pkgconfig")).run();
    good(&built)?;
    Ok(to)
}
