//! Panels as Grafana's classic JSON, which every version imports.

use serde_json::{Value, json};

use super::panels::{Dashboard, Panel, Query, Shape};

/// Version of the format: that of `@grafana/schema` 13.
const SCHEMA_VERSION: u32 = 42;
/// Colours of Okabe and Ito, which can be told apart by the colour-blind too.
const COLOURS: [&str; 3] = ["#0072B2", "#E69F00", "#D55E00"];

/// A query with the matchers filled in. One by job is that, or by host where series do not say of which job they are.
pub fn expression(query: &Query) -> String {
    let all = "job=~\"$job\", instance=~\"$instance\"";
    let by = |label: &str, series: &str| query.expr.replace("@by", label).replace("@series", series);
    let expr = match query.expr.contains("@by") {
        true => [by("job_id", "@all, job_id!=\"\""), by("instance", "@all, job_id=\"\"")].join(" or "),
        false => query.expr.to_owned(),
    };
    expr.replace("@job", &format!("{all}, job_id=~\"$job_id\"")).replace("@all", all)
}

/// The file of a dashboard.
pub fn text(of: &Dashboard) -> String {
    format!("{:#}\n", dashboard(of))
}

/// A dashboard.
pub fn dashboard(of: &Dashboard) -> Value {
    let mut variables = vec![
        json!({ "name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "hide": 0 }),
        variable("job", "Scrape job", "label_values(shmem_exporter_build_info, job)", ".+"),
        variable("instance", "Exporter", "label_values(shmem_exporter_build_info{job=~\"$job\"}, instance)", ".+"),
    ];
    if of.by_job {
        let query = "label_values(shmem_job_info{job=~\"$job\", instance=~\"$instance\"}, job_id)";
        // Series of `--labels node` have no such label.
        variables.push(variable("job_id", "Job", query, ".*"));
    }
    let annotations = if of.by_job { vec![started()] } else { Vec::new() };
    json!({
        "uid": format!("pellucid-{}", of.name),
        "title": of.title,
        "description": of.description,
        "tags": ["openshmem", "pellucid"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": false,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": { "from": "now-1h", "to": "now" },
        "timezone": "browser",
        "annotations": { "list": annotations },
        "templating": { "list": variables },
        "links": [{
            "title": "OpenSHMEM", "type": "dashboards", "tags": ["pellucid"], "asDropdown": true, "includeVars": true,
            "keepTime": true, "icon": "external link", "targetBlank": false, "tooltip": "", "url": "",
        }],
        "panels": panels(of.panels),
    })
}

fn source() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

fn variable(name: &str, label: &str, query: &str, all: &str) -> Value {
    json!({
        "name": name, "label": label, "type": "query", "datasource": source(), "query": query, "refresh": 2, "sort": 1,
        "multi": true, "includeAll": true, "allValue": all, "hide": 0,
        "current": { "text": ["All"], "value": ["$__all"] },
    })
}

/// When jobs start, as lines in every panel.
fn started() -> Value {
    json!({
        "name": "Job starts", "datasource": source(), "enable": true, "iconColor": COLOURS[0],
        "expr": "shmem_job_start_timestamp_seconds{job=~\"$job\", instance=~\"$instance\", job_id=~\"$job_id\"} * 1000",
        "useValueForTime": true, "titleFormat": "{{job_id}} starts on {{instance}}",
    })
}

fn panels(list: &[Panel]) -> Vec<Value> {
    let (mut x, mut y, mut tallest) = (0, 0, 0);
    let mut made = Vec::new();
    for (at, panel) in list.iter().enumerate() {
        let (width, height) = panel.size;
        if x + width > 24 {
            (x, y, tallest) = (0, y + tallest, 0);
        }
        made.push(one(panel, at + 1, json!({ "x": x, "y": y, "w": width, "h": height })));
        x += width;
        tallest = tallest.max(height);
    }
    made
}

fn one(panel: &Panel, id: usize, place: Value) -> Value {
    let at_once = matches!(panel.shape, Shape::Number | Shape::Table | Shape::Bars);
    let names = ["A", "B", "C"];
    let target = |(at, query): (usize, &Query)| {
        json!({
            "refId": names[at], "datasource": source(), "expr": expression(query), "legendFormat": query.legend,
            "instant": at_once, "range": !at_once,
            "format": if panel.shape == Shape::Table { "table" } else { "time_series" },
        })
    };
    let stacking = if panel.shape == Shape::Areas { "normal" } else { "none" };
    let custom = match panel.shape {
        Shape::Lines | Shape::Areas => json!({
            "drawStyle": "line", "lineWidth": 2, "fillOpacity": if panel.shape == Shape::Areas { 30 } else { 0 },
            "stacking": { "mode": stacking, "group": "A" }, "showPoints": "never",
        }),
        _ => json!({}),
    };
    let kind = match panel.shape {
        Shape::Lines | Shape::Areas => "timeseries",
        Shape::Number => "stat",
        Shape::Table => "table",
        Shape::Bars => "bargauge",
    };
    json!({
        "id": id, "type": kind, "title": panel.title, "description": panel.description, "gridPos": place,
        "datasource": source(),
        "targets": panel.queries.iter().enumerate().map(target).collect::<Vec<_>>(),
        "fieldConfig": {
            "defaults": { "unit": panel.unit, "custom": custom, "color": { "mode": "palette-classic-by-name" } },
            "overrides": [],
        },
        "options": options(panel.shape),
    })
}

fn options(shape: Shape) -> Value {
    let reduce = json!({ "calcs": ["lastNotNull"], "fields": "", "values": false });
    match shape {
        Shape::Lines | Shape::Areas => json!({
            "legend": {
                "displayMode": "table", "placement": "right", "showLegend": true, "calcs": ["lastNotNull", "max"],
            },
            "tooltip": { "mode": "multi", "sort": "desc" },
        }),
        Shape::Number => {
            json!({ "reduceOptions": reduce, "colorMode": "none", "graphMode": "none", "textMode": "auto" })
        }
        Shape::Bars => json!({ "reduceOptions": reduce, "displayMode": "basic", "orientation": "horizontal" }),
        Shape::Table => json!({ "showHeader": true }),
    }
}
