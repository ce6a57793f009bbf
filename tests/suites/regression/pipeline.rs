//! The pipelines of `examples/ci`, run as scripts in a repository of their own: GitHub's `run:` steps and GitLab's
//! `script:` lines, against a server that has comments as theirs have.

use std::path::{Path, PathBuf};

use harness::forge::Forge;
use harness::run::{Job, Outcome};
use harness::tree;

use crate::runs::source;

const MARK: &str = "<!-- pellucid-perf:default -->";

/// A repository with a remote one, the scripts, and a program whose version is in its Makefile.
struct Project {
    root: PathBuf,
}

impl Project {
    fn new(name: &str) -> Project {
        let root = tree::fresh(&format!("regression/pipeline-{name}"));
        let project = Project { root };
        let here = project.checkout();
        std::fs::create_dir_all(here.join("ci")).unwrap();
        for entry in std::fs::read_dir(tree::workspace().join("examples/ci")).unwrap().flatten() {
            std::fs::copy(entry.path(), here.join("ci").join(entry.file_name())).unwrap();
        }
        std::fs::copy(source(), here.join("solver.c")).unwrap();
        std::fs::write(here.join(".gitignore"), "solver\nperf-report\n").unwrap();
        project.git(&["init", "-q", "--bare", "../origin.git"]);
        project.git(&["init", "-q"]);
        project.git(&["remote", "add", "origin", "../origin.git"]);
        project.version("BASE");
        project.git(&["push", "-q", "origin", "main"]);
        project
    }

    fn checkout(&self) -> PathBuf {
        self.root.join("checkout")
    }

    fn git(&self, arguments: &[&str]) -> Outcome {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        Job::new("git").args(identity).args(arguments).directory(&self.checkout()).run().expect_code(0)
    }

    /// Commits another version of the program.
    fn version(&self, name: &str) {
        let makefile = format!("solver: solver.c Makefile\n\toshcc -g -D{name} solver.c -o solver\n");
        std::fs::write(self.checkout().join("Makefile"), makefile).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "-m", name]);
    }

    /// Runs a line of a pipeline.
    fn run(&self, line: &str, variables: &[(&str, &str)]) -> Outcome {
        let path = format!("{}:{}", tree::prefix().join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut job =
            Job::new("bash").args(["-e", "-c", line]).directory(&self.checkout()).env("PATH", &path).limit(120);
        for (name, value) in variables {
            job = job.env(name, value);
        }
        job.run()
    }
}

/// The lines of a job that begin so, without that; the names of jobs are so many blanks in.
fn lines_of(file: &Path, job: &str, blanks: usize, starts: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.trim_end().strip_suffix(':')
            && name.len() - name.trim_start().len() == blanks
        {
            inside = name.trim() == job;
        }
        let found = starts.iter().find_map(|start| line.trim_start().strip_prefix(start));
        lines.extend(found.filter(|_| inside).map(str::to_owned));
    }
    lines
}

/// The value of a variable at the top of a pipeline's file.
fn variable(file: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let value = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
    value.unwrap_or_else(|| panic!("no {name} in {}", file.display())).to_owned()
}

/// The comments that begin with the mark.
fn ours(forge: &Forge) -> Vec<String> {
    forge.comments().into_iter().filter(|text| text.starts_with(MARK)).collect()
}

#[test]
fn github_makes_one_comment_and_edits_it() {
    let project = Project::new("github");
    let file = project.checkout().join("ci/github.yml");
    let (build, run) = (variable(&file, "BUILD"), variable(&file, "RUN"));
    let steps = lines_of(&file, "compare", 2, &["run: "]);
    assert_eq!(steps.len(), 3, "install, compare, comment: {steps:?}");
    let forge = Forge::start(130);
    let event = project.root.join("event.json");
    std::fs::write(&event, r#"{"pull_request": {"number": 17}}"#).unwrap();
    let summary = project.root.join("summary.md");
    let variables = [
        ("BUILD", build.as_str()),
        ("RUN", &run),
        ("GITHUB_BASE_REF", "main"),
        ("GITHUB_API_URL", &forge.url),
        ("GITHUB_REPOSITORY", "group/project"),
        ("GITHUB_EVENT_PATH", event.to_str().unwrap()),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
        ("GITHUB_WORKSPACE", project.checkout().to_str().unwrap()),
        ("GITHUB_TOKEN", "secret"),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let compare = |code: i32| project.run(&steps[1], &variables).expect_code(code);
    let comment = || project.run(&steps[2], &variables);

    project.git(&["checkout", "-q", "-b", "change"]);
    project.version("EXTRA_BARRIER");
    let outcome = compare(3);
    assert!(outcome.stderr.contains("::error file=solver.c,line="), "{}", outcome.stderr);
    assert!(std::fs::read_to_string(&summary).unwrap().contains("shmem\\_barrier\\_all"));
    for name in ["comment.md", "report.html", "junit.xml"] {
        assert!(project.checkout().join("perf-report").join(name).exists(), "{name}");
    }
    comment().expect_code(0).expect_text(&["made"]);
    assert!(ours(&forge)[0].contains("❌"), "{:?}", ours(&forge));

    // The next push takes it back.
    project.version("BASE");
    compare(0);
    comment().expect_code(0).expect_text(&["edited"]);
    let comments = ours(&forge);
    assert!(comments.len() == 1 && comments[0].contains("✅"), "{comments:?}");
    assert!(forge.requests().iter().all(|request| request.token == "Bearer secret"));
    assert!(forge.requests().iter().any(|request| request.path == "/repos/group/project/issues/comments/7000"));

    // The token of a fork may not write: told, and no failure.
    forge.refuse();
    comment().expect_code(0).expect_text(&["may not write (403)"]);
    // What does not build is a failure, and leaves no comment.
    project.version("BASE -include nothing.h");
    compare(1).expect_text(&["`make` failed"]);
    assert!(!project.checkout().join("perf-report/comment.md").exists());
    assert_eq!(project.git(&["worktree", "list"]).stdout.lines().count(), 1, "worktrees are removed");
}

#[test]
fn gitlab_makes_one_note_and_edits_it() {
    let project = Project::new("gitlab");
    let file = project.checkout().join("ci/gitlab.yml");
    let (build, run) = (variable(&file, "BUILD"), variable(&file, "RUN"));
    let lines = lines_of(&file, "compare", 0, &["- git ", "- ci/compare", "- if ["]);
    // Of the file's lines without their dash: what git does, the comparison, the note.
    assert_eq!(lines.len(), 3, "{lines:?}");
    let script = format!("git {}\nci/compare{}", lines[0], lines[1]);
    let after = format!("if [{}", lines[2]);
    let forge = Forge::start(3);
    let variables = [
        ("BUILD", build.as_str()),
        ("RUN", &run),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_API_V4_URL", &forge.url),
        ("CI_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_IID", "17"),
        ("GITLAB_TOKEN", "secret"),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    project.git(&["checkout", "-q", "-b", "change"]);
    for (version, code, text) in [("QUIET_EACH", 3, "made"), ("BASE", 0, "edited")] {
        project.version(version);
        project.run(&script, &variables).expect_code(code);
        project.run(&after, &variables).expect_code(0).expect_text(&[text]);
    }
    assert_eq!(ours(&forge).len(), 1);
    let requests = forge.requests();
    assert!(requests.iter().all(|request| request.token == "secret"));
    let last = requests.last().unwrap();
    assert_eq!((last.method.as_str(), last.path.as_str()), ("PUT", "/projects/5/merge_requests/17/notes/7000"));
}

#[test]
fn the_history_lies_on_a_branch_of_its_own() {
    let project = Project::new("history");
    let file = project.checkout().join("ci/github.yml");
    let (build, run) = (variable(&file, "BUILD"), variable(&file, "RUN"));
    let steps = lines_of(&file, "history", 2, &["run: "]);
    let variables = [("BUILD", build.as_str()), ("RUN", run.as_str()), ("GITHUB_REF_NAME", "main")];
    let history = || project.run(&steps[1], &variables);
    history().expect_code(0).expect_text(&["the branch perf-history is new", "ok: 0 findings"]);
    project.version("QUIET_EACH");
    let commit = project.git(&["rev-parse", "--short=12", "HEAD"]).stdout;
    history().expect_code(3).expect_text(&[&format!("regression since {}", commit.trim()), "shmem_quiet"]);
    let plot = std::fs::read_to_string(project.checkout().join("perf-report/history.html")).unwrap();
    assert!(plot.contains(commit.trim()));
    let listed = project.git(&["ls-tree", "--name-only", "origin/perf-history"]).stdout;
    assert!(listed.contains("counts") && !listed.contains("solver.c"), "{listed}");
    // The same commit once more is nothing new but its times.
    history().expect_code(3);
    project.git(&["remote", "set-url", "origin", "/no/such/place"]);
    history().expect_code(1).expect_text(&["could not be pushed"]);
    assert_eq!(project.git(&["worktree", "list"]).stdout.lines().count(), 1);
}

#[test]
fn a_comment_that_cannot_be_made_is_told() {
    let project = Project::new("comment");
    std::fs::create_dir_all(project.checkout().join("perf-report")).unwrap();
    let page = project.checkout().join("perf-report/comment.md");
    let comment = |variables: &[(&str, &str)]| project.run("python3 ci/comment.py perf-report/comment.md", variables);
    comment(&[]).expect_code(1).expect_text(&["comment.md"]);
    std::fs::write(&page, "hello\n").unwrap();
    comment(&[]).expect_code(2).expect_text(&["is no report"]);
    std::fs::write(&page, format!("{MARK}\nhello\n")).unwrap();
    comment(&[("GITHUB_EVENT_PATH", "")]).expect_code(1);
    let gone = [
        ("CI_MERGE_REQUEST_IID", "1"),
        ("CI_API_V4_URL", "http://127.0.0.1:9"),
        ("CI_PROJECT_ID", "1"),
        ("GITLAB_TOKEN", "x"),
    ];
    comment(&gone).expect_code(1).expect_text(&["refused"]);
    project.run("ci/compare.sh main", &[]).expect_code(2).expect_text(&["usage: BUILD="]);
    let nowhere = [("BUILD", "true"), ("RUN", "true")];
    project.run("ci/compare.sh no-such-branch", &nowhere).expect_code(1).expect_text(&["nothing in common"]);
    project.run("ci/install.sh", &[("PELLUCID_PREFIX", "/no/such/place")]).expect_code(1).expect_text(&["a checkout"]);
}
