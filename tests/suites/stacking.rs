//! Tools in a row with `oshrun --tool`: each an ordinary PSHMEM tool, known only as a binary. Every tool sees every
//! call of the application, and so does the profile, once.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::report::Report;
use harness::run::{Job, Outcome};
use harness::tree;

const PES: usize = 4;

fn source(name: &str) -> PathBuf {
    tree::package().join("programs/tools").join(name)
}

/// Builds a tool as a vendor would, linked to nothing of ours unless an option says so.
fn tool(name: &str, file: &str, options: &[&str]) -> PathBuf {
    let library = tree::scratch("stacking").join(format!("{name}.so"));
    Job::new(PathBuf::from("cc"))
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"])
        .arg(tree::prefix().join("include"))
        .arg(format!("-DNAME=\"{name}\""))
        .arg(source(file))
        .args(options)
        .arg("-o")
        .arg(&library)
        .limit(120)
        .run()
        .expect_code(0);
    library
}

fn lib() -> String {
    tree::prefix().join("lib").to_string_lossy().into_owned()
}

fn app() -> PathBuf {
    Build::program("tools/app.c").named("stacked-app").build()
}

/// What `app.c` calls: calls a PE.
const CALLS: &[(&str, u64)] = &[
    ("shmem_init", 1),
    ("shmem_my_pe", 1),
    ("shmem_n_pes", 1),
    ("shmem_malloc", 2),
    ("shmem_free", 2),
    ("shmem_long_put", 10),
    ("shmem_long_p", 20),
    ("shmem_long_atomic_add", 5),
    ("shmem_putmem", 4),
    ("shmem_longdouble_p", 2),
    ("shmem_longdouble_g", 2),
    ("shmem_ctx_long_ibput", 1),
    ("shmem_long_sum_reduce", 2),
    ("shmem_barrier_all", 3),
    ("shmem_finalize", 1),
];

/// Runs the program under tools at 4 PEs and checks that the profile has each of its calls once, and nothing else.
fn run(name: &str, binary: &Path, options: &[&str], tools: &[&Path]) -> Outcome {
    let directory = tree::scratch("profiles").join(format!("stacking-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    let mut job = Job::oshrun(PES).args(options).args(["--profile", "1", "--profile-dir"]).arg(&directory);
    for tool in tools {
        job = job.arg("--tool").arg(tool);
    }
    let outcome = job.arg(binary).run().expect_code(0);
    for pe in 0..PES {
        assert!(outcome.stdout.contains(&format!("app done on {pe}\n")), "{}", outcome.describe());
    }
    let report = Report::read(&directory, true);
    for pe in 0..PES {
        for (routine, calls) in CALLS {
            assert_eq!(report.routine_of(pe, routine).0, *calls, "{name}: calls of {routine} on PE {pe}");
        }
        assert_eq!(report.routine_of(pe, "shmem_long_put").1, 640, "{name}: bytes");
    }
    let mut others = report.names();
    others.retain(|name| !CALLS.iter().any(|(known, _)| known == name));
    assert!(others.is_empty(), "{name}: in the profile, but no call of the program: {others:?}");
    outcome
}

/// What `few.c` reports on each PE, behind `before` others of its kind: each makes a barrier of its own at the end,
/// which goes on to the next.
fn expect_few(outcome: &Outcome, name: &str, before: u32) {
    for pe in 0..PES {
        let line = format!("{name} on {pe}: put 10 p 20 mem 4 barrier {} reduce 2 ibput 1\n", 3 + before);
        assert!(outcome.stdout.contains(&line), "expected {line}{}", outcome.describe());
    }
}

#[test]
fn one_tool_however_it_was_linked() {
    let app = app();
    for (name, options) in [
        ("lazy", &["-Wl,-z,lazy"][..]),
        ("relro-now", &["-Wl,-z,relro,-z,now"]),
        ("norelro", &["-Wl,-z,norelro"]),
        ("no-plt", &["-fno-plt"]),
        ("no-interposition", &["-Wl,-Bsymbolic"]),
        ("sysv", &["-Wl,--hash-style=sysv"]),
        ("to-the-library", &["-L", &lib(), "-lsma"]),
    ] {
        let name = format!("few-{name}");
        let tool = tool(&name, "few.c", options);
        expect_few(&run(&name, &app, &[], &[&tool]), &name, 0);
    }
}

#[test]
fn two_and_three_tools_in_each_order() {
    let app = app();
    let (a, b) = (tool("few-a", "few.c", &[]), tool("few-b", "few.c", &["-L", &lib(), "-lsma", "-Wl,-z,now"]));
    for (name, order) in [("ab", [&*a, &*b]), ("ba", [&*b, &*a])] {
        let outcome = run(name, &app, &[], &order);
        expect_few(&outcome, "few-a", u32::from(name == "ba"));
        expect_few(&outcome, "few-b", u32::from(name == "ab"));
    }
    let (x, y) = (tool("order-x", "order.c", &[]), tool("order-y", "order.c", &["-fno-plt", "-DIFUNC"]));
    for (name, order, first, second) in [
        ("xay", [&*x, &*a, &*y], "order-x", "order-y"),
        ("yax", [&*y, &*a, &*x], "order-y", "order-x"),
        ("axy", [&*a, &*x, &*y], "order-x", "order-y"),
    ] {
        let outcome = run(name, &app, &[], &order);
        expect_few(&outcome, "few-a", 0);
        let lines: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("order-")).collect();
        let nested = [format!("<{first}>"), format!("<{second}>"), format!("</{second}>"), format!("</{first}>")];
        for round in 0..3 {
            assert_eq!(lines[4 * round..4 * round + 4], nested, "{}", outcome.describe());
        }
    }
}

#[test]
fn the_variable_without_the_launcher() {
    let tool = tool("few-alone", "few.c", &[]);
    let folder = tool.parent().expect("in a folder");
    // A bare name is a file of the current directory.
    let outcome = Job::new(app()).env("SHMEM_TOOLS", ":few-alone.so").directory(folder).run().expect_code(0);
    outcome.expect_text(&["few-alone on 0: put 10 p 20 mem 4 barrier 3 reduce 2 ibput 1"]);
}

#[test]
fn tools_that_look_names_up() {
    let app = app();
    let few = tool("few-last", "few.c", &[]);
    for (name, how, what) in [
        ("next-plain", "RTLD_NEXT", "shmem"),
        ("next-shifted", "RTLD_NEXT", "pshmem"),
        ("default-shifted", "RTLD_DEFAULT", "pshmem"),
        ("open-shifted", "dlopen(NULL,RTLD_NOW)", "pshmem"),
        ("open-plain", "dlopen(NULL,RTLD_NOW)", "shmem"),
    ] {
        let next = tool(name, "next.c", &[&format!("-DHOW={how}"), &format!("-DWHAT=\"{what}\"")]);
        for (place, order) in [("first", vec![&*next, &*few]), ("last", vec![&*few, &*next]), ("alone", vec![&*next])] {
            let outcome = run(&format!("{name}-{place}"), &app, &[], &order);
            // The barrier that the other tool makes for itself at the end is seen by what comes after it.
            let barriers = 3 + i32::from(place == "last");
            for pe in 0..PES {
                let line = format!("next on {pe}: p 20 barrier {barriers} malloc 2\n");
                assert!(outcome.stdout.contains(&line), "expected {line}{}", outcome.describe());
            }
            if place != "alone" {
                expect_few(&outcome, "few-last", 0);
            }
        }
    }
}

#[test]
fn other_attachments_at_the_same_time() {
    let stacked = tool("few-stacked", "few.c", &[]);
    // Preloaded, linked, wrapped by the linker: the row comes behind them.
    let preloaded = tool("few-preloaded", "few.c", &[]);
    let outcome = Job::oshrun(PES)
        .args(["-x", &format!("LD_PRELOAD={}", preloaded.display()), "--tool"])
        .arg(&stacked)
        .arg(app())
        .run()
        .expect_code(0);
    expect_few(&outcome, "few-preloaded", 0);
    expect_few(&outcome, "few-stacked", 1);
    let wrapped = Build::program("tools/app.c")
        .named("wrapped-app")
        .with(&source("wrap.c"))
        .options(["-Wl,--wrap=shmem_long_p", "-Wl,--wrap=shmem_barrier_all"])
        .build();
    let outcome = run("wrapped", &wrapped, &[], &[&stacked]);
    expect_few(&outcome, "few-stacked", 0);
    assert_eq!(outcome.stdout.matches("wrap: p 20 barrier 3\n").count(), PES, "{}", outcome.describe());
    // The linker's wrappers with the archive.
    let archived = Build::program("tools/app.c")
        .named("wrapped-static")
        .with(&source("wrap.c"))
        .options(["-static", "-Wl,--wrap=shmem_long_p", "-Wl,--wrap=shmem_barrier_all"])
        .build();
    let outcome = run("wrapped-static", &archived, &[], &[]);
    assert_eq!(outcome.stdout.matches("wrap: p 20 barrier 3\n").count(), PES, "{}", outcome.describe());
}

#[test]
fn preloaded_and_linked_tools_are_in_the_row() {
    let app = app();
    let (a, b) = (tool("few-pre-a", "few.c", &[]), tool("few-pre-b", "few.c", &["-Wl,-z,now"]));
    let preload = |tools: &str| ["-x".to_owned(), format!("LD_PRELOAD={tools}")];
    // Exact although the tools have calls of their own.
    let only = preload(&a.display().to_string());
    expect_few(&run("preload-one", &app, &only.each_ref().map(String::as_str), &[]), "few-pre-a", 0);
    let both = preload(&format!("{}:{}", a.display(), b.display()));
    let outcome = run("preload-two", &app, &both.each_ref().map(String::as_str), &[]);
    expect_few(&outcome, "few-pre-a", 0);
    expect_few(&outcome, "few-pre-b", 1);
    let outcome = run("preload-and-row", &app, &only.each_ref().map(String::as_str), &[&b]);
    expect_few(&outcome, "few-pre-a", 0);
    expect_few(&outcome, "few-pre-b", 1);
    for (name, how, what) in [("preload-plain", "RTLD_NEXT", "shmem"), ("preload-shifted", "RTLD_NEXT", "pshmem")] {
        let next = tool(name, "next.c", &[&format!("-DHOW={how}"), &format!("-DWHAT=\"{what}\"")]);
        let options = preload(&next.display().to_string());
        let outcome = run(name, &app, &options.each_ref().map(String::as_str), &[]);
        for pe in 0..PES {
            let line = format!("next on {pe}: p 20 barrier 3 malloc 2\n");
            assert!(outcome.stdout.contains(&line), "expected {line}{}", outcome.describe());
        }
    }
    let folder = a.parent().expect("in a folder").to_string_lossy().into_owned();
    for (name, options) in
        [("linked", &[][..]), ("linked-no-pie", &["-no-pie", "-fno-pie"]), ("linked-now", &["-Wl,-z,now"])]
    {
        let linked = Build::program("tools/app.c")
            .named(&format!("few-{name}"))
            .options(options)
            .libraries(["-L", &folder, "-l:few-pre-a.so", &format!("-Wl,-rpath,{folder}")])
            .build();
        expect_few(&run(name, &linked, &[], &[]), "few-pre-a", 0);
    }
}

#[test]
fn a_program_with_the_archive_in_it() {
    // The program's library is its own; a tool that brings libsma.so along still works on the program's.
    let binary = tree::scratch("stacking").join("archive-app");
    Job::new(PathBuf::from("cc"))
        .args(["-O1", "-I"])
        .arg(tree::prefix().join("include"))
        .arg(source("app.c"))
        .arg(tree::library("libsma.a"))
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(&binary)
        .run()
        .expect_code(0);
    let few = tool("few-archive", "few.c", &["-L", &lib(), "-lsma", &format!("-Wl,-rpath,{}", lib())]);
    expect_few(&run("archive", &binary, &[], &[&few]), "few-archive", 0);
    // Preloaded, a tool gets no call of such a program, and that is said; so it is of one that brings no library.
    let alone = tool("few-archive-alone", "few.c", &[]);
    for tool in [&few, &alone] {
        let preload = format!("LD_PRELOAD={}", tool.display());
        let outcome = run("archive-preloaded", &binary, &["-x", &preload], &[]);
        let name = tool.file_name().expect("a file").to_string_lossy();
        assert!(outcome.stderr.contains(&format!("{name}: has shmem_")), "{}", outcome.describe());
        assert!(!outcome.stderr.contains("libsma.so"), "{}", outcome.describe());
    }
}

#[test]
fn tools_that_are_busy_to_the_end() {
    let app = app();
    let late = tool("late", "late.c", &["-pthread"]);
    let few = tool("few-late", "few.c", &[]);
    for tools in [vec![&*late], vec![&*late, &*few], vec![&*few, &*late]] {
        let mut job = Job::oshrun(PES);
        for tool in &tools {
            job = job.arg("--tool").arg(tool);
        }
        let outcome = job.arg(&app).run().expect_code(0);
        for pe in 0..PES {
            for what in ["exit handler", "destructor", "thread"] {
                let line = format!("late: {what} on {pe}\n");
                assert!(outcome.stderr.contains(&line), "expected {line}{}", outcome.describe());
            }
        }
    }
    // The same, preloaded and linked.
    let outcome =
        Job::oshrun(PES).args(["-x", &format!("LD_PRELOAD={}", late.display())]).arg(&app).run().expect_code(0);
    assert_eq!(outcome.stderr.matches("late: destructor on").count(), PES, "{}", outcome.describe());
}

#[test]
fn further_arguments_reach_the_tool() {
    let more = tool("more", "more.c", &["-DTOOL"]);
    let binary = Build::program("tools/more.c").build();
    let outcome = Job::new(&binary).env("SHMEM_TOOLS", &more.to_string_lossy()).run().expect_code(0);
    let expected = "tool: level 5, 42, 2.5\ntool: level 6, 43, 3.5\ntool: level 7, 44, 4.5\n";
    assert_eq!(outcome.stdout, expected, "{}", outcome.describe());
}

fn hello() -> PathBuf {
    Build::program("tools/hello.c").named("stacked-hello").build()
}

#[test]
fn tools_that_cannot_be_used_end_the_job_before_user_code() {
    let good = tool("few-good", "few.c", &[]);
    let text = tree::scratch("stacking").join("text.so");
    std::fs::write(&text, "no shared object\n".repeat(10)).expect("target/tests can be written");
    let broken = |name: &str| tool(&format!("broken-{}", name.to_lowercase()), "broken.c", &[&format!("-D{name}")]);
    let mut cases = vec![
        (text, "invalid ELF header"),
        (broken("NEEDS"), "undefined symbol: there_is_no_such_object"),
        (broken("CRASHES"), "crashed in its constructor: signal 11"),
        (broken("OVERFLOWS"), "crashed in its constructor: signal 11"),
        (broken("ABORTS"), "crashed in its constructor: signal 6"),
        (broken("EXITS"), "ended the process in its constructor"),
        (broken("LEAVES"), "ended the process in its constructor"),
        (PathBuf::from("no-such-tool.so"), "cannot be loaded"),
        (good.clone(), "named twice"),
    ];
    for (tool, what) in cases.drain(..) {
        let name = tool.file_name().expect("a file").to_string_lossy().into_owned();
        for (pes, order) in [(1, [&good, &tool]), (3, [&tool, &good])] {
            let job = Job::oshrun(pes).arg("--tool").arg(order[0]).arg("--tool").arg(order[1]);
            let outcome = job.arg(hello()).limit(20).run().expect_code(1).expect_text(&["tool ", &name, what]);
            assert!(!outcome.stdout.contains("user code runs"), "{}", outcome.describe());
            let mut job = Job::oshrun(pes).arg("--tool-optional");
            for tool in order {
                job = job.arg("--tool").arg(tool);
            }
            let outcome = job.arg(hello()).limit(20).run().expect_code(0);
            let outcome = outcome.expect_text(&["tool ", &name, what, "(going on without it)"]);
            assert_eq!(outcome.stdout.matches("user code runs").count(), pes, "{}", outcome.describe());
            let counted = "few-good on 0: put 0 p 0 mem 0 barrier 1";
            assert_eq!(outcome.stdout.matches(counted).count(), 1, "{}", outcome.describe());
        }
    }
    let missing = tree::scratch("stacking").join("missing.so");
    let outcome = Job::oshrun(2).arg("--tool").arg(&missing).arg(hello()).run().expect_code(1);
    outcome.expect_text(&["option --tool", "missing.so", "No such file"]);
}

/// What a child of a tool's ends with is its own business.
#[test]
fn constructors_may_have_children() {
    let children = tool("children", "starts.c", &["-DCHILDREN"]);
    for options in [&[][..], &["--tool-optional"]] {
        let outcome = Job::oshrun(2).args(options).arg("--tool").arg(&children).arg(hello()).run().expect_code(0);
        for part in ["exit 3 _exit 3 signal 6\n", "user code runs\n", "hello from "] {
            assert_eq!(outcome.stdout.matches(part).count(), 2, "{part}{}", outcome.describe());
        }
        assert!(!outcome.stderr.contains("constructor"), "{}", outcome.describe());
    }
}

/// A tool calls the next one while it is loaded, which has bound nothing so far.
#[test]
fn constructors_may_call_the_next_tool() {
    let version = tool("version", "starts.c", &["-DVERSION"]);
    for (name, options) in [("counts", &["-DCOUNTS", "-Wl,-z,lazy"][..]), ("counts-now", &["-DCOUNTS", "-Wl,-z,now"])] {
        let counts = tool(name, "starts.c", options);
        let job = Job::oshrun(2).arg("--tool").arg(&version).arg("--tool").arg(&counts).arg(hello());
        let outcome = job.limit(20).run().expect_code(0);
        for line in ["version 1.6\n", "asked 1\n"] {
            assert_eq!(outcome.stdout.matches(line).count(), 2, "{}", outcome.describe());
        }
    }
}

/// The program's handlers of signals and errors are the program's, also where they run while a tool has a call.
#[test]
fn handlers_within_a_tool_are_the_programs() {
    let program = |name: &str| Build::program("tools/interrupted.c").named(name);
    let app = program("interrupted").build();
    let interrupts = tool("interrupts", "interrupts.c", &[]);
    let folder = interrupts.parent().expect("in a folder").to_string_lossy().into_owned();
    let linked = program("interrupted-linked");
    let linked = linked.libraries(["-L", &folder, "-l:interrupts.so", &format!("-Wl,-rpath,{folder}")]).build();
    let path = interrupts.to_string_lossy().into_owned();
    for (name, app, options) in [
        ("interrupted-row", &app, vec!["--tool".to_owned(), path.clone()]),
        ("interrupted-preload", &app, vec!["-x".to_owned(), format!("LD_PRELOAD={path}")]),
        ("interrupted-linked", &linked, vec![]),
    ] {
        let directory = tree::fresh(name).join("profile");
        let job = Job::oshrun(1).args(&options).arg("--profile-dir").arg(&directory).arg(app);
        let outcome = job.run().expect_code(0).expect_text(&["program: p 70\n", "tool: p 70 mem 5\n"]);
        let report = Report::read(&directory, false);
        for (routine, calls) in [
            ("shmem_long_p", 70),
            ("shmem_my_pe", 70),
            ("shmem_putmem", 5),
            ("shmem_barrier_all", 20),
            ("shmem_fence", 0),
        ] {
            assert_eq!(report.routine(routine).0, calls, "{name}: {routine}\n{}", outcome.describe());
        }
    }
}

/// A tool may initialize by another routine than the program does: the profile has what the program called, and where.
#[test]
fn an_initialization_is_the_programs() {
    let threaded = tool("threaded", "starts.c", &["-DTHREADED"]);
    let directory = tree::fresh("stacking-threaded").join("profile");
    let app = Build::program("tools/hello.c").named("stacked-hello-lines").options(["-g"]).build();
    let job = Job::oshrun(2).arg("--tool").arg(&threaded).arg("--profile-dir").arg(&directory).arg(app);
    job.run().expect_code(0);
    let report = Report::read(&directory, false);
    let calls = |name: &str| report.routine(name).0;
    assert_eq!((calls("shmem_init"), calls("shmem_init_thread"), calls("shmem_barrier_all")), (2, 0, 2));
    let view = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
    let text = view.run().expect_code(0).stdout;
    assert!(text.contains("main at hello.c:8\n  routine shmem_init, calls 2,"), "{text}");
}

/// The program's calls come to a tool in the executable first, its initialization, too; the row comes behind it, and so
/// do callbacks.
#[test]
fn an_initialization_is_seen_behind_a_tool_in_the_executable() {
    let row = tool("first-row", "first.c", &["-DROW"]);
    for (name, options, init) in
        [("plain", &["-g"][..], "shmem_init"), ("threaded", &["-g", "-DTHREADED"], "shmem_init_thread")]
    {
        let binary = Build::program("tools/first.c").named(&format!("first-{name}")).options(options).build();
        let directory = tree::fresh(&format!("stacking-first-{name}")).join("profile");
        let job = || Job::oshrun(2).arg("--tool").arg(&row);
        let outcome = job().arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
        assert_eq!(outcome.stdout, "row: init 1 malloc 1\n".repeat(2), "{}", outcome.describe());
        let report = Report::read(&directory, true);
        for pe in 0..2 {
            let calls = |name| report.routine_of(pe, name).0;
            assert_eq!((calls(init), calls("shmem_malloc"), calls("shmem_finalize")), (1, 1, 1), "{name}");
        }
        let unrecorded = job().args(["--profile", "off"]).arg(&binary).run().expect_code(0);
        assert_eq!(unrecorded.stdout, "row: init 1 malloc 1\n".repeat(2), "{}", unrecorded.describe());
        let told = |outcome: Outcome| {
            let expected = format!("callback: {init}\n");
            assert_eq!(outcome.stdout.matches(&expected).count(), 2, "{}", outcome.describe());
            assert_eq!(outcome.stdout.matches("callback: shmem_finalize\n").count(), 2, "{}", outcome.describe());
        };
        told(Job::oshrun(2).arg(&binary).arg("callbacks").run().expect_code(0));
        told(job().arg(&binary).arg("callbacks").run().expect_code(0));
    }
}

/// As a preloaded tool is: a function that nobody has matters where it is called, in the tool and in what it brings
/// along.
#[test]
fn functions_that_are_never_called_need_not_be_there() {
    let folder = tree::scratch("stacking");
    let part = tool("libbroken-part", "broken.c", &["-DPART"]);
    let brings = ["-DBRINGS", "-L", &folder.to_string_lossy(), "-l:libbroken-part.so", "-Wl,-rpath,$ORIGIN"];
    let brings = tool("broken-brings", "broken.c", &brings);
    assert!(part.exists());
    let outcome = Job::oshrun(2).arg("--tool").arg(&brings).arg(hello()).run().expect_code(0);
    assert_eq!(outcome.stdout.matches("barrier seen").count(), 2, "{}", outcome.describe());
    // Called, it is named with its tool, and the job ends.
    let lacks = tool("broken-lacks", "broken.c", &["-DLACKS"]);
    let outcome = Job::oshrun(2).arg("--tool").arg(&lacks).arg(hello()).limit(20).run().expect_failure();
    outcome.expect_text(&["broken-lacks.so", "undefined symbol: there_is_no_such_routine"]);
}

#[test]
fn a_static_program_says_what_to_do() {
    let binary = Build::program("tools/hello.c").named("stacked-static").options(["-static"]).build();
    let good = tool("few-static", "few.c", &[]);
    let outcome = Job::oshrun(2).arg("--tool").arg(&good).arg(&binary).run().expect_code(1);
    let outcome = outcome.expect_text(&["SHMEM_TOOLS", "linked statically", "-lmytool -lsma"]);
    assert!(!outcome.stdout.contains("user code runs"), "{}", outcome.describe());
    let outcome = Job::oshrun(2).args(["--tool-optional", "--tool"]).arg(&good).arg(&binary).run().expect_code(0);
    outcome.expect_text(&["going on without it", "hello from 1"]);
}

#[test]
fn what_a_tool_loads_itself_is_a_part_of_it() {
    let (loads, loaded) = (tool("loads", "loads.c", &[]), tool("loaded", "loaded.c", &[]));
    let (app, plugin) = (app(), format!("PLUGIN={}", loaded.display()));
    let preload = format!("LD_PRELOAD={}", loads.display());
    for (name, options, tools) in [
        ("loads-in-row", &["-x", &plugin][..], &[&*loads][..]),
        ("loads-preloaded", &["-x", &plugin, "-x", &preload], &[]),
    ] {
        let outcome = run(name, &app, options, tools);
        for pe in 0..PES {
            let line = format!("loads on {pe}: p 20 my_pe 1\n");
            assert!(outcome.stdout.contains(&line), "expected {line}{}", outcome.describe());
        }
    }
}

#[test]
fn a_tool_that_is_there_already_is_refused() {
    let both = tool("few-both", "few.c", &[]);
    let preload = format!("LD_PRELOAD={}", both.display());
    let outcome = Job::oshrun(1).args(["-x", &preload, "--tool"]).arg(&both).arg(hello()).run().expect_code(1);
    outcome.expect_text(&["few-both.so", "in this program already"]);
}
