//! The OpenSHMEM libraries that are measured: where they are, how they compile and how they start a job.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::job;

/// Our own name in results.
pub const OURS: &str = "pellucid";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launcher {
    Pellucid,
    OpenMpi,
}

/// One installed library.
#[derive(Clone, Debug)]
pub struct Library {
    /// In results.
    pub name: &'static str,
    /// For people.
    pub label: &'static str,
    cc: PathBuf,
    oshrun: PathBuf,
    launcher: Launcher,
}

impl Library {
    /// The library of this repository, or why it cannot be measured.
    pub fn ours(prefix: &Path) -> Result<Library, String> {
        let bin = prefix.join("bin");
        for tool in ["oshcc", "oshrun"] {
            if !bin.join(tool).is_file() {
                return Err(format!("{} is missing: run ./x build", bin.join(tool).display()));
            }
        }
        Ok(Library {
            name: OURS,
            label: "Pellucid",
            cc: bin.join("oshcc"),
            oshrun: bin.join("oshrun"),
            launcher: Launcher::Pellucid,
        })
    }

    /// Open MPI's OSHMEM where the search path leads to it, or why not. Other libraries use the same command names.
    pub fn oshmem() -> Result<Library, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        for folder in env::split_paths(&path) {
            let (cc, oshrun) = (folder.join("oshcc"), folder.join("oshrun"));
            if cc.is_file() && oshrun.is_file() && is_open_mpi(&oshrun) && has_header(&cc) {
                return Ok(Library { name: "oshmem", label: "OSHMEM", cc, oshrun, launcher: Launcher::OpenMpi });
            }
        }
        Err("Open MPI's oshcc and oshrun are not on the search path, or their shmem.h is not there \
             (Debian: apt install openmpi-bin libopenmpi-dev)"
            .to_owned())
    }

    /// The reporter of our profiles, beside the launcher.
    pub fn oshprof(&self) -> Command {
        Command::new(self.oshrun.with_file_name("oshprof"))
    }

    /// The compiler wrapper.
    pub fn compiler(&self) -> Command {
        Command::new(&self.cc)
    }

    /// The same for programs that use the GASNet-EX interface, too: its library has all that ours has.
    pub fn gasnet_compiler(&self) -> Command {
        let prefix = self.cc.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        let mut command = self.compiler();
        command.arg("-DGASNET_PAR").arg("-I").arg(prefix.join("include/gasnet"));
        // In front of what the wrapper links.
        command.arg("-Wl,--no-as-needed").arg(prefix.join("lib/libgasnet-pellucid-par.so"));
        command
    }

    /// The launcher.
    pub fn launcher(&self) -> &Path {
        &self.oshrun
    }

    /// A job of `pes` PEs without its program yet. PEs are bound to a core each where there are enough of them.
    pub fn bare_job(&self, pes: u32, cores: u32) -> Command {
        let bound = pes <= cores;
        let mut command = Command::new(&self.oshrun);
        let pes = pes.to_string();
        match self.launcher {
            Launcher::Pellucid => {
                command.args(["-n", &pes, "--bind", if bound { "core" } else { "none" }]);
            }
            Launcher::OpenMpi => {
                // UCX's memory hooks and Open MPI's get in each other's way in Debian 12: it crashes at start.
                command.args(["--mca", "opal_common_ucx_opal_mem_hooks", "0"]);
                command.args(["--allow-run-as-root", "-n", &pes, "--bind-to"]);
                command.arg(if bound { "core" } else { "none" });
                if !bound {
                    command.arg("--oversubscribe");
                }
            }
        }
        command
    }

    /// The environment variables that set the symmetric heap. Open MPI 4.1 ignores the newer one.
    fn heap_variables(&self) -> &'static [&'static str] {
        match self.launcher {
            Launcher::Pellucid => &["SHMEM_SYMMETRIC_SIZE"],
            Launcher::OpenMpi => &["SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"],
        }
    }

    /// Gives each PE of a job this symmetric heap.
    pub fn set_heap(&self, job: &mut Command, size: &str) {
        job.envs(self.heap_variables().iter().map(|variable| (variable, size)));
    }

    /// A job of `pes` PEs that runs `program`.
    pub fn job(&self, program: &Path, pes: u32, cores: u32) -> Command {
        let mut command = self.bare_job(pes, cores);
        command.arg(program);
        command
    }
}

/// Whether what programs are compiled with is installed as well: it is in a package of its own.
fn has_header(cc: &Path) -> bool {
    let answer = Command::new(cc).arg("--showme:incdirs").output();
    let folders = answer.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned()).unwrap_or_default();
    let standard = ["/usr/include", "/usr/local/include"];
    folders.split_whitespace().chain(standard).any(|folder| Path::new(folder).join("shmem.h").is_file())
}

fn is_open_mpi(oshrun: &Path) -> bool {
    let version = job::run(Command::new(oshrun).arg("--version"), Duration::from_secs(10));
    version.is_ok_and(|v| v.stdout.contains("OpenRTE") || v.stdout.contains("Open MPI"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        command.get_args().map(|a| a.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn jobs_are_bound_only_where_there_are_cores() {
        let library = Library {
            name: "oshmem",
            label: "OSHMEM",
            cc: PathBuf::from("oshcc"),
            oshrun: PathBuf::from("oshrun"),
            launcher: Launcher::OpenMpi,
        };
        let bound = words(&library.job(Path::new("rma"), 2, 2));
        assert!(bound.ends_with(&["--bind-to".into(), "core".into(), "rma".into()]));
        let shared = words(&library.job(Path::new("rma"), 8, 2));
        assert!(shared.contains(&"--oversubscribe".to_owned()));
        assert!(shared.contains(&"none".to_owned()));
    }

    #[test]
    fn a_library_that_is_not_built_is_named() {
        let why = Library::ours(Path::new("nowhere")).unwrap_err();
        assert!(why.contains("oshcc") && why.contains("./x build"), "{why}");
    }
    /// A heap of its own size shows whether the library listens: half of it fits, twice as much does not.
    fn heap_holds(library: &Library, program: &Path, mib: u64) -> bool {
        let mut job = library.job(program, 1, 0);
        library.set_heap(&mut job, "64M");
        job.arg(mib.to_string());
        // A peer prints its own complaint where it does not fit, and ends as it likes.
        job::run(&mut job, Duration::from_secs(60)).is_ok_and(|finished| finished.stdout.contains("fits"))
    }

    #[test]
    fn the_heap_is_set_for_the_peer_too() {
        let Ok(library) = Library::oshmem() else {
            eprintln!("Open MPI's OSHMEM is not there: its heap is not tested");
            return;
        };
        let folder = env::temp_dir().join(format!("oshbench-heap-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (source, program) = (folder.join("heap.c"), folder.join("heap"));
        let text = "#include <shmem.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
            int main(int argc, char **argv) { shmem_init(); size_t mib = argc > 1 ? atoi(argv[1]) : 1;\n\
            puts(shmem_malloc(mib << 20) ? \"fits\" : \"too large\"); shmem_finalize(); return 0; }\n";
        std::fs::write(&source, text).unwrap();
        job::run(library.compiler().arg(&source).arg("-o").arg(&program), Duration::from_secs(60)).unwrap();
        assert!(heap_holds(&library, &program, 32), "half of the heap does not fit");
        assert!(!heap_holds(&library, &program, 128), "twice the heap fits: the variable is ignored");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
