//! The Fortran interface: the programs of `tests/fortran`, a folder a chapter; the names of `libsmaf`; what the
//! profile shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use harness::report::Report;
use harness::run::{Job, Outcome};
use harness::{system, tree};

/// Whether there is a compiler; says so where there is none.
fn is_there() -> bool {
    let found = system::find(&["gfortran"]).is_some();
    if !found {
        println!("not tested: no gfortran here");
    }
    found
}

fn programs() -> PathBuf {
    tree::package().join("fortran")
}

/// What a program's first lines ask for: `! pes: 1 2`, `! status: 7`, `! expect: text`.
struct Directives {
    pes: Vec<usize>,
    status: i32,
    expect: Option<String>,
}

impl Directives {
    fn of(text: &str) -> Directives {
        let find =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("! {name}: "))).map(str::to_owned);
        let pes = find("pes").unwrap_or("1 2 3 8".into()).split(' ').map(|n| n.parse().expect("a number")).collect();
        let status = find("status").map_or(0, |status| status.parse().expect("a number"));
        Directives { pes, status, expect: find("expect") }
    }
}

fn oshfort(folder: &Path) -> Job {
    Job::new(tree::tool("oshfort")).args(["-g", "-O1", "-w"]).directory(folder).limit(120)
}

/// Compiles a source and gives the program.
fn build(source: &Path, options: &[&str]) -> PathBuf {
    let stem =
        format!("{}-{}", source.file_stem().unwrap().to_string_lossy(), source.extension().unwrap().to_string_lossy());
    let folder = tree::fresh(&format!("fortran-{stem}{}", options.concat().replace('/', "-")));
    oshfort(&folder).arg(source).args(options).args(["-o", "program"]).run().expect_code(0);
    folder.join("program")
}

fn run(source: &Path, options: &[&str]) {
    let directives = Directives::of(&std::fs::read_to_string(source).expect("a source"));
    let program = build(source, options);
    for pes in &directives.pes {
        let outcome = Job::oshrun(*pes).arg(&program).run().expect_code(directives.status);
        if let Some(text) = &directives.expect {
            outcome.expect_text(&[text]);
        }
    }
}

/// A program made from a template: blocks `!@NAME` to `!@end` stay where they are wanted.
fn made(template: &str, name: &str, words: &[(&str, &str)], blocks: &[&str]) -> PathBuf {
    let text = std::fs::read_to_string(programs().join(template)).expect("a template");
    let mut out = String::new();
    let mut is_kept = true;
    for line in text.lines() {
        match line.strip_prefix("!@") {
            Some("end") => is_kept = true,
            Some(block) => is_kept = blocks.contains(&block),
            None if is_kept => {
                let line = words.iter().fold(line.to_owned(), |line, (word, with)| line.replace(word, with));
                out.push_str(&line);
                out.push('\n');
            }
            None => {}
        }
    }
    let path = tree::scratch("fortran-made").join(format!("{name}.f90"));
    tree::write_whole(&path, &out).expect("target/tests can be written");
    path
}

fn chapter(name: &str) {
    if !is_there() {
        return;
    }
    let mut sources: Vec<_> = std::fs::read_dir(programs().join(name))
        .expect("a chapter")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    sources.retain(|path| path.extension().is_some_and(|end| end != "template"));
    sources.sort();
    assert!(!sources.is_empty(), "{name} is empty");
    for source in sources {
        println!("{}", source.display());
        run(&source, &[]);
    }
}

#[test]
fn setup() {
    chapter("setup");
}

#[test]
fn memory() {
    chapter("memory");
}

#[test]
fn atomics() {
    chapter("amo");
}

#[test]
fn waits() {
    chapter("p2p");
}

#[test]
fn order_and_locks() {
    chapter("order");
    if is_there() {
        for name in ["order/heap_lock.f90", "order/locks.f"] {
            Job::oshrun(2).arg("--check").arg(build(&programs().join(name), &[])).run().expect_code(0);
        }
    }
}

#[test]
fn modules() {
    chapter("modules");
}

/// Word in names, type, a value from `i`, whether it has strided transfers, whether the word is behind the operation,
/// what a count counts for one element.
type Kind = (&'static str, &'static str, &'static str, bool, bool, u32);

const NUMBER: &str = "(i)";
const HALVES: &str = "((i) * 0.5)";
const COMPLEX: &str = "cmplx((i), -(i), kind=8)";

const KINDS: &[Kind] = &[
    ("character", "character(len=1)", "achar(32 + mod((i), 90))", false, false, 1),
    ("complex", "complex", COMPLEX, true, false, 1),
    ("double", "double precision", HALVES, true, false, 1),
    ("integer", "integer", NUMBER, true, false, 1),
    ("logical", "logical", "(mod((i), 3) == 1)", true, false, 1),
    ("real", "real", HALVES, true, false, 1),
    ("4", "integer*4", NUMBER, true, true, 1),
    ("8", "real*8", HALVES, true, true, 1),
    ("32", "real*4", HALVES, true, true, 1),
    ("64", "integer*8", NUMBER, true, true, 1),
    ("128", "complex*16", COMPLEX, true, true, 1),
    ("mem", "integer*8", NUMBER, false, true, 8),
    ("int4", "integer*4", NUMBER, true, false, 1),
    ("int8", "integer*8", NUMBER, true, false, 1),
    ("real4", "real*4", HALVES, true, false, 1),
    ("real8", "real*8", HALVES, true, false, 1),
    ("real16", "real*16", HALVES, true, false, 1),
    ("comp4", "complex*8", COMPLEX, true, false, 1),
    ("comp8", "complex*16", COMPLEX, true, false, 1),
    // `shmem_put` and its like: eight bytes.
    ("", "real*8", HALVES, true, true, 1),
];

/// One subroutine for a kind, from the template.
fn transfers(kind: &Kind) -> String {
    let (word, of, value, is_strided, is_behind, unit) = *kind;
    let template = std::fs::read_to_string(programs().join("rma/transfer.template")).expect("the template");
    let mut words: Vec<(String, String)> = Vec::new();
    for operation in ["put", "get", "iput", "iget"] {
        for end in ["", "_nbi", "_nb"] {
            let name = if is_behind {
                format!("shmem_{operation}{word}{end}")
            } else {
                format!("shmem_{word}_{operation}{end}")
            };
            words.push((format!("{{{operation}{end}}}"), name));
        }
    }
    let other = if of == "logical" { ".neqv." } else { "/=" };
    for (from, to) in
        [("test_KIND", format!("test_{word}")), ("KIND", word.into()), ("TYPE", of.into()), ("OTHER", other.into())]
    {
        words.push((from.into(), to));
    }
    words.push(("UNIT".into(), unit.to_string()));
    let text = words.iter().fold(template, |text, (word, with)| text.replace(word, with));
    let mut out = String::new();
    let mut is_kept = true;
    for line in text.lines() {
        match line {
            "!@strided" => is_kept = is_strided,
            "!@end" => is_kept = true,
            _ if is_kept => out.push_str(&(with_values(line, value) + "\n")),
            _ => {}
        }
    }
    out
}

/// `VALUE(...)` becomes the value with its argument in the place of `i`.
fn with_values(line: &str, value: &str) -> String {
    let Some((before, rest)) = line.split_once("VALUE(") else { return line.to_owned() };
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    let (argument, after) = rest.split_at(end.expect("a closing parenthesis"));
    let value_here = value.replace("(i)", &format!("({argument})"));
    format!("{before}{value_here}{}", with_values(&after[1..], value))
}

#[test]
fn transfers_of_every_kind() {
    if !is_there() {
        return;
    }
    let mut text = String::new();
    let mut calls = String::new();
    for kind in KINDS {
        text.push_str(&transfers(kind));
        calls.push_str(&format!("  call test_{}\n", kind.0));
    }
    let text = format!("{text}\nprogram kinds\n  call shmem_init\n{calls}  call shmem_finalize\nend program\n");
    let path = tree::scratch("fortran-made").join("kinds.f90");
    tree::write_whole(&path, &text).expect("target/tests can be written");
    let program = build(&path, &["-ffree-line-length-none"]);
    for pes in [1, 2, 3, 8] {
        Job::oshrun(pes).arg(&program).run().expect_code(0);
    }
}

#[test]
fn active_sets_with_work_arrays_of_either_width() {
    if !is_there() {
        return;
    }
    for width in ["integer*4", "integer*8"] {
        let name = format!("sets-{}", &width[8..]);
        let source = made("collective/sets.template", &name, &[("SYNC ::", &format!("{width} ::"))], &[]);
        let program = build(&source, &[]);
        for pes in 1..=8 {
            Job::oshrun(pes).arg(&program).run().expect_code(0);
        }
        Job::oshrun(5).arg("--check").arg(&program).run().expect_code(0);
    }
}

#[test]
fn reductions_of_every_kind() {
    if !is_there() {
        return;
    }
    for (kind, of, blocks) in [
        ("int2", "integer*2", &["ordered"][..]),
        ("int4", "integer*4", &["ordered", "bits"]),
        ("int8", "integer*8", &["ordered", "bits"]),
        ("real4", "real*4", &["ordered"]),
        ("real8", "real*8", &["ordered"]),
        ("real16", "real*16", &["ordered"]),
        ("comp4", "complex*8", &[]),
        ("comp8", "complex*16", &[]),
    ] {
        let name = format!("reduce-{kind}");
        let source = made("collective/reduce.template", &name, &[("KIND", kind), ("TYPE", of)], blocks);
        let program = build(&source, &[]);
        for pes in [1, 2, 5, 7] {
            Job::oshrun(pes).arg(&program).run().expect_code(0);
        }
    }
}

/// Static executables, and names as other options of the compiler write them.
#[test]
fn other_ways_to_build() {
    if !is_there() {
        return;
    }
    for options in [&["-static"][..], &["-fsecond-underscore"], &["-no-pie", "-fno-pie"]] {
        for name in ["setup/old.f", "memory/heap.f", "order/locks.f"] {
            run(&programs().join(name), options);
        }
    }
}

fn symbols(options: &[&str], file: &Path) -> BTreeMap<String, char> {
    let outcome =
        Job::new(PathBuf::from("nm")).args(["--defined-only", "-g"]).args(options).arg(file).run().expect_code(0);
    let line = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next()?.chars().next()?;
        let name = words.next()?.split('@').next()?;
        (kind != 'A').then(|| (name.to_owned(), kind))
    };
    outcome.stdout.lines().filter_map(line).collect()
}

/// Every routine of the specification in each spelling, each with its twin.
#[test]
fn names_in_every_spelling() {
    let c = symbols(&["-D"], &tree::library("libsma.so"));
    for (file, options) in [("libsmaf.so", &["-D"][..]), ("libsmaf.a", &[])] {
        let found = symbols(options, &tree::library(file));
        let mut count = 0;
        for line in include_str!("../tables/fortran-1.4.csv").lines().skip(1) {
            let name = line.split(',').next().expect("a name");
            assert_eq!(found.get(&format!("p{name}_")), Some(&'T'), "{file}: p{name}_");
            let mut weak = vec![format!("{name}_"), name.to_uppercase(), format!("P{}", name.to_uppercase())];
            if name.contains('_') {
                weak.extend([format!("{name}__"), format!("p{name}__")]);
            }
            weak.extend([name.to_owned(), format!("p{name}")].into_iter().filter(|name| !c.contains_key(name)));
            for name in weak {
                assert_eq!(found.get(&name), Some(&'W'), "{file}: {name}");
            }
            count += 1;
        }
        assert_eq!(count, 172);
        let both: BTreeSet<_> = found.keys().filter(|name| c.contains_key(*name)).collect();
        assert!(both.is_empty(), "{file} has names of libsma: {both:?}");
    }
}

/// Routines jump to those of C and make no call: so calls return to the program, which is where the profile looks for
/// their place.
#[test]
fn routines_make_no_calls() {
    let outcome =
        Job::new(PathBuf::from("objdump")).args(["-d", "--no-show-raw-insn"]).arg(tree::library("libsmaf.a")).run();
    let mut routine = "";
    let mut jumps = 0;
    for line in outcome.expect_code(0).stdout.lines().map(str::to_owned).collect::<Vec<_>>().iter() {
        if line.ends_with(">:") {
            routine = line;
        }
        assert!(!line.contains("\tcall") && !line.contains("\tbl "), "{routine} {line}");
        jumps += usize::from(line.contains("\tjmp") || line.contains("\tb "));
    }
    assert!(jumps > 172, "{jumps}");
}

fn callsites(program: &Path, pes: usize, folder: &Path) -> serde_json::Value {
    let directory = folder.join("profile");
    Job::oshrun(pes).arg("--profile-dir").arg(&directory).arg(program).run().expect_code(0);
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites", "--json"]);
    serde_json::from_str(&report.run().expect_code(0).stdout).expect("JSON")
}

/// Each call is counted once, at its line of the Fortran source.
#[test]
fn the_profile_shows_fortran_lines() {
    if !is_there() {
        return;
    }
    let folder = tree::fresh("fortran-profile");
    let source = programs().join("profile.f");
    let text = std::fs::read_to_string(&source).expect("the source");
    for options in [&[][..], &["-static"], &["-O0"]] {
        let program = build(&source, options);
        let sites = callsites(&program, 2, &folder);
        let rows = sites["callsites"].as_array().expect("rows").clone();
        // A line that says `! routine calls` is a call site, made so many times by each PE.
        for (number, line) in text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("!= ") else { continue };
            let (routine, calls) = comment.split_once(' ').expect("a routine and a number");
            let place = format!("profile.f:{}", number + 1);
            let at: Vec<_> =
                rows.iter().filter(|row| row.to_string().contains(&place) && row["routine"] == routine).collect();
            assert_eq!(at.len(), 1, "{routine} at {place}: {rows:#?}");
            let expected = 2 * calls.trim().parse::<u64>().expect("a number");
            assert_eq!(at[0]["calls"].as_u64(), Some(expected), "{routine} at {place}: {}", at[0]);
        }
        // A `main` that the compiler has made calls the main program: that tells nothing.
        assert!(rows.iter().all(|row| row["callers"].is_null()), "{rows:#?}");
        let report = Report::read(&folder.join("profile"), false);
        // Nothing of it is counted under another name as well.
        for (routine, calls) in
            [("shmem_put64", 10), ("shmem_double_sum_to_all", 2), ("shmem_malloc", 2), ("shmem_my_pe", 2)]
        {
            assert_eq!(report.routine(routine).0, calls, "{routine}: {:?}", report.names());
        }
        std::fs::remove_dir_all(folder.join("profile")).expect("the profile");
    }
}

/// A tool that defines a Fortran name sees the calls and goes on to the twin; the profile counts each once.
#[test]
fn tools_attach_to_fortran_names() {
    if !is_there() {
        return;
    }
    let folder = tree::fresh("fortran-tool");
    let tool = "#include <stdio.h>\nvoid pshmem_put8_(void *, void *, int *, int *);\nvoid pshmem_finalize_(void);\n\
        void pshmem_set_lock_(void *);\nstatic int puts_, locks;\n\
        void shmem_put8_(void *d, void *s, int *n, int *pe) { puts_++; pshmem_put8_(d, s, n, pe); }\n\
        void shmem_set_lock_(void *lock) { locks++; pshmem_set_lock_(lock); }\n\
        void shmem_finalize_(void) { printf(\"tool: %d puts %d locks\\n\", puts_, locks); fflush(stdout); \
        pshmem_finalize_(); }\n";
    std::fs::write(folder.join("tool.c"), tool).expect("the tool");
    let source = programs().join("profile.f");
    let cc = |args: &[&str]| {
        Job::new(tree::tool("oshcc")).args(args).directory(&folder).run().expect_code(0);
    };
    cc(&["-c", "tool.c", "-o", "tool.o"]);
    cc(&["-shared", "-fPIC", "tool.c", "-o", "libtool.so"]);
    let check = |outcome: Outcome| {
        let outcome = outcome.expect_code(0);
        assert_eq!(outcome.stdout.matches("tool: 5 puts 1 locks").count(), 2, "{}", outcome.describe());
        let report = Report::read(&folder.join("profile"), false);
        assert_eq!(
            (report.routine("shmem_put64").0, report.routine("shmem_set_lock").0),
            (10, 2),
            "{:?}",
            report.names()
        );
        std::fs::remove_dir_all(folder.join("profile")).expect("the profile");
    };
    let job = |program: &Path| Job::oshrun(2).arg("--profile-dir").arg(folder.join("profile")).arg(program);
    for (name, more) in [("linked", &["tool.o"][..]), ("static", &["tool.o", "-static"])] {
        oshfort(&folder).arg(&source).args(more).args(["-o", name]).run().expect_code(0);
        check(job(&folder.join(name)).run());
    }
    let program = build(&source, &[]);
    let preload = format!("LD_PRELOAD={}", folder.join("libtool.so").display());
    check(Job::oshrun(2).arg("-x").arg(preload).arg("--profile-dir").arg(folder.join("profile")).arg(&program).run());
}

/// One routine with data of several types, and Cray pointers, compile without options of the user's.
#[test]
fn old_habits_compile() {
    if !is_there() {
        return;
    }
    let folder = tree::fresh("fortran-habits");
    let text = "      PROGRAM MIXED\n      INCLUDE 'shmem.fh'\n      POINTER (P, X(8))\n      REAL*8 X, Y(2)\n      \
        INTEGER*8 I(2)\n\x20     INTEGER PS(SHMEM_REDUCE_SYNC_SIZE)\n      SAVE I, Y, PS\n\
        \x20     DATA PS /SHMEM_REDUCE_SYNC_SIZE*SHMEM_SYNC_VALUE/\n      CALL SHMEM_INIT()\n      CALL SHPALLOC(P, \
        16, IERR, 1)\n\
        \x20     CALL SHMEM_PUT8(X, Y, 2, 0)\n      CALL SHMEM_PUT8(I, I, 2, 0)\n      CALL SHMEM_FINALIZE\n      \
        END\n";
    for name in ["a.f", "b.F", "c.for"] {
        std::fs::write(folder.join(name), text).expect("the source");
        oshfort(&folder).args([name, "-o", "mixed"]).run().expect_code(0);
        Job::oshrun(2).arg(folder.join("mixed")).run().expect_code(0);
    }
    // Both headers in free form and fixed form, with and without the preprocessor.
    for (name, text) in [
        (
            "d.f90",
            "program d\n  implicit none\n  include 'mpp/shmem.fh'\n  integer :: shmem_my_pe\n  call shmem_init\n  \
             print *, shmem_my_pe()\nend\n",
        ),
        ("e.F90", "#include <shmem.fh>\n      print *, shmem_cmp_eq\n      end\n"),
        ("f.F", "#include \"mpp/shmem.fh\"\n      PRINT *, SHMEM_CMP_EQ\n      END\n"),
    ] {
        std::fs::write(folder.join(name), text).expect("the source");
        oshfort(&folder).args(["-c", name]).run().expect_code(0);
    }
}

/// What the standard calls obsolescent is an error to projects that ask for the standard.
#[test]
fn the_header_is_of_the_newest_standard() {
    if !is_there() {
        return;
    }
    let folder = tree::fresh("fortran-standard");
    for name in ["a.f90", "b.f"] {
        let text = "      program standard\n      include 'shmem.fh'\n      print *, shmem_vendor_string\n      end\n";
        std::fs::write(folder.join(name), text).expect("the source");
        oshfort(&folder).args(["-std=f2018", "-Werror", "-c", name]).run().expect_code(0);
    }
}

/// The compiler of C warns of options of Fortran's.
#[test]
fn sources_of_c_beside_those_of_fortran_have_no_warnings() {
    if !is_there() {
        return;
    }
    let folder = tree::fresh("fortran-mixed");
    let c = "#include <shmem.h>\nvoid word_(long *);\nint main(void)\n{\n    static long word;\n    shmem_init();\n    \
             word_(&word);\n    shmem_finalize();\n    return word == 7 ? 0 : 1;\n}\n";
    let fortran = "subroutine word(at)\n  use shmem_c\n  integer(c_long) :: at\n  \
                   call shmem_long_p(at, 7_c_long, shmem_my_pe())\nend subroutine\n";
    std::fs::write(folder.join("main.c"), c).expect("a source");
    std::fs::write(folder.join("word.f90"), fortran).expect("a source");
    oshfort(&folder).args(["-Wall", "-Werror", "main.c", "word.f90", "-o", "mixed"]).run().expect_code(0);
    Job::oshrun(2).arg(folder.join("mixed")).run().expect_code(0);
}

/// A compiler makes a copy of an array section, and frees it when the call returns; over the network the call still
/// reads it then.
#[test]
fn a_section_that_is_gone_before_its_put_is_complete_is_told() {
    if !is_there() {
        return;
    }
    let folder = tree::fresh("fortran-sections");
    let text = "program sections\n  use shmem\n  integer, parameter :: n = 4000000\n  \
                integer(8), save :: dest(n), source(2, n)\n  call shmem_init()\n  source = 1\n  \
                call shmem_barrier_all()\n  call shmem_put64_nbi(dest, source(1, :), n, 1 - shmem_my_pe())\n  \
                call shmem_quiet()\n  call shmem_barrier_all()\n  call shmem_finalize()\nend program\n";
    std::fs::write(folder.join("sections.f90"), text).expect("a source");
    oshfort(&folder).args(["-O1", "sections.f90", "-o", "sections"]).run().expect_code(0);
    let job = Job::oshrun(2).env("SHMEM_TRANSPORT", "ofi").arg(folder.join("sections")).limit(60);
    job.run().expect_code(1).expect_text(&["Bad address, no memory of this PE: freed before shmem_quiet"]);
    // What the page says of finding them.
    let job = Job::new(tree::tool("oshfort")).args(["-Warray-temporaries", "-c", "sections.f90"]);
    job.directory(&folder).run().expect_code(0).expect_text(&["Creating array temporary"]);
}

/// Without module files, whoever uses a module is told how to make them; nobody else is.
#[test]
fn missing_module_files_are_told() {
    if !is_there() {
        return;
    }
    let folder = tree::fresh("fortran-modules");
    for part in ["bin", "lib/pellucid"] {
        std::fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    std::fs::copy(tree::tool("oshcc"), folder.join("bin/oshfort")).expect("the wrapper");
    for part in ["include", "share"] {
        std::os::unix::fs::symlink(tree::prefix().join(part), folder.join(part)).expect("a link");
    }
    std::fs::write(folder.join("uses.f90"), "program uses\n  use shmem\n  call shmem_init\nend\n").expect("a source");
    std::fs::write(folder.join("wrong.f90"), "program wrong\n  call (\nend\n").expect("a source");
    let compile = |name: &str| Job::new(folder.join("bin/oshfort")).args(["-c", name]).directory(&folder).run();
    let outcome = compile("uses.f90").expect_code(1).expect_text(&["oshfort: there are no module files of gfortran-"]);
    let (_, command) = outcome.stderr.split_once("To make them: ").expect("a command");
    let wrong = compile("wrong.f90").expect_code(1);
    assert!(!wrong.stderr.contains("oshfort:"), "{}", wrong.describe());
    Job::new(PathBuf::from("sh")).args(["-c", command.trim()]).directory(&folder).run().expect_code(0);
    compile("uses.f90").expect_code(0);
}

/// For build systems that ask for the folders alone: that of the modules is one.
#[test]
fn folders_of_headers_and_modules_are_shown() {
    if !is_there() {
        return;
    }
    let shown = |option: &str| Job::new(tree::tool("oshfort")).arg(option).run().expect_code(0).stdout;
    let (compile, folders) = (shown("-showme:compile"), shown("-showme:incdirs"));
    let of_compile: Vec<&str> = compile.split_whitespace().filter_map(|word| word.strip_prefix("-I")).collect();
    assert_eq!(of_compile.len(), 2, "{compile}");
    assert_eq!(folders.split_whitespace().collect::<Vec<_>>(), of_compile);
}
