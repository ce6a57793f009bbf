//! What is in `dashboards/`: made from the tables, by the rules of Grafana's linter, and understood by Prometheus'
//! tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oshserve::dashboards::{DASHBOARDS, dashboard, json::expression, text};
use oshserve::metrics::table::{Kind, TABLE};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dashboards")
}

/// `UPDATE_GOLDEN=1` rewrites them.
#[test]
fn files_are_those_of_the_table() {
    for of in &DASHBOARDS {
        let path = folder().join("grafana").join(format!("{}.json", of.name));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, text(of)).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text(of), "{}: UPDATE_GOLDEN=1 cargo test -p oshserve rewrites it", path.display());
    }
}

/// Names of metrics in a query or rule: each is one of the table's, or one that histograms have beside.
fn unknown_metrics(expression: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let words = expression.split(|c| !is_part(c)).filter(|word| word.starts_with("shmem_"));
    let is_known = |word: &&str| {
        TABLE.iter().any(|row| {
            let beside = ["_bucket", "_sum", "_count"].iter().any(|end| word.strip_suffix(end) == Some(row.name));
            row.name == *word || row.kind == Kind::Histogram && beside
        })
    };
    words.filter(|word| !is_known(word)).map(str::to_owned).collect()
}

/// The rules of Grafana's dashboard-linter, which is a program in Go.
#[test]
fn dashboards_follow_the_rules() {
    for of in &DASHBOARDS {
        let made = dashboard(of);
        assert_eq!((&made["editable"], &made["schemaVersion"]), (&false.into(), &42.into()), "{}", of.name);
        let variables = made["templating"]["list"].as_array().unwrap();
        for name in ["datasource", "job", "instance"] {
            let variable = variables.iter().find(|variable| variable["name"] == name).expect(name);
            let choices = (&variable["multi"], &variable["allValue"], &variable["refresh"]);
            assert!(name == "datasource" || choices == (&true.into(), &".+".into(), &2.into()), "{variable}");
        }
        // All jobs are also those whose series do not say which they are.
        let job = variables.iter().find(|variable| variable["name"] == "job_id");
        assert!(job.is_none_or(|job| job["allValue"] == ".*"), "{}", of.name);
        let mut places: Vec<[i64; 4]> = Vec::new();
        for panel in made["panels"].as_array().unwrap() {
            let title = panel["title"].as_str().unwrap();
            assert!(!title.is_empty() && panel["description"].as_str().unwrap().ends_with('.'), "{title}");
            assert_eq!(panel["datasource"]["uid"], "${datasource}");
            assert!(!panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap().is_empty(), "{title}");
            let place = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_i64().unwrap());
            let apart = |[x, y, w, h]: &[i64; 4]| {
                x + w <= place[0] || place[0] + place[2] <= *x || y + h <= place[1] || place[1] + place[3] <= *y
            };
            assert!(place[0] + place[2] <= 24 && places.iter().all(apart), "{title}");
            places.push(place);
        }
        for (panel, query) in of.panels.iter().flat_map(|panel| panel.queries.iter().map(move |query| (panel, query))) {
            let expression = expression(query);
            assert_eq!(unknown_metrics(&expression), [""; 0], "{}", panel.title);
            let selectors = expression.matches('{').count();
            assert_eq!(expression.matches("job=~\"$job\", instance=~\"$instance\"").count(), selectors, "{expression}");
            let ranges = expression.matches('[').count();
            assert_eq!(expression.matches("[$__rate_interval]").count(), ranges, "{expression}");
            // What counts is only looked at by its growth.
            for row in TABLE.iter().filter(|row| row.kind != Kind::Gauge && row.kind != Kind::Info) {
                let bare = expression.matches(row.name).count();
                assert!(bare == 0 || ranges >= bare, "{expression}");
            }
        }
    }
}

/// Sums by job are also those of hosts whose series do not say of which job they are.
#[test]
fn queries_know_both_kinds_of_labels() {
    for query in DASHBOARDS.iter().flat_map(|of| of.panels).flat_map(|panel| panel.queries) {
        let expression = expression(query);
        assert!(!expression.contains('@'), "{expression}");
        let by_job = expression.matches("job_id!=\"\"").count();
        assert_eq!(by_job, expression.matches("job_id=\"\"").count() * usize::from(by_job > 0), "{expression}");
        let is_by_both = expression.contains("by (job_id, instance)") || expression.contains("shmem_job_info");
        assert!(!expression.contains("by (job_id") || is_by_both || by_job > 0, "{expression}");
    }
}

/// Rules and alerts name known metrics; each alert has a page and two tests.
#[test]
fn alerts_have_pages_and_tests() {
    let read = |file: &str| fs::read_to_string(folder().join("prometheus").join(file)).unwrap();
    let alerts: serde_yaml_ng::Value = serde_yaml_ng::from_str(&read("alerts.yml")).unwrap();
    let tests = read("tests/alerts.yml");
    let rules = alerts["groups"][0]["rules"].as_sequence().unwrap();
    assert!(rules.len() >= 8);
    for rule in rules {
        let (name, expression) = (rule["alert"].as_str().unwrap(), rule["expr"].as_str().unwrap());
        assert_eq!(unknown_metrics(expression), [""; 0], "{name}");
        let page = rule["annotations"]["runbook_url"].as_str().unwrap().rsplit('/').next().unwrap();
        let page = fs::read_to_string(folder().join("../docs/runbooks").join(page)).expect(name);
        assert!(["## What it means", "## Where to look", "## What to do"].iter().all(|part| page.contains(part)));
        assert!(tests.contains(&format!("# {name}: fires")) && tests.contains(&format!("# {name}: silent")), "{name}");
    }
    assert_eq!(unknown_metrics(&read("rules.yml").replace(":shmem_", ":")), [""; 0]);
}

#[test]
fn promtool_finds_nothing_wrong() {
    let files = folder().join("prometheus");
    let promtool = |arguments: &[&str]| {
        let output = match Command::new("promtool").args(arguments).current_dir(&files).output() {
            Ok(output) => output,
            Err(_) => return eprintln!("promtool is not installed: {arguments:?} is not tested"),
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
    };
    promtool(&["check", "rules", "rules.yml", "alerts.yml"]);
    promtool(&["check", "config", "prometheus.yml"]);
    promtool(&["test", "rules", "tests/alerts.yml"]);
    promtool(&["test", "rules", "tests/fleet.yml"]);
}

/// What promtool computes there is what the dashboard shows.
#[test]
fn numbers_of_the_fleet_are_tested_as_they_are() {
    let tests: serde_yaml_ng::Value =
        serde_yaml_ng::from_str(&fs::read_to_string(folder().join("prometheus/tests/fleet.yml")).unwrap()).unwrap();
    let tested: Vec<&str> = tests["tests"]
        .as_sequence()
        .unwrap()
        .iter()
        .flat_map(|test| test["promql_expr_test"].as_sequence().unwrap())
        .map(|test| test["expr"].as_str().unwrap())
        .collect();
    let fleet = DASHBOARDS.iter().find(|of| of.name == "fleet").unwrap();
    for title in ["Jobs that run", "PEs", "Deadlocks", "Lost PEs"] {
        let panel = fleet.panels.iter().find(|panel| panel.title == title).expect(title);
        let expression = expression(&panel.queries[0]).replace("$job", ".+").replace("$instance", ".+");
        assert!(tested.contains(&expression.as_str()), "{title}: {expression} is not among {tested:#?}");
    }
}

/// Panels are told apart by their ids.
#[test]
fn dashboards_are_valid_json_with_ids_of_their_own() {
    for of in &DASHBOARDS {
        let again: Value = serde_json::from_str(&text(of)).unwrap();
        let mut ids: Vec<i64> = again["panels"].as_array().unwrap().iter().map(|p| p["id"].as_i64().unwrap()).collect();
        let panels = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), panels, "{}", of.name);
    }
}
