//! Builds the programs for every library and runs them in turn.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cost::{self, KERNELS, LoopResult};
use crate::job;
use crate::library::{Library, OURS};
use crate::line::{self, Key, Line, Measurement};
use crate::network::{self, Network};
use crate::options::Options;
use crate::overhead::{self, EXAMPLES, Example, OFF, Pairs, VARIANTS, Variant};
use crate::results::{MACHINE, Results};
use crate::suite::{GROUPS, Group, Program, Runs};
use crate::verify::{self, Compared};

/// Of one program. The longest takes a few seconds where nothing is wrong, more where many PEs share a core.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// After so many failures a program is not repeated with that library.
const FAILURES: usize = 2;

/// Symmetric heap of the measured programs: room for the largest transfer both ways, of all PEs.
const HEAP: &str = "384M";

/// The process of no library that a whole job is compared with.
const NOTHING: &str = "nothing";

/// Something that did not work; the rest went on.
#[derive(Debug)]
pub struct Failure {
    /// Program, library and what happened.
    pub what: String,
    /// True where it is this library's or this program's: the run as a whole then fails.
    pub ours: bool,
}

/// Runs what was asked for.
pub struct Driver {
    programs: PathBuf,
    examples: PathBuf,
    build: PathBuf,
    libraries: Vec<Library>,
    cores: u32,
    quick: bool,
    repetitions: u32,
    pes: Option<u32>,
    /// Times in the profile against a clock outside.
    pub compared: Vec<Compared>,
    /// What profiles say that they took.
    pub told: Vec<LoopResult>,
    /// Whole programs with and without a profile.
    pub pairs: Vec<Pairs>,
    /// Measurements so far.
    pub results: Results,
    /// Failures so far.
    pub failures: Vec<Failure>,
    /// What programs that succeeded had to say on standard error: each line once.
    pub complaints: Vec<String>,
}

impl Driver {
    /// `root` is the folder of the repository.
    pub fn new(root: &Path, options: &Options) -> Driver {
        let mut driver = Driver {
            programs: root.join("tools/oshbench/programs"),
            build: root.join("target/oshbench"),
            libraries: Vec::new(),
            cores: std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
            quick: options.quick,
            repetitions: options.reps.unwrap_or(if options.quick { 3 } else { 5 }),
            pes: options.pes,
            compared: Vec::new(),
            told: Vec::new(),
            pairs: Vec::new(),
            examples: root.join("examples"),
            results: Results::default(),
            failures: Vec::new(),
            complaints: Vec::new(),
        };
        let prefix = options.prefix.clone().unwrap_or_else(|| root.join("target/pellucid"));
        match Library::ours(&prefix) {
            Ok(library) => driver.libraries.push(library),
            Err(why) => driver.fail(true, format!("Pellucid: {why}")),
        }
        if !options.no_peers {
            match Library::oshmem() {
                Ok(library) => driver.libraries.push(library),
                Err(why) => driver.fail(false, format!("OSHMEM: {why}")),
            }
        }
        driver
    }

    /// A library that works but complains may not be doing what is measured.
    fn note_complaints(&mut self, library: &str, lines: &[String]) {
        for line in lines {
            let complaint = format!("{library}: {line}");
            if !self.complaints.contains(&complaint) {
                eprintln!("oshbench: {complaint}");
                self.complaints.push(complaint);
            }
        }
    }

    /// What a reader of the numbers must know.
    pub fn conditions(&self) -> String {
        let level = env::var("SHMEM_PROFILE").unwrap_or_else(|_| "1 (the default)".to_owned());
        format!(
            "{} cores. Times of one operation: median of {} runs, spread between the quartiles. Profile level: \
             {level}.",
            self.cores, self.repetitions
        )
    }

    fn fail(&mut self, ours: bool, what: String) {
        eprintln!("oshbench: {what}");
        if self.failures.iter().all(|f| f.what != what) {
            self.failures.push(Failure { what, ours });
        }
    }

    /// Runs all groups that the user named, or all there are.
    pub fn run(&mut self, names: &[String]) {
        for group in GROUPS {
            if names.is_empty() && !group.only_named || names.iter().any(|n| n == group.name) {
                for program in group.programs {
                    self.run_program(group, program);
                }
            }
        }
    }

    fn run_program(&mut self, group: &'static Group, program: &Program) {
        match program.runs {
            Runs::Plain => self.run_plain(group, program.name),
            Runs::OursAlone => self.run_alone(group, program.name),
            Runs::Network => self.run_network(group, program.name),
            Runs::Verify => self.run_verify(program.name, self.pes.unwrap_or(program.pes[0])),
            Runs::Cost => self.run_cost(program.name, self.pes.unwrap_or(program.pes[0])),
            Runs::Turns => {
                let pes = self.pes.map_or(program.pes.to_vec(), |pes| vec![pes]);
                pes.into_iter().for_each(|pes| self.run_turns(group, program.name, pes, &[("", "--trace=")]));
            }
            Runs::Levels => {
                self.run_turns(group, program.name, program.pes[0], &[("level1", ""), ("kept", "--profile-dir=")]);
            }
            Runs::Overhead => self.run_overhead(group, self.pes.unwrap_or(program.pes[0])),
            Runs::Core => match self.example(program.name) {
                Ok(ready) => self.run_alternating(group, program, program.pes[0], &[ready]),
                Err(why) => self.fail(true, format!("{}: {why}", program.name)),
            },
            Runs::Libraries | Runs::Ours | Runs::Gasnet | Runs::WholeJob => {
                let ready = self.build_for_libraries(program);
                let given = self.pes.filter(|_| program.any_pes);
                let counts = given.as_ref().map_or(program.pes, std::slice::from_ref);
                for &pes in counts {
                    self.run_alternating(group, program, pes, &ready);
                }
            }
        }
    }

    /// An example of the core, which lies beside this program, and the library whose launcher runs it.
    fn example(&self, name: &str) -> Result<(Library, PathBuf), String> {
        let ours = self.libraries.iter().find(|library| library.name == OURS).ok_or("there is no launcher for it")?;
        let here = env::current_exe().map_err(|e| format!("the path of this program: {e}"))?;
        let path = here.with_file_name("examples").join(name);
        if !path.is_file() {
            return Err(format!("{} is missing: run ./x bench, which builds it", path.display()));
        }
        Ok((ours.clone(), path))
    }

    /// The libraries that the program compiled for, and where it lies.
    fn build_for_libraries(&mut self, program: &Program) -> Vec<(Library, PathBuf)> {
        let mut ready = Vec::new();
        for library in self.libraries.clone() {
            if matches!(program.runs, Runs::Ours | Runs::Gasnet) && library.name != OURS {
                continue;
            }
            let compiler = if program.runs == Runs::Gasnet { library.gasnet_compiler() } else { library.compiler() };
            match self.compile(compiler, library.name, program.name) {
                Ok(path) => ready.push((library, path)),
                Err(why) => self.fail(
                    library.name == OURS,
                    format!("{} does not compile with {}'s oshcc: {why}", program.name, library.label),
                ),
            }
        }
        ready
    }

    fn compile(&self, compiler: Command, folder: &str, name: &str) -> Result<PathBuf, String> {
        self.compile_file(compiler, folder, name, &self.programs.join(format!("{name}.c")))
    }

    fn compile_file(&self, mut compiler: Command, folder: &str, name: &str, file: &Path) -> Result<PathBuf, String> {
        let folder = self.build.join(folder);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let path = folder.join(name);
        compiler.args(["-std=gnu11", "-O2"]).arg(file).arg("-o").arg(&path).args(["-pthread", "-lm"]);
        job::run(&mut compiler, TIME_LIMIT)?;
        Ok(path)
    }

    fn compile_plain(&self, name: &str) -> Result<PathBuf, String> {
        let cc = env::var_os("CC").unwrap_or_else(|| "cc".into());
        self.compile(Command::new(cc), "plain", name)
    }

    /// A B A B ...: what disturbs the machine for a while disturbs all alike.
    fn run_alternating(&mut self, group: &'static Group, program: &Program, pes: u32, ready: &[(Library, PathBuf)]) {
        eprintln!("oshbench: {}, {pes} PEs, {} repetitions", program.name, self.repetitions);
        let whole_job = program.runs == Runs::WholeJob;
        let nothing = whole_job.then(|| self.compile_plain(NOTHING).ok()).flatten();
        let mut failed: Vec<&str> = Vec::new();
        let given_up = |failed: &[&str], name: &str| failed.iter().filter(|f| **f == name).count() >= FAILURES;
        for _ in 0..self.repetitions {
            for (library, path) in ready {
                if given_up(&failed, library.name) {
                    continue;
                }
                let mut command = library.job(path, pes, self.cores);
                if self.quick {
                    command.arg("--quick");
                }
                if !whole_job {
                    library.set_heap(&mut command, HEAP);
                }
                let outcome = if whole_job {
                    self.time_job(group, library.name, &mut command, pes, nothing.as_deref())
                } else {
                    self.measure(group, library.name, &mut command)
                };
                if let Err(why) = outcome {
                    failed.push(library.name);
                    self.fail(library.name == OURS, format!("{} of {}, {pes} PEs: {why}", program.name, library.label));
                }
            }
        }
    }

    fn time_job(
        &mut self,
        group: &'static Group,
        library: &'static str,
        command: &mut Command,
        pes: u32,
        nothing: Option<&Path>,
    ) -> Result<(), String> {
        let job = job::run(command, TIME_LIMIT)?;
        self.note_complaints(library, &job.complaints);
        let process = nothing.and_then(|path| job::run(&mut Command::new(path), TIME_LIMIT).ok());
        let measurement = Measurement {
            key: Key { bench: "empty-job".to_owned(), memory: "none".to_owned(), bytes: 0, pes },
            ns: job.wall.as_secs_f64() * 1e9,
            limit: process.map(|p| ("one_process".to_owned(), p.wall.as_secs_f64() * 1e9)),
        };
        self.results.add(group.name, library, measurement);
        Ok(())
    }

    fn run_plain(&mut self, group: &'static Group, name: &str) {
        eprintln!("oshbench: {name}, {} repetitions", self.repetitions);
        let outcome = self.compile_plain(name).and_then(|path| {
            for _ in 0..self.repetitions {
                let mut command = Command::new(&path);
                if self.quick {
                    command.arg("--quick");
                }
                self.measure(group, MACHINE, &mut command)?;
            }
            Ok(())
        });
        if let Err(why) = outcome {
            self.fail(true, format!("{name}: {why}"));
        }
    }

    /// The profile of a program that times its own calls.
    fn run_verify(&mut self, name: &str, pes: u32) {
        let Some(library) = self.libraries.iter().find(|l| l.name == OURS).cloned() else { return };
        eprintln!("oshbench: {name}, {pes} PEs, {} repetitions", self.repetitions);
        let directory = self.build.join("verify.prof");
        let runs = self.compile(library.compiler(), library.name, name).and_then(|path| {
            let run = || {
                overhead::clean(&directory);
                let mut command = library.bare_job(pes, self.cores);
                command.arg("--profile-dir").arg(&directory).arg(&path);
                if self.quick {
                    command.arg("--quick");
                }
                let job = job::run(&mut command, TIME_LIMIT)?;
                let report = job::run(library.oshprof().args(["report", "--json"]).arg(&directory), TIME_LIMIT)?;
                verify::measured(&job.stdout, &report.stdout)
            };
            (0..self.repetitions).map(|_| run()).collect::<Result<Vec<_>, _>>()
        });
        overhead::clean(&directory);
        match runs {
            Ok(runs) => {
                self.compared = verify::compare(&runs);
                let wrong: Vec<String> =
                    self.compared.iter().filter(|row| !row.is_right()).map(|row| row.routine.clone()).collect();
                for routine in wrong {
                    self.fail(false, format!("{routine}: the profile and the clock outside differ"));
                }
            }
            Err(why) => self.fail(true, format!("{name}: {why}")),
        }
    }

    /// Loops whose profile is kept, each in jobs of its own: their reports say what profiling took.
    fn run_cost(&mut self, name: &str, pes: u32) {
        let Some(library) = self.libraries.iter().find(|l| l.name == OURS).cloned() else { return };
        eprintln!("oshbench: {name}, {pes} PEs, {} loops, {} repetitions", KERNELS.len(), self.repetitions);
        let directory = self.build.join("cost.prof");
        let outcome = self.compile(library.compiler(), library.name, name).and_then(|path| {
            for kernel in KERNELS {
                let run = || {
                    overhead::clean(&directory);
                    let mut command = library.bare_job(pes, self.cores);
                    command.arg("--profile-dir").arg(&directory).env("OSHBENCH_KERNEL", kernel).arg(&path);
                    if self.quick {
                        command.arg("--quick");
                    }
                    let job = job::run(&mut command, TIME_LIMIT)?;
                    let report = job::run(library.oshprof().args(["report", "--json"]).arg(&directory), TIME_LIMIT)?;
                    cost::measured(&job.stdout, &report.stdout)
                };
                let runs = (0..self.repetitions).map(|_| run()).collect::<Result<Vec<_>, String>>()?;
                self.told.push(LoopResult { kernel, runs });
            }
            Ok(())
        });
        overhead::clean(&directory);
        if let Err(why) = outcome {
            self.fail(true, format!("{name}: {why}"));
        }
    }

    /// A program that may trace, and switches it on itself.
    fn run_turns(&mut self, group: &'static Group, name: &str, pes: u32, levels: &[(&str, &str)]) {
        let Some(library) = self.libraries.iter().find(|l| l.name == OURS).cloned() else { return };
        eprintln!("oshbench: {name}, {pes} PEs, {} repetitions", self.repetitions);
        let directory = self.build.join("turns.kept");
        let outcome = self.compile(library.compiler(), library.name, name).and_then(|path| {
            for (level, option) in levels.iter().cycle().take(levels.len() * self.repetitions as usize) {
                overhead::clean(&directory);
                let mut command = library.bare_job(pes, self.cores);
                if !option.is_empty() {
                    command.arg(format!("{option}{}", directory.display()));
                }
                command.env("OSHBENCH_LEVEL", level).arg(&path);
                if self.quick {
                    command.arg("--quick");
                }
                let finished = job::run(&mut command, TIME_LIMIT)?;
                // The report that comes with a kept profile is no complaint.
                if option.is_empty() {
                    self.note_complaints(library.name, &finished.complaints);
                }
                self.take(group, library.name, &finished.stdout)?;
            }
            Ok(())
        });
        overhead::clean(&directory);
        if let Err(why) = outcome {
            self.fail(true, format!("{name}: {why}"));
        }
    }

    /// Whole programs with and without a profile. Each pair is two runs in a row; which one is first takes turns.
    fn run_overhead(&mut self, group: &'static Group, pes: u32) {
        let Some(library) = self.libraries.iter().find(|l| l.name == OURS).cloned() else { return };
        for example in &EXAMPLES {
            let file = self.examples.join(format!("{0}/{0}.c", example.name));
            let path = match self.compile_file(library.compiler(), library.name, example.name, &file) {
                Ok(path) => path,
                Err(why) => {
                    self.fail(true, format!("{} does not compile: {why}", example.name));
                    continue;
                }
            };
            let count = if self.quick { 5 } else { 5 * self.repetitions };
            eprintln!("oshbench: {}, {pes} PEs, {count} pairs of {} kinds", example.name, VARIANTS.len());
            let mut pairs: Vec<Pairs> = VARIANTS
                .iter()
                .map(|v| Pairs { name: format!("{}/{}", example.name, v.name), limit: v.limit, ns: Vec::new() })
                .collect();
            for round in 0..count {
                for (variant, pairs) in VARIANTS.iter().zip(&mut pairs) {
                    match self.pair(&library, &path, example, variant, pes, round % 2 == 0) {
                        Ok((with, without)) => {
                            pairs.ns.push((with, without));
                            let key = Key { bench: pairs.name.clone(), memory: "none".to_owned(), bytes: 0, pes };
                            let limit = Some(("off".to_owned(), without));
                            self.results.add(group.name, library.name, Measurement { key, ns: with, limit });
                        }
                        Err(why) => self.fail(true, format!("{}: {why}", pairs.name)),
                    }
                }
            }
            self.pairs.append(&mut pairs);
        }
    }

    /// Nanoseconds of a job of this kind, and of one without a profile.
    fn pair(
        &self,
        library: &Library,
        path: &Path,
        example: &Example,
        variant: &Variant,
        pes: u32,
        off_first: bool,
    ) -> Result<(f64, f64), String> {
        let directory = self.build.join(format!("{}.out", example.name));
        let one = |variant: &Variant| {
            overhead::clean(&directory);
            let mut command = library.bare_job(pes, self.cores);
            variant.apply(&mut command, &directory);
            command.arg(path).args(if self.quick { example.quick } else { example.args });
            let wall = job::run(&mut command, TIME_LIMIT).map(|job| job.wall.as_secs_f64() * 1e9);
            overhead::clean(&directory);
            wall
        };
        if off_first {
            let without = one(&OFF)?;
            Ok((one(variant)?, without))
        } else {
            let with = one(variant)?;
            Ok((with, one(&OFF)?))
        }
    }

    /// Once: what it counts does not vary.
    fn run_alone(&mut self, group: &'static Group, name: &str) {
        let ours = self.libraries.iter().find(|l| l.name == OURS).cloned();
        let Some(library) = ours else { return };
        eprintln!("oshbench: {name}");
        let outcome = self.compile(library.compiler(), library.name, name).and_then(|path| {
            let mut command = Command::new(path);
            if self.quick {
                command.arg("--quick");
            }
            self.measure(group, library.name, &mut command)
        });
        if let Err(why) = outcome {
            self.fail(true, format!("{name} of {}: {why}", library.label));
        }
    }

    /// Two PEs on two hosts, in turn with the same traffic made by libfabric's own calls.
    fn run_network(&mut self, group: &'static Group, name: &str) {
        let ours = self.libraries.iter().find(|l| l.name == OURS).cloned();
        let Some(library) = ours else { return };
        eprintln!("oshbench: {name}, {} repetitions", self.repetitions);
        let outcome = self.compile(library.compiler(), library.name, name).and_then(|path| {
            let network = Network::new(&self.build.join("hosts"))?;
            if let Some(why) = &network.loopback {
                eprintln!("oshbench: {name} runs over loopback: no namespaces can be made here: {why}");
            }
            for repetition in 0..self.repetitions {
                // Each is first in turn: what a machine does to the second of two runs falls on both.
                let first = if repetition % 2 == 0 { Some(network.libfabric()?) } else { None };
                let mut command = network.job(&library, &path);
                if self.quick {
                    command.arg("--quick");
                }
                library.set_heap(&mut command, HEAP);
                let finished = job::run(&mut command, TIME_LIMIT)?;
                self.note_complaints(library.name, &finished.complaints);
                let alone = first.map_or_else(|| network.libfabric(), Ok)?;
                for mut measurement in network::measurements(&finished.stdout)? {
                    let same = alone.iter().find(|m| m.key == measurement.key);
                    if let Some(same) = same {
                        measurement.limit = Some(("libfabric".to_owned(), same.ns));
                    }
                    self.results.add(group.name, library.name, measurement);
                }
            }
            Ok(())
        });
        if let Err(why) = outcome {
            self.fail(true, format!("{name} of {}: {why}", library.label));
        }
    }

    /// Runs a program and takes what its lines say.
    fn measure(&mut self, group: &'static Group, library: &'static str, command: &mut Command) -> Result<(), String> {
        let finished = job::run(command, TIME_LIMIT)?;
        self.note_complaints(library, &finished.complaints);
        self.take(group, library, &finished.stdout)
    }

    /// The measurements that a program has printed.
    fn take(&mut self, group: &'static Group, library: &'static str, printed: &str) -> Result<(), String> {
        let mut taken = 0;
        for text in printed.lines() {
            match line::parse(text) {
                Line::Measurement(m) => self.results.add(group.name, library, m),
                Line::Instructions(i) => self.results.add_instructions(group.name, i),
                Line::Note(note) => eprintln!("oshbench: {note}"),
                Line::Bad(why) => return Err(format!("its output is not understood: {why}")),
                Line::Other => continue,
            }
            taken += 1;
        }
        if taken == 0 {
            return Err("it printed no measurement".to_owned());
        }
        Ok(())
    }
}
