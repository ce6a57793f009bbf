//! Compiles C and C++ programs with the `oshcc` and `oshc++` under test.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::run::Job;
use crate::{declared, tree};

/// A program to build.
#[derive(Debug, Clone)]
pub struct Build {
    name: String,
    sources: Vec<PathBuf>,
    options: Vec<String>,
    libraries: Vec<String>,
    compiler: &'static str,
}

impl Build {
    /// A C program of `tests/programs`, `launcher/echo.c`.
    pub fn program(path: &str) -> Build {
        let source = tree::package().join("programs").join(path);
        let stem = path.trim_end_matches(".c").trim_end_matches(".cpp").replace('/', "-");
        Build::source(&stem, &source)
    }

    /// A program named `name` from one source file.
    pub fn source(name: &str, source: &Path) -> Build {
        let compiler = if source.extension().is_some_and(|extension| extension == "cpp") { "oshc++" } else { "oshcc" };
        Build {
            name: name.to_string(),
            sources: vec![source.to_path_buf()],
            options: Vec::new(),
            libraries: Vec::new(),
            compiler,
        }
    }

    /// Gives another build of the same source its own name.
    pub fn named(mut self, name: &str) -> Build {
        self.name = name.to_string();
        self
    }

    /// Adds one more source or object file.
    pub fn with(mut self, source: &Path) -> Build {
        self.sources.push(source.to_path_buf());
        self
    }

    /// Adds compiler options.
    pub fn options<S: AsRef<str>>(mut self, options: impl IntoIterator<Item = S>) -> Build {
        self.options.extend(options.into_iter().map(|option| option.as_ref().to_string()));
        self
    }

    /// Adds what comes after the sources: `-l` options, other linker input.
    pub fn libraries<S: AsRef<str>>(mut self, libraries: impl IntoIterator<Item = S>) -> Build {
        self.libraries.extend(libraries.into_iter().map(|library| library.as_ref().to_string()));
        self
    }

    /// Compiles, or takes an earlier result of the same inputs.
    ///
    /// # Panics
    /// Panics with the compiler's messages where the build fails.
    pub fn build(&self) -> PathBuf {
        self.try_build().unwrap_or_else(|message| panic!("{message}"))
    }

    /// Compiles, or takes an earlier result of the same inputs.
    ///
    /// # Errors
    /// The command and the compiler's messages.
    pub fn try_build(&self) -> Result<PathBuf, String> {
        let mut key = DefaultHasher::new();
        (self.compiler, &self.options, &self.libraries, library_age()).hash(&mut key);
        for source in &self.sources {
            source.hash(&mut key);
            std::fs::read(source).map_err(|error| format!("{}: {error}", source.display()))?.hash(&mut key);
        }
        let folder = tree::scratch("programs");
        let target = folder.join(format!("{}-{:08x}", self.name, key.finish() as u32));
        if target.exists() {
            return Ok(target);
        }
        // Two tests may want the same program at once: build aside, then put it in place.
        static BUILDS: AtomicUsize = AtomicUsize::new(0);
        let number = BUILDS.fetch_add(1, Ordering::Relaxed);
        let partial = folder.join(format!("{}-{}-{number}.partial", self.name, std::process::id()));
        let outcome = Job::new(tree::tool(self.compiler))
            .args(["-O1", "-g", "-Wall", "-Wextra", "-I"])
            .arg(tree::package().join("include"))
            .arg("-I")
            .arg(declared_header())
            .args(&self.options)
            .args(&self.sources)
            .args(&self.libraries)
            .arg("-o")
            .arg(&partial)
            .limit(120)
            .run();
        if outcome.code() != 0 {
            return Err(format!("{} does not build\n{}", self.name, outcome.describe()));
        }
        // Whoever is first stays: jobs may run it already, and a profile names the lines of the file that it ran.
        let linked = std::fs::hard_link(&partial, &target);
        let _ = std::fs::remove_file(&partial);
        match linked {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(format!("{}: {error}", target.display())),
            _ => Ok(target),
        }
    }
}

/// What tells that the tree under test was built anew.
fn library_age() -> Vec<Option<std::time::SystemTime>> {
    let age = |path: PathBuf| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    let include = |name: &str| age(tree::package().join("include").join(name));
    vec![
        age(tree::header("shmem.h")),
        age(tree::library("libsma.a")),
        age(tree::library("libsma.so")),
        age(tree::prefix().join("bin/oshcc")),
        include("check.h"),
        include("teams.h"),
    ]
}

/// Folder with `declared.h`: one `HAVE_shmem_X` for each function of the built header, so that a C program can leave
/// out what this build does not have.
fn declared_header() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = tree::scratch("include");
        let mut names: Vec<&String> = declared::functions().iter().collect();
        names.sort();
        let text: String = names.iter().map(|name| format!("#define HAVE_{name} 1\n")).collect();
        let path = folder.join("declared.h");
        tree::write_whole(&path, &text).expect("target/tests can be written");
        folder
    })
}
