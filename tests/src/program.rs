//! The C programs of the conformance suite and what their first comment asks for.

use std::path::{Path, PathBuf};

use crate::compile::Build;
use crate::run::{Job, Outcome};
use crate::{declared, template, tree};

/// A program of `tests/conformance`, expanded for this build.
#[derive(Debug)]
pub struct Program {
    /// `chapter/name`, `9.06-rma/contiguous`.
    pub name: String,
    /// C text after expansion.
    pub text: String,
    /// Extension of the source, `c` or `cpp`.
    extension: String,
    /// Whether a C program is to be compiled as C++ as well.
    also_cpp: bool,
    pes: Vec<usize>,
    needs: Vec<String>,
    options: Vec<String>,
    libraries: Vec<String>,
    oshrun: Vec<String>,
    environment: Vec<(String, String)>,
    limit: u64,
    status: i32,
    expect: Vec<String>,
    one_host: bool,
}

impl Program {
    /// Reads a program and expands its templates.
    fn read(chapter: &str, path: &Path) -> Program {
        let raw = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let words = |key: &str| -> Vec<String> { fields(&raw, key).flat_map(split).collect() };
        let numbers: Vec<usize> = words("pes").iter().filter_map(|word| word.parse().ok()).collect();
        Program {
            name: format!("{chapter}/{stem}"),
            text: template::expand(&raw),
            also_cpp: words("also").iter().any(|language| language == "c++"),
            extension: path.extension().unwrap_or_default().to_string_lossy().into_owned(),
            pes: if numbers.is_empty() { vec![1, 2, 3, 4] } else { numbers },
            needs: words("needs"),
            options: words("cflags"),
            libraries: words("libraries"),
            oshrun: words("oshrun"),
            environment: words("environment")
                .iter()
                .filter_map(|pair| pair.split_once('=').map(|(name, value)| (name.into(), value.into())))
                .collect(),
            limit: words("limit").first().and_then(|word| word.parse().ok()).unwrap_or(60),
            status: words("status").first().and_then(|word| word.parse().ok()).unwrap_or(0),
            expect: fields(&raw, "expect").map(String::from).collect(),
            one_host: words("hosts") == ["one"],
        }
    }

    /// Routines the program cannot do without and this build does not have.
    pub fn missing(&self) -> Vec<&str> {
        let declared = declared::functions();
        self.needs.iter().filter(|name| !declared.contains(*name)).map(String::as_str).collect()
    }

    /// Whether the program expects common memory between all PEs.
    pub fn needs_one_host(&self) -> bool {
        self.one_host
    }

    /// The number of PEs nearest to `pes` at which the program runs.
    pub fn pes_near(&self, pes: usize) -> usize {
        self.pes.iter().copied().min_by_key(|own| own.abs_diff(pes)).unwrap_or(pes)
    }

    /// Compiles the program.
    ///
    /// # Errors
    /// The command and the compiler's messages.
    pub fn build(&self) -> Result<PathBuf, String> {
        self.build_as(&self.extension, &self.text, &self.options)
    }

    /// Compiles the program as C++, where it is one of both languages.
    fn build_cpp(&self) -> Result<PathBuf, String> {
        // What C++ calls the types that the table gives in C.
        let text = ["float", "double"].iter().fold(self.text.clone(), |text, part| {
            text.replace(&format!("{part} _Complex"), &format!("std::complex<{part}>"))
        });
        self.build_as("cpp", &text, &["-std=gnu++17".to_string()])
    }

    fn build_as(&self, extension: &str, text: &str, options: &[String]) -> Result<PathBuf, String> {
        let file = self.name.replace('/', "-");
        let source = tree::scratch("generated").join(format!("{file}.{extension}"));
        tree::write_whole(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let name = if extension == self.extension { file } else { format!("{file}-{extension}") };
        Build::source(&name, &source).options(["-Werror"]).options(options).libraries(&self.libraries).try_build()
    }

    /// The job that runs the compiled program at a number of PEs, with more options of `oshrun`.
    pub fn job(&self, binary: &Path, pes: usize, options: &[&str]) -> Job {
        self.job_of(Job::oshrun(pes).args(options), binary)
    }

    /// Whether the program needs no option of `oshrun`, so that any launcher can run it.
    pub fn runs_alike(&self) -> bool {
        self.oshrun.is_empty()
    }

    /// As [`Program::job`], with `oshrun` and its options as given. What writes files has a folder for them, where they
    /// stay if it fails, and which ends with the job.
    pub fn job_of(&self, oshrun: Job, binary: &Path) -> Job {
        let mut job = oshrun.limit(self.limit).args(&self.oshrun);
        if self.text.contains("getenv(\"TMPDIR\")") {
            job = job.own_temporary();
        }
        for (name, value) in &self.environment {
            job = job.env(name, value);
        }
        job.arg(binary)
    }

    /// Whether an outcome is the one that the program asks for.
    ///
    /// # Errors
    /// What differs, with command and output.
    pub fn check(&self, outcome: &Outcome) -> Result<(), String> {
        let text = |part: &&String| outcome.stdout.contains(*part) || outcome.stderr.contains(*part);
        let lacking: Vec<&String> = self.expect.iter().filter(|part| !text(part)).collect();
        if outcome.code() == self.status && lacking.is_empty() {
            return Ok(());
        }
        let lacking: String = lacking.iter().map(|part| format!("output lacks \"{part}\"\n")).collect();
        Err(format!("{}{lacking}", outcome.describe()))
    }

    /// Compiles the program and runs it at each of its PE counts.
    ///
    /// # Errors
    /// What failed, with commands and output.
    pub fn run(&self) -> Result<(), String> {
        let mut binaries = vec![self.build()?];
        if self.also_cpp {
            binaries.push(self.build_cpp()?);
        }
        let mut failures = Vec::new();
        for binary in &binaries {
            for &pes in &self.pes {
                if let Err(message) = self.check(&self.job(binary, pes, &[]).run()) {
                    failures.push(format!("at {pes} PEs:\n{message}"));
                }
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    }
}

/// Every program of `tests/conformance`, in the order of the chapters.
///
/// # Panics
/// Panics where the folder cannot be read.
pub fn conformance() -> Vec<Program> {
    let root = tree::package().join("conformance");
    let mut programs = Vec::new();
    for chapter in entries(&root) {
        let name = chapter.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for path in entries(&chapter) {
            if path.extension().is_some_and(|extension| extension == "c" || extension == "cpp") {
                programs.push(Program::read(&name, &path));
            }
        }
    }
    programs
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Values of ` * key: value` lines in the first comment.
fn fields<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().take_while(|line| !line.contains("*/")).filter_map(move |line| {
        let line = line.trim().strip_prefix("* ")?;
        let (name, value) = line.split_once(':')?;
        (name == key).then(|| value.trim())
    })
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_comment_holds_the_settings() {
        let text = "/* A program.\n * pes: 1 2\n * expect: a b\n */\n * pes: 9\n";
        assert_eq!(fields(text, "pes").collect::<Vec<_>>(), ["1 2"]);
        assert_eq!(fields(text, "expect").collect::<Vec<_>>(), ["a b"]);
    }
}
