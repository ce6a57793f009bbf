//! The programs of `examples/`: they compile without warnings, do their work and find it right, at any number of PEs.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::run::Job;
use harness::{system, tree};

/// Compiles an example, as the README does, with all warnings as errors.
fn example(name: &str) -> PathBuf {
    let source = tree::workspace().join("examples").join(name).join(format!("{name}.c"));
    Build::source(&format!("example-{name}"), &source).options(["-O2", "-g", "-Werror"]).libraries(["-lm"]).build()
}

fn check(name: &str, arguments: &[&[&str]]) {
    let binary = example(name);
    for pes in [1, 2, 3, 7] {
        for arguments in arguments {
            Job::oshrun(pes).arg(&binary).args(*arguments).run().expect_code(0).expect_text(&[&format!("{name}: OK")]);
        }
    }
}

#[test]
fn hello() {
    check("hello", &[&[]]);
}

#[test]
fn isort() {
    check("isort", &[&["-k", "100000"], &["-k", "3001", "-d", "low"], &["-k", "5000", "-d", "same"], &["-k", "1"]]);
}

#[test]
fn gups() {
    check("gups", &[&["-t", "10"], &["-t", "8", "-o", "add"]]);
}

#[test]
fn rescue() {
    check("rescue", &[&["-c", "30", "-t", "200"], &["-c", "1", "-t", "30", "-e", "7"]]);
}

#[test]
fn heat2d() {
    check("heat2d", &[&["-r", "64", "-c", "48", "-s", "60"], &["-r", "33", "-c", "7", "-s", "20"]]);
}

/// Whichever PE ends the job.
#[test]
fn heat2d_says_what_is_wrong() {
    let told = "heat2d: 2 rows cannot be split over 3 PEs";
    for (arguments, why) in [(&["-r", "2"], told), (&["-s", "x"], "-s takes a number"), (&["-q", ""], "usage: heat2d")]
    {
        for _ in 0..5 {
            Job::oshrun(3).arg(example("heat2d")).args(arguments).run().expect_code(2).expect_text(&[why]);
        }
    }
}

#[test]
fn teamsort() {
    check("teamsort", &[&["-k", "20000"], &["-k", "3001", "-b", "even"], &["-k", "1"]]);
}

#[test]
fn conveyor() {
    check("conveyor", &[&["-i", "60000", "-t", "512"], &["-i", "5000", "-b", "1"], &["-i", "3001", "-b", "7"]]);
}

#[test]
fn hashtable() {
    check("hashtable", &[&["-w", "10000"], &["-w", "500", "-v", "700", "-g", "lock"], &["-w", "100", "-v", "1"]]);
}

#[test]
fn stencil2d() {
    check(
        "stencil2d",
        &[&["-n", "24", "-s", "40"], &["-n", "9", "-s", "30", "-h", "barrier"], &["-n", "1", "-s", "9"]],
    );
}

/// The story of a program: a first version and a better one, both short runs, and what its page shows of them.
struct Story {
    name: &'static str,
    first: &'static [&'static str],
    better: &'static [&'static str],
    /// What the page refers to: whether of the first version, which view, and words of that view.
    shown: &'static [(bool, &'static str, &'static [&'static str])],
}

const STORIES: &[Story] = &[
    Story {
        name: "teamsort",
        first: &["-k", "262144", "-b", "even"],
        better: &["-k", "262144", "-b", "sample"],
        shown: &[
            (true, "timeline", &["outside of the library"]),
            (false, "timeline", &["outside of the library"]),
            (true, "imbalance", &["main at teamsort.c:", "late PE"]),
        ],
    },
    Story {
        name: "conveyor",
        first: &["-i", "1000000", "-b", "1"],
        better: &["-i", "1000000"],
        shown: &[
            (true, "sizes", &["shmem_ulong_atomic_inc      8 B    16 B  2000000   100.0"]),
            (false, "sizes", &["shmem_uint_put_signal"]),
        ],
    },
    Story {
        name: "hashtable",
        first: &["-w", "65536", "-g", "lock"],
        better: &["-w", "65536"],
        shown: &[
            (true, "locks", &["lock on PE 0", "contended"]),
            (false, "routines", &["shmem_ulong_atomic_inc", "131072"]),
        ],
    },
    Story {
        name: "stencil2d",
        first: &["-n", "32", "-s", "2000", "-h", "barrier"],
        better: &["-n", "32", "-s", "2000"],
        shown: &[
            (true, "callsites", &["exchange_with_barrier at stencil2d.c:", "shmem_double_p, calls 64000"]),
            (false, "callsites", &["send_edges at stencil2d.c:", "shmem_double_put_signal_nbi, calls 4000"]),
        ],
    },
];

/// The pages of the tutorial show what reports say. PELLUCID_BLESS=1 makes their pictures anew.
#[test]
fn the_tutorial() {
    let folder = tree::fresh("tutorial");
    for story in STORIES {
        let page = tree::workspace().join("examples").join(story.name).join("README.md");
        let page_text = std::fs::read_to_string(&page).expect("its page");
        let runs = [(true, "first", story.first), (false, "better", story.better)];
        for (first, version, arguments) in runs {
            let profile = folder.join(format!("{}-{version}", story.name));
            let job = Job::oshrun(2).arg("--profile-dir").arg(&profile).arg(example(story.name)).args(arguments);
            // With locks over the network the hash table takes half a minute, and longer beside other tests.
            job.limit(240).run().expect_code(0).expect_text(&[&format!("{}: OK", story.name)]);
            let report = || Job::new(tree::tool("oshprof")).arg("report").arg(&profile);
            let html = profile.with_extension("html");
            report().arg("--html").arg(&html).run().expect_code(0);
            for (_, view, words) in story.shown.iter().filter(|(of, _, _)| *of == first) {
                report().args(["--view", view]).run().expect_code(0).expect_text(words);
                let name = format!("{view}-{version}.png");
                assert!(page_text.contains(&format!("]({name})")), "{} does not show {name}", page.display());
                let kept = page.with_file_name(&name);
                if std::env::var_os("PELLUCID_BLESS").is_some() {
                    picture(&html, view, &kept);
                }
                let page_of_report = std::fs::read_to_string(&html).expect("a report");
                assert!(page_of_report.contains(&format!("<section id=\"{view}\">")), "{}", html.display());
                let bytes = std::fs::read(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
                assert!(bytes.starts_with(b"\x89PNG") && bytes.len() < 100_000, "{name}: {} bytes", bytes.len());
            }
        }
    }
}

/// The part of an HTML report that has a view: its beginning, where it is long. By a browser, where there is one.
fn picture(html: &Path, view: &str, file: &Path) {
    let Some(chromium) = system::find(&["chromium"]) else { return println!("no chromium: {view} keeps its picture") };
    let report = std::fs::read_to_string(html).expect("a report");
    let style = format!(
        "<style>section, header, nav {{ display: none }} section#{view} {{ display: block; max-height: 360px; \
         max-width: 1000px; overflow: hidden }}</style></head>"
    );
    let alone = html.with_extension(format!("{view}.html"));
    std::fs::write(&alone, report.replacen("</head>", &style, 1)).expect("a file");
    let options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"];
    Job::new(chromium)
        .args(options)
        .args(["--no-first-run", "--disable-background-networking", "--window-size=1044,420"])
        .arg(format!("--user-data-dir={}", html.with_extension("browser").display()))
        .arg(format!("--screenshot={}", file.display()))
        .arg(format!("file://{}", alone.display()))
        .run()
        .expect_code(0);
}
