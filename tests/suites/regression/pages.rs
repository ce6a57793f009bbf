//! Pages of comparisons and histories, opened in a real browser where there is one: they are drawn, and ask nobody for
//! anything.

use std::path::Path;

use harness::run::Job;
use harness::{system, tree};

use crate::runs::{oshprof, profiles, version};

/// What a browser makes of a page, and what went wrong in it; `None`, with a line, where there is no browser.
fn opened(page: &Path) -> Option<(String, String)> {
    let Some(browser) = system::find(&["chromium", "google-chrome"]) else {
        println!("skipped: no chromium is installed");
        return None;
    };
    let profile = tree::fresh(&format!("regression/browser-{}", page.file_stem()?.display()));
    let quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
    let still = ["--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"];
    let job = Job::new(browser).args(quiet).args(still).arg("--dump-dom").limit(120);
    let outcome = job
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .run()
        .expect_code(0);
    let complaints = outcome.stderr.lines().filter(|line| line.contains("CONSOLE")).collect::<Vec<_>>().join("\n");
    Some((outcome.stdout, complaints))
}

#[test]
fn a_browser_draws_them() {
    let folder = tree::fresh("regression/pages");
    std::fs::create_dir_all(&folder).unwrap();
    let (base, new) =
        (profiles("pages-base", &version("BASE"), 2, &[]), profiles("pages-new", &version("QUIET_EACH"), 2, &[]));
    let (store, diff, history) = (folder.join("store"), folder.join("diff.html"), folder.join("history.html"));
    oshprof(&["diff", "--html"]).arg(&diff).args(&base).arg("--").args(&new).run().expect_code(3);
    for (runs, commit) in [(&base, "1111"), (&new, "2222")] {
        let job = oshprof(&["history", "add", "--suite", "s", "--commit", commit]).arg("--store").arg(&store);
        job.args(runs).run().expect_code(0);
    }
    oshprof(&["history", "plot"]).arg(&history).arg("--store").arg(&store).run().expect_code(0);
    let sections = ["Communication", "Times", "Time of each PE, before and now", "Shift of latencies", "shmem_quiet"];
    for (page, texts) in [(&diff, &sections[..]), (&history, &["Findings", "regression since 2222", "waiting"])] {
        let text = std::fs::read_to_string(page).unwrap();
        assert!(
            !text.contains("http://") && !text.contains("https://") && !text.contains("src="),
            "{}",
            page.display()
        );
        let Some((drawn, complaints)) = opened(page) else { return };
        assert!(complaints.is_empty(), "{complaints}");
        assert!(drawn.contains("<svg") && drawn.trim_end().ends_with("</html>"), "{drawn}");
        texts.iter().for_each(|text| assert!(drawn.contains(text), "no `{text}` in {}", page.display()));
    }
}
