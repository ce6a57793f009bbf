//! Python programs: the package shmem4py, built from its sources against this library, and the examples.

use std::path::PathBuf;

use harness::run::Job;
use harness::{system, tree, wheels};

/// The Python that has shmem4py; `None`, and a line that says so, where it is not there.
fn python() -> Option<PathBuf> {
    wheels::shmem4py().inspect_err(|why| println!("not tested: {why}")).ok()
}

#[test]
fn the_packages_own_tests() {
    let Some(folder) = python() else { return };
    let sources = std::fs::read_dir(folder.join("source")).expect("its sources").flatten();
    let package = sources.map(|entry| entry.path()).find(|path| path.is_dir()).expect("its folder");
    for pes in [1, 2, 3] {
        let outcome = Job::oshrun(pes)
            .arg(folder.join("bin/python3"))
            .args(["-m", "unittest", "discover", "-s", "test"])
            .directory(&package)
            .limit(300)
            .run()
            .expect_code(0);
        let passed = outcome.stderr.lines().filter(|line| *line == "OK").count();
        assert_eq!(passed, pes, "{}", outcome.stderr);
    }
}

#[test]
fn the_examples() {
    let Some(folder) = python() else { return };
    let (scratch, examples) = (tree::fresh("python"), tree::workspace().join("examples/python"));
    let heat = |pes: usize| {
        let job = Job::oshrun(pes).arg("--profile-dir").arg(scratch.join(format!("profile-{pes}")));
        job.arg(folder.join("bin/python3")).arg(examples.join("heat.py")).directory(&scratch)
    };
    for pes in [1, 2, 4] {
        let line = format!("heat.py: OK, 48 x 40 points, 50 steps on {pes} PEs");
        heat(pes).args(["48", "40", "50", "--plot", "heat.png"]).run().expect_code(0).expect_text(&[&line]);
    }
    heat(5).args(["48", "40", "50"]).run().expect_code(1).expect_text(&["48 rows cannot be divided among 5 PEs"]);
    let path = format!("{}:{}", tree::prefix().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    Job::new(folder.join("bin/python3"))
        .arg(examples.join("shares.py"))
        .arg(scratch.join("profile-4"))
        .arg("shares.png")
        .env("PATH", &path)
        .directory(&scratch)
        .run()
        .expect_code(0)
        .expect_text(&["shares.py: OK, 4 PEs in shares.png"]);
    for picture in ["heat.png", "shares.png"] {
        let bytes = std::fs::read(scratch.join(picture)).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5000, "{picture}: {} bytes", bytes.len());
    }
}

/// The hook of docs/python.md ends the job where one PE raises and the others wait for what it would do.
#[test]
fn an_exception_of_one_pe_ends_the_job() {
    let Some(folder) = python() else { return };
    let page = std::fs::read_to_string(tree::workspace().join("docs/python.md")).expect("the page");
    let blocks = page.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next());
    let hook = blocks.into_iter().find(|block| block.contains("sys.excepthook =")).expect("the hook");
    let hook: String = hook.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
    let script = tree::fresh("python-exception").join("raises.py");
    let rest = "flag = shmem.zeros(1, dtype='l')\nif shmem.my_pe() == 1:\n    raise ValueError('of one PE')\n\
                shmem.wait_until(flag, shmem.CMP.EQ, 7)\n";
    std::fs::write(&script, hook + rest).expect("target/tests can be written");
    let outcome = Job::oshrun(3).arg(folder.join("bin/python3")).arg(&script).limit(60).run().expect_code(1);
    outcome.expect_text(&["ValueError: of one PE", "raises.py"]);
}

/// docs/python.md: the library shows the stack of a fault, and Python that of a crash.
#[test]
fn a_fault_and_a_crash_show_the_python_stack() {
    let Some(folder) = python() else { return };
    let page = std::fs::read_to_string(tree::workspace().join("docs/python.md")).expect("the page");
    assert!(page.contains("`SHMEM_ABORT=trace`. Of a crash Python itself shows it"), "{page}");
    let script = tree::fresh("python-ends").join("ends.py");
    let text = "import ctypes, sys\nfrom shmem4py import shmem\na = shmem.zeros(4)\ndef inner():\n    \
                if sys.argv[1] == 'fault':\n        shmem.put(a, a, 99)\n    \
                ctypes.memmove(a.ctypes.data, 8, 32)\ninner()\n";
    std::fs::write(&script, text).expect("target/tests can be written");
    let job = || Job::oshrun(2).env("SHMEM_ABORT", "trace").arg(folder.join("bin/python3"));
    let outcome = job().arg(&script).arg("fault").limit(60).run().expect_code(1);
    outcome.expect_text(&["pe = 99", "ends.py\", line 6 in inner"]);
    let outcome = job().args(["-X", "faulthandler"]).arg(&script).arg("crash").limit(60).run().expect_code(128 + 11);
    outcome.expect_text(&["Fatal Python error: Segmentation fault", "ends.py\", line 7 in inner"]);
}

/// A profile is named after the script, and shows its calls and the lines that they are of.
#[test]
fn a_profile_of_a_script() {
    let Some(folder) = python() else { return };
    let scratch = tree::fresh("python-profile");
    let script = tree::workspace().join("examples/python/heat.py");
    let run = |lines: &str, folder_of: &str| {
        let to = scratch.join(folder_of);
        std::fs::create_dir_all(&to).expect("a folder");
        let job = Job::oshrun(2).arg("--profile").arg(folder.join("bin/python3")).arg(&script);
        let job = job.args(["16", "16", "400"]).env("SHMEM_PROFILE_PYTHON", lines).directory(&to);
        job.run().expect_code(0).expect_text(&["shmem_double_put", "pellucid-heat.py.prof"]);
    };
    let callers = |profile: &str, routine: &str| -> String {
        let report = Job::new(tree::tool("oshprof")).arg("report").arg(profile).args(["--view", "callsites", "--json"]);
        let sites: serde_json::Value =
            serde_json::from_str(&report.directory(&scratch).run().expect_code(0).stdout).expect("JSON");
        let rows = sites["callsites"].as_array().expect("rows").clone();
        let of = |row: &&serde_json::Value| row["routine"] == routine;
        rows.iter().find(of).unwrap_or_else(|| panic!("{sites:#}"))["callers"].as_str().unwrap_or_default().to_owned()
    };
    run("on", "on");
    // The lines of the source, whatever is added to it.
    let text = std::fs::read_to_string(&script).expect("the example");
    let lines = |call: &str| -> Vec<String> {
        let found = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with(call));
        found.map(|(at, _)| format!("heat.py:{} (", at + 1)).collect()
    };
    let profile = "on/pellucid-heat.py.prof";
    let puts = callers(profile, "shmem_double_put");
    let put_lines = lines("shmem.put(");
    assert!(put_lines.len() == 2 && put_lines.iter().all(|line| puts.contains(line)), "{puts}");
    // Every call of a barrier is timed; most are those of the loop.
    let barriers = callers(profile, "shmem_barrier_all");
    assert!(lines("shmem.barrier_all()").iter().filter(|line| barriers.contains(*line)).count() >= 2, "{barriers}");
    run("off", "off");
    let puts = callers("off/pellucid-heat.py.prof", "shmem_double_put");
    assert!(!puts.contains("heat.py"), "{puts}");
}

/// Every Python from 3.8 on that is installed here, beside those in `PATH` those of pyenv.
fn installed() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let versions = std::env::var_os("PYENV_ROOT").map_or(home.join(".pyenv"), PathBuf::from).join("versions");
    let of_pyenv = std::fs::read_dir(versions).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = of_pyenv.map(|version| version.join("bin/python3")).filter(|file| file.is_file()).collect();
    found.extend(system::find(&["python3"]));
    let knows = |python: &PathBuf| {
        let test = "import ctypes, sys; sys.exit(sys.version_info < (3, 8))";
        Job::new(python.clone()).args(["-c", test]).run().code() == 0
    };
    found.retain(knows);
    found
}

/// In each version, Python's stack is come by in another way; nothing but the standard library is needed to see it.
#[test]
fn each_version_of_python_has_its_lines() {
    let scratch = tree::fresh("python-versions");
    let script = scratch.join("lines.py");
    let text = "import ctypes, sys\nlib = ctypes.CDLL(sys.argv[1])\nlib.shmem_malloc.restype = ctypes.c_void_p\n\
                lib.shmem_init()\nword = ctypes.c_void_p(lib.shmem_malloc(8))\ndef inner(pe):\n    \
                lib.shmem_int_p(word, 1, pe)\nfor _ in range(100):\n    inner(0)\n\
                if len(sys.argv) > 2:\n    inner(99)\nlib.shmem_finalize()\n";
    std::fs::write(&script, text).expect("target/tests can be written");
    let pythons = installed();
    for (at, python) in pythons.iter().enumerate() {
        println!("{}", python.display());
        let profile = scratch.join(format!("profile-{at}"));
        let run = |words: &[&str]| {
            let job = Job::oshrun(2).arg("--profile-dir").arg(&profile).env("SHMEM_ABORT", "trace").arg(python);
            job.arg(&script).arg(tree::library("libsma.so.1")).args(words).directory(&scratch).limit(60).run()
        };
        run(&[]).expect_code(0);
        let report = Job::new(tree::tool("oshprof")).arg("report").arg(&profile).args(["--view", "callsites"]).run();
        report.expect_code(0).expect_text(&["is called by lines.py:7"]);
        std::fs::remove_dir_all(&profile).expect("a profile");
        let words = ["pe = 99", "lines.py\", line 7 in inner", "lines.py\", line 11 in <module>"];
        run(&["fault"]).expect_code(1).expect_text(&words);
    }
    if pythons.is_empty() {
        println!("not tested: no Python here");
    }
}

/// Of a Python whose stack is not to be had, whoever asks for a profile is told; this one has no stack at all.
#[test]
fn a_python_without_a_stack_is_told() {
    let scratch = tree::fresh("python-none");
    let text = "#include <shmem.h>\nvoid *PyGILState_GetThisThreadState(void);\n\
                void *PyGILState_GetThisThreadState(void) { return 0; }\n\
                int main(void) { shmem_init(); shmem_barrier_all(); shmem_finalize(); return 0; }\n";
    std::fs::write(scratch.join("none.c"), text).expect("target/tests can be written");
    let compile = Job::new(tree::tool("oshcc")).args(["-rdynamic", "none.c", "-o", "none"]).directory(&scratch);
    compile.run().expect_code(0);
    let told = "pellucid: no lines of the script in the profile: this Python does not show its stack";
    for (lines, times) in [("on", 1), ("off", 0)] {
        let job = Job::oshrun(2).arg("--profile").arg("./none").env("SHMEM_PROFILE_PYTHON", lines).directory(&scratch);
        let outcome = job.run().expect_code(0);
        assert_eq!(outcome.stderr.matches(told).count(), times, "{}", outcome.describe());
    }
}
