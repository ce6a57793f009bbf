//! `oshrun --dashboard` and `oshprof top --web`, in a real browser: the page draws the job while it runs, answers to
//! keys, and asks nobody else for anything.

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use harness::browser::Browser;
use harness::compile::Build;
use harness::exporter::{Process, get, wait_for};
use harness::run::{Job, Running};
use harness::{system, tree};

/// A job whose page somebody looks at.
struct Shown {
    running: Running,
    url: String,
}

fn folder(name: &str) -> PathBuf {
    let folder = tree::fresh(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Starts a job with a page, whose address it prints.
fn show(name: &str, pes: usize, program: &str, way: &str) -> Shown {
    let said = folder(name).join("stderr");
    let binary = Build::program(program).build();
    let line = format!(
        "exec {} -n {pes} --dashboard {} {way} 2>{}",
        tree::tool("oshrun").display(),
        binary.display(),
        said.display()
    );
    let running = Job::new("sh").args(["-c", &line]).env("PELLUCID_JOB_ID", name).limit(120).start();
    let url = wait_for("the address of the page", || {
        let text = std::fs::read_to_string(&said).ok()?;
        Some(text.lines().find_map(|line| line.strip_prefix("oshrun: dashboard: "))?.to_owned())
    });
    Shown { running, url }
}

fn address(url: &str) -> SocketAddr {
    let host = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
    host.parse().unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn looks(browser: &Browser) -> u64 {
    browser.value("return Number(document.body.dataset.looks ?? 0)").as_u64().unwrap_or(0)
}

#[test]
fn the_page_draws_a_job_while_it_runs() {
    let folder = folder("dashboard-load");
    let Some(browser) = Browser::start(&folder) else { return };
    let shown = show("dashboard-load-job", 4, "metrics/short.c", "load");
    browser.open(&shown.url);
    let text = |id: &str| browser.value(&format!("return document.getElementById('{id}').textContent"));
    let drawn = |id: &str, what: &str| {
        browser.value(&format!("return document.querySelectorAll('#{id} {what}').length")).as_u64().unwrap_or(0)
    };
    wait_for("the third look", || (looks(&browser) >= 3).then_some(()));
    assert_eq!(text("state"), "running");
    assert!(text("facts").as_str().unwrap().contains("4 PEs"), "{}", text("facts"));
    // A row a PE, a cell a pair, the routines that are called.
    assert!(drawn("pes", "svg rect") >= 4 && drawn("matrix", "rect") >= 17);
    let rows = text("routines");
    for routine in ["shmem_long_p", "shmem_putmem", "shmem_barrier_all"] {
        assert!(rows.as_str().unwrap().contains(routine), "{rows}");
    }
    let rate = "return document.querySelector('#routines td:nth-child(2)').textContent";
    assert_ne!(browser.value(rate), "0", "calls a second");
    // It goes on by itself, and stops when asked to.
    browser.press(&["p"]);
    wait_for("the pause", || {
        (browser.value("return document.getElementById('pause').ariaPressed") == "true").then_some(())
    });
    let before = looks(&browser);
    browser.press(&["p"]);
    wait_for("another look", || (looks(&browser) > before).then_some(()));
    // Panels and cells are reached by keys.
    browser.press(&["3"]);
    assert_eq!(browser.value("return document.activeElement.id"), "p3");
    browser.value("document.getElementById('grid').focus(); return null");
    browser.press(&["\u{E015}"]); // arrow down
    let cell = text("cell");
    assert!(cell.as_str().unwrap().starts_with("PE 1 to PE 0: "), "{cell}");
    browser.picture(&folder.join("light.png"));
    browser.prefer("dark");
    browser.picture(&folder.join("dark.png"));
    let (complaints, requests) = browser.logs();
    assert_eq!(complaints, [""; 0]);
    let origin = format!("http://{}/", address(&shown.url));
    // Before it came to the page, the browser drew one of its own.
    let requests: Vec<&String> = requests.iter().filter(|request| request.starts_with("http")).collect();
    assert!(requests.len() >= 3 && requests.iter().all(|request| request.starts_with(&origin)), "{requests:?}");
    // Without the word nobody gets in.
    for path in ["/", "/state", "/metrics", "/0123/state"] {
        assert_eq!(get(address(&shown.url), path, &[]).0, 404, "{path}");
    }
    system::signal(shown.running.pid(), libc::SIGTERM);
    shown.running.wait();
    wait_for("the end on the page", || (text("state") == "killed").then_some(()));
    wait_for("the end of the server", || TcpStream::connect(address(&shown.url)).err());
}

#[test]
fn a_deadlock_is_a_ring_of_arrows() {
    let folder = folder("dashboard-ring");
    let Some(browser) = Browser::start(&folder) else { return };
    let shown = show("dashboard-ring-job", 3, "live/stuck.c", "ring");
    browser.open(&shown.url);
    let text = |id: &str| browser.value(&format!("return document.getElementById('{id}').textContent"));
    let arrows = || browser.value("return document.querySelectorAll('#graph line.stuck').length").as_u64();
    wait_for("the ring", || arrows().filter(|&arrows| arrows >= 2));
    assert!(text("facts").as_str().unwrap().contains("DEADLOCK"), "{}", text("facts"));
    assert!(text("waits").as_str().unwrap().contains("none of them can go on"), "{}", text("waits"));
    browser.picture(&folder.join("ring.png"));
    system::signal(shown.running.pid(), libc::SIGTERM);
    shown.running.wait();
}

/// What a dashboard's file may have, by the types that Grafana publishes.
const TYPES: &str = "
import type { AnnotationQuery, Dashboard } from '@grafana/schema';
// In a file an enumeration's members are their values.
type Written<T> = T extends string ? `${T}` : T extends (infer U)[] ? Written<U>[] :
  T extends object ? { [K in keyof T]: Written<T[K]> } : T;
// What Prometheus' data source has beside what all annotations have.
type OfPrometheus = { expr: string; useValueForTime: boolean; titleFormat: string };
type Annotation = Written<AnnotationQuery> & OfPrometheus;
type Made = Omit<Written<Dashboard>, 'annotations'> & { annotations: { list: Annotation[] } };
";

#[test]
fn dashboards_have_the_types_that_grafana_publishes() {
    let modules = tree::workspace().join("target/npm/node_modules");
    let compiler = modules.join(".bin/tsc");
    if !compiler.exists() {
        return println!("skipped: @grafana/schema and typescript are not installed, which ./x test does");
    }
    let folder = folder("grafana-types");
    std::os::unix::fs::symlink(&modules, folder.join("node_modules")).expect("a link");
    let compiler_options = serde_json::json!({
        "strict": true, "noEmit": true, "module": "esnext", "moduleResolution": "bundler", "skipLibCheck": true,
        "types": [],
    });
    let options = serde_json::json!({ "compilerOptions": compiler_options, "include": ["*.ts"] });
    std::fs::write(folder.join("tsconfig.json"), options.to_string()).expect("a file");
    let check = |text: &str, file: &str| {
        std::fs::write(folder.join(file), format!("{TYPES}export const made = {} satisfies Made;\n", text.trim()))
            .expect("a file");
        Job::new(&compiler).args(["-p", "."]).directory(&folder).limit(90).run()
    };
    let mut last = String::new();
    for name in ["fleet", "job", "balance", "exporter"] {
        let file = tree::workspace().join(format!("dashboards/grafana/{name}.json"));
        last = std::fs::read_to_string(file).expect("a dashboard");
        check(&last, &format!("{name}.ts")).expect_code(0);
    }
    // It would see what is wrong.
    let wrong = last.replace("palette-classic-by-name", "palette-of-nobody");
    check(&wrong, "wrong.ts").expect_failure().expect_text(&["palette-of-nobody"]);
}

/// A test that panics leaves no job behind.
#[test]
fn a_job_that_nobody_waits_for_is_ended() {
    let running = Job::new("sleep").arg("1000").start();
    let pid = running.pid();
    assert!(system::signal(pid, 0), "it runs");
    drop(running);
    assert!(!system::signal(pid, 0), "it has been ended");
}

/// The same for a job that runs already.
#[test]
fn top_serves_the_page_of_a_job() {
    let folder = folder("dashboard-top");
    let binary = Build::program("metrics/short.c").build();
    let running = Job::oshrun(2).arg(binary).arg("load").env("PELLUCID_JOB_ID", "topped").limit(120).start();
    let said = folder.join("stdout");
    let out = std::fs::File::create(&said).expect("a file");
    // A job is found once it has its segment.
    let mut top = wait_for("the job", || {
        let mut child = Command::new(tree::tool("oshprof"))
            .args(["top", &running.pid().to_string(), "--web"])
            .stdout(out.try_clone().ok()?)
            .stderr(Stdio::null())
            .spawn()
            .map(Process)
            .ok()?;
        let url = || std::fs::read_to_string(&said).ok().filter(|text| text.ends_with('\n'));
        while child.0.try_wait().ok()?.is_none() {
            if url().is_some() {
                return Some(child);
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        None
    });
    let text = std::fs::read_to_string(&said).expect("an address");
    let url = text.trim().rsplit(' ').next().expect("an address").to_owned();
    let path = url.trim_start_matches("http://").split_once('/').map_or("", |(_, path)| path);
    let state = || {
        let body = get(address(&url), &format!("/{path}/state"), &[]).1;
        serde_json::from_str::<serde_json::Value>(&body).ok()
    };
    let now = wait_for("the state", || state().filter(|state| state["state"] == "running"));
    assert_eq!(now["pes"].as_array().map(Vec::len), Some(2), "{now}");
    let page = get(address(&url), &format!("/{path}"), &[]).1;
    assert!(page.starts_with("<!doctype html>") && page.contains("Who waits for whom"), "{page}");
    system::signal(running.pid(), libc::SIGTERM);
    running.wait();
    wait_for("the end", || state().filter(|state| state["state"] != "running"));
    assert!(wait_for("the end of the server", || top.0.try_wait().ok()?).success());
}
