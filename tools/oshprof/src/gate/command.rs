//! A command that is run again and again, each time with a profile.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pellucid_profile::output::OutputDir;

use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::gate::interrupt;

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// A file or folder could not be made or removed.
    File(PathBuf, io::Error),
    /// The shell could not be started.
    Start(io::Error),
    /// The command failed: its line, its status, the end of what it printed.
    Run(String, ExitStatus, String),
    /// It took too long.
    Late(String, Duration),
    /// It left no profile that can be read.
    Profile(String, String),
    /// A signal ended the gate.
    Interrupted(i32),
    /// Anything else, as a sentence.
    Other(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::File(path, error) => write!(f, "{}: {error}", path.display()),
            Failure::Start(error) => write!(f, "the shell cannot be started: {error}"),
            Failure::Run(line, status, tail) => {
                let how = match status.signal() {
                    Some(signal) => format!("was ended by signal {signal}"),
                    None => format!("ended with status {}", status.code().unwrap_or(-1)),
                };
                write!(f, "`{line}` {how}")?;
                if tail.is_empty() { Ok(()) } else { write!(f, ":\n{tail}") }
            }
            Failure::Late(line, limit) => write!(f, "`{line}` did not end within {} s (--limit)", limit.as_secs_f64()),
            Failure::Profile(line, why) => {
                write!(f, "`{line}` left no profile (is it started by oshrun, or another launcher?): {why}")
            }
            Failure::Interrupted(signal) => write!(f, "ended by signal {signal}"),
            Failure::Other(text) => f.write_str(text),
        }
    }
}

/// A folder for profiles; one that nobody asked to keep is removed in the end.
#[derive(Debug)]
pub struct Folder {
    dir: OutputDir,
    path: PathBuf,
    is_kept: bool,
}

impl Folder {
    /// This one, or one of its own.
    pub fn new(kept: Option<&Path>) -> Result<Folder, Failure> {
        let dir = match kept {
            Some(path) => OutputDir::own(path),
            None => OutputDir::take_private(&std::env::temp_dir().join(format!("oshprof-gate-{}", std::process::id()))),
        };
        let dir = dir.map_err(|error| Failure::Other(error.to_string()))?;
        let path = dir.path().canonicalize().map_err(|error| Failure::File(dir.path().to_owned(), error))?;
        Ok(Folder { dir, path, is_kept: kept.is_some() })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// A command and where its profiles go.
#[derive(Debug)]
pub struct Program {
    /// As it was given.
    line: String,
    /// As the shell runs it.
    shell: String,
    /// What stands for the program in it, as the shell's first parameter: a path needs no quotes there, whatever it is.
    /// With the word that it stands for.
    link: Option<(PathBuf, String)>,
    folder: std::rc::Rc<Folder>,
    side: &'static str,
    runs: usize,
    limit: Duration,
}

/// Both commands, run from paths of equal length: what the stack begins with moves everything on it.
pub fn pair(base: &str, new: &str, folder: Folder, limit: Duration) -> Result<[Program; 2], Failure> {
    let folder = std::rc::Rc::new(folder);
    let program = |line: &str, side| Program {
        line: line.to_owned(),
        shell: line.to_owned(),
        link: None,
        folder: folder.clone(),
        side,
        runs: 0,
        limit,
    };
    let mut programs = [program(base, "base"), program(new, "new")];
    if let Some(words) = different_programs(base, new) {
        let links = symlinks(&folder.path, words.each_ref().map(Path::new));
        for ((program, word), link) in programs.iter_mut().zip(words).zip(links) {
            let target = fs::canonicalize(&word).map_err(|error| Failure::File(word.clone().into(), error))?;
            let made = || {
                link.parent().map_or(Ok(()), fs::create_dir_all)?;
                let _ = fs::remove_file(&link);
                std::os::unix::fs::symlink(target, &link)
            };
            made().map_err(|error| Failure::File(link.clone(), error))?;
            program.shell = with_parameter(&program.line, &word);
            program.link = Some((link, word));
        }
    }
    Ok(programs)
}

/// Where two programs are started from, at paths of equal length and by the names that they have: a profile that is
/// kept is that of the program, not of its link.
fn symlinks(folder: &Path, programs: [&Path; 2]) -> [PathBuf; 2] {
    let names = programs.map(|program| program.file_name().unwrap_or_default());
    let longest = names[0].len().max(names[1].len());
    let link = |(name, side): (&std::ffi::OsStr, char)| {
        folder.join(format!("{side}{}", "-".repeat(longest - name.len()))).join(name)
    };
    [link((names[0], 'b')), link((names[1], 'n'))]
}

/// The word in which two plain commands differ, where it is a program in both. Other files keep their names, which say
/// what they are.
fn different_programs(base: &str, new: &str) -> Option<[String; 2]> {
    const SHELL: &str = "\"'\\$`;&|<>(){}*?~#";
    if [base, new].iter().any(|line| line.contains(|c| SHELL.contains(c))) {
        return None;
    }
    let words: Vec<(&str, &str)> =
        base.split_whitespace().zip(new.split_whitespace()).filter(|(a, b)| a != b).collect();
    let same_number = base.split_whitespace().count() == new.split_whitespace().count();
    match words[..] {
        [(a, b)] if same_number && is_program(Path::new(a)) && is_program(Path::new(b)) => {
            Some([a.to_owned(), b.to_owned()])
        }
        _ => None,
    }
}

/// Whether a file is one that the system executes by itself. Scripts look at their own path.
fn is_program(path: &Path) -> bool {
    let may_run = |facts: fs::Metadata| facts.is_file() && facts.permissions().mode() & 0o111 != 0;
    let mut magic = [0; 4];
    path.metadata().is_ok_and(may_run)
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}

/// The line with the shell's first parameter for a word.
fn with_parameter(line: &str, word: &str) -> String {
    line.split_whitespace().map(|w| if w == word { "\"$1\"" } else { w }).collect::<Vec<_>>().join(" ")
}

impl Program {
    /// One run.
    ///
    /// # Errors
    /// Whatever kept it from leaving a profile.
    pub fn run(&mut self, places: &Places<'_>) -> Result<Run, Failure> {
        self.runs += 1;
        let profile = self.folder.path.join(format!("{}-{:03}", self.side, self.runs));
        let output = self.folder.path.join("output");
        let _ = self.folder.dir.remove("output");
        let file = self.folder.dir.create("output").map_err(|error| Failure::File(output.clone(), error))?;
        let both = file.try_clone().map_err(|error| Failure::File(output.clone(), error))?;
        let second = profile.with_file_name(format!("{}-{:03}.2", self.side, self.runs));
        for earlier in [&profile, &second] {
            let _ = fs::remove_dir_all(earlier);
        }
        let mut child = Command::new("/bin/sh")
            .args(["-c", &self.shell, "/bin/sh"])
            .args(self.link.as_ref().map(|(link, _)| link))
            .env("SHMEM_PROFILE_DIR", &profile)
            // Counts are compared one by one.
            .env("SHMEM_PROFILE_SITES", "exact")
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(both)
            .process_group(0)
            .spawn()
            .map_err(Failure::Start)?;
        let status = wait(&mut child, self.limit);
        if let Some(signal) = interrupt::came() {
            return Err(Failure::Interrupted(signal));
        }
        let status = status.ok_or_else(|| Failure::Late(self.line.clone(), self.limit))?;
        if !status.success() {
            return Err(Failure::Run(self.line.clone(), status, tail(&output)));
        }
        if second.exists() {
            let why = "it started more than one job, and one would be compared: a gate is for each";
            return Err(Failure::Other(format!("`{}`: {why}", self.line)));
        }
        let mut run = Run::read(&profile, places).map_err(|why| Failure::Profile(self.line.clone(), why))?;
        if let Some((link, word)) = &self.link
            && Path::new(&run.job.program) == link
        {
            // It is told as it was given.
            run.job.program.clone_from(word);
        }
        if !self.folder.is_kept {
            let _ = fs::remove_dir_all(&profile);
        }
        Ok(run)
    }
}

/// How long a command has to end by itself when a signal ends the gate.
const GRACE: Duration = Duration::from_secs(5);

/// Waits for the end; `None` where it did not come in time, and the command and all that it started are ended. A
/// signal that ends the gate is passed on to them.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let mut end = Instant::now() + limit;
    let mut nap = Duration::from_millis(1);
    let mut is_told = false;
    while Instant::now() < end {
        if let Some(signal) = interrupt::came().filter(|_| !is_told) {
            is_told = true;
            end = Instant::now() + GRACE;
            crate::gate::machine::end_group(child.id(), signal);
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(nap);
        nap = (2 * nap).min(Duration::from_millis(10));
    }
    crate::gate::machine::end_group(child.id(), libc::SIGKILL);
    let _ = child.wait();
    None
}

fn tail(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_its_own_is_not_where_somebody_leads_it() {
        let wanted = std::env::temp_dir().join(format!("oshprof-gate-{}", std::process::id()));
        let elsewhere = std::env::temp_dir().join(format!("oshprof-gate-elsewhere-{}", std::process::id()));
        let _ = fs::remove_file(&wanted);
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("output"), "precious").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &wanted).unwrap();
        let folder = Folder::new(None).unwrap();
        assert_eq!(
            folder.path.file_name().unwrap().to_string_lossy(),
            format!("oshprof-gate-{}.2", std::process::id())
        );
        let path = folder.path.clone();
        drop(folder);
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(elsewhere.join("output")).unwrap(), "precious");
        fs::remove_file(&wanted).unwrap();
        fs::remove_dir_all(&elsewhere).unwrap();
    }

    #[test]
    fn the_word_that_differs_is_a_program_in_both() {
        let two = different_programs("oshrun -n 2 /bin/sh x", "oshrun -n 2 /bin/cat x");
        assert_eq!(two, Some(["/bin/sh".to_owned(), "/bin/cat".to_owned()]));
        assert_eq!(different_programs("oshrun -n 2 /bin/sh", "oshrun -n 4 /bin/cat"), None);
        assert_eq!(different_programs("a '/bin/sh'", "a '/bin/cat'"), None);
        assert_eq!(different_programs("/bin/sh a", "/bin/cat"), None);
        assert_eq!(with_parameter("a b a", "a"), "\"$1\" b \"$1\"");
    }

    #[test]
    fn programs_keep_their_names_at_paths_of_equal_length() {
        let of = |base: &str, new: &str| symlinks(Path::new("/gate"), [base, new].map(Path::new));
        assert_eq!(of("old/heat", "./heat"), ["/gate/b/heat", "/gate/n/heat"].map(PathBuf::from));
        let [base, new] = of("./heat", "./heat_new");
        assert_eq!([&base, &new], ["/gate/b----/heat", "/gate/n/heat_new"].map(Path::new).each_ref());
        assert_eq!(base.as_os_str().len(), new.as_os_str().len());
    }

    #[test]
    fn files_that_are_no_programs_keep_their_names() {
        let folder = std::env::temp_dir().join(format!("oshprof-gate-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (kind, mode, text) in [
            ("data", 0o644, "1 2 3"),
            ("object", 0o644, "\x7fELF\x02"),
            ("script", 0o755, "#!/bin/sh"),
            ("short", 0o755, ""),
        ] {
            let files = ["a", "b"].map(|name| folder.join(format!("{name}.{kind}")).to_string_lossy().into_owned());
            for file in &files {
                fs::write(file, text).unwrap();
                fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
            }
            let [a, b] = files.map(|file| format!("oshrun -n 2 /bin/cat {file}"));
            assert_eq!(different_programs(&a, &b), None, "{kind}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn programs_run_from_folders_of_any_name() {
        use std::os::unix::ffi::OsStrExt;
        let scratch = std::env::temp_dir().join(format!("oshprof-gate-names-{}", std::process::id()));
        for name in [&b"K(1)"[..], b"K;1", b"it's it", b"$HOME `x`", b"a\"b", b"\xff", b"two\nlines"] {
            let kept = scratch.join(std::ffi::OsStr::from_bytes(name));
            fs::create_dir_all(&kept).unwrap();
            let programs = pair("/bin/true", "/bin/sleep", Folder::new(Some(&kept)).unwrap(), Duration::from_secs(10));
            let [mut base, _] = programs.unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
            let (link, _) = base.link.clone().expect("both are programs");
            assert_eq!(link.file_name(), Some(std::ffi::OsStr::new("true")));
            assert_eq!(fs::canonicalize(&link).unwrap(), fs::canonicalize("/bin/true").unwrap());
            // It is run, and as it is no program of OpenSHMEM it leaves no profile.
            let debug = crate::resolve::Resolver::default();
            let failed = base.run(&Places::new(&debug)).unwrap_err();
            assert!(matches!(failed, Failure::Profile(..)), "{}: {failed}", kept.display());
        }
        fs::remove_dir_all(&scratch).unwrap();
    }
}
