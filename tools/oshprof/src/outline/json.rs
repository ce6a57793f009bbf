//! One JSON object: docs/regression.md describes it.

use serde_json::{Value, json};

use crate::compare::Range;
use crate::compare::cause::{Cause, What};
use crate::compare::counts::{Change, Moved};
use crate::compare::metric::Metric;
use crate::compare::remarks::Remark;
use crate::compare::verdict::{Comparison, SideSummary};

/// Version of the object.
pub const SCHEMA_VERSION: u64 = 1;

/// The object.
pub fn object(found: &Comparison) -> Value {
    let [base, new] = &found.sides;
    let counts = &found.counts;
    let rows = |list: &[Change], certain: bool| -> Vec<Value> { list.iter().map(|c| row(c, certain)).collect() };
    json!({
        "schema_version": SCHEMA_VERSION,
        "verdict": found.verdict.name(),
        "exit": found.exit,
        "headline": super::headline(found),
        "reasons": found.reasons,
        "environment": { "same": found.reasons.is_empty(), "base": about(base), "new": about(new) },
        "counts": {
            "compared": counts.compared,
            "changed": rows(&counts.changed, counts.certain),
            "varying": rows(&counts.varying, false),
            "moved": counts.moved.iter().map(moved).collect::<Vec<_>>(),
        },
        "metrics": found.metrics.iter().map(|m| metric(m, found.min_effect)).collect::<Vec<_>>(),
        "causes": found.causes.rows.iter().map(cause).collect::<Vec<_>>(),
        "causes_pairs": found.causes.pairs,
        "causes_others_ns": whole(found.causes.others_ns),
        "causes_delta_ns": whole(found.causes.delta_ns),
        "remarks": found.remarks.iter().map(remark).collect::<Vec<_>>(),
        "notes": found.notes,
    })
}

fn remark(remark: &Remark) -> Value {
    let Remark { kind, name, base, new } = remark;
    json!({ "what": kind.name(), "name": name, "base": base, "new": new, "text": remark.text() })
}

/// Whole nanoseconds; parts are rounded so that they still add up.
fn whole(ns: f64) -> i64 {
    ns.round() as i64
}

fn about(side: &SideSummary) -> Value {
    let facts: serde_json::Map<String, Value> =
        side.facts.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "name": side.name,
        "program": side.program,
        "arguments": side.shape.arguments,
        "pes": side.shape.npes,
        "pes_by_host": side.shape.hosts,
        "level": side.shape.level,
        "runs": side.runs,
        "machine": facts,
    })
}

fn amount(range: &Range) -> Value {
    if range.is_stable() {
        return json!({ "calls": range.min.calls, "bytes": range.min.bytes });
    }
    json!({ "calls": [range.min.calls, range.max.calls], "bytes": [range.min.bytes, range.max.bytes] })
}

fn row(change: &Change, certain: bool) -> Value {
    let size = match change.bytes_each() {
        (Some(old), Some(now)) if old != now => json!({ "base": old, "new": now }),
        (Some(each), _) | (None, Some(each)) => json!(each),
        (None, None) => Value::Null,
    };
    json!({
        "key": change.key(),
        "op": change.op,
        "site": change.site,
        "ordinal": change.ordinal,
        "shown": change.shown,
        "file": change.line.as_ref().map(|(file, _)| file),
        "line": change.line.as_ref().map(|(_, line)| line),
        "region": change.region,
        "distance": change.distance,
        "size": size,
        "detail": change.detail,
        "base": amount(&change.base),
        "new": amount(&change.new),
        "certain": certain && change.base.is_stable() && change.new.is_stable(),
        "effect": change.effect.name(),
        "accepted": change.accepted,
    })
}

fn moved(moved: &Moved) -> Value {
    json!({
        "op": moved.to.op,
        "from": { "site": moved.from.site, "shown": moved.from.shown, "region": moved.from.region },
        "to": { "site": moved.to.site, "shown": moved.to.shown, "region": moved.to.region },
        "calls": moved.calls,
        "bytes": moved.bytes,
    })
}

fn metric(metric: &Metric, min_effect: f64) -> Value {
    let [base_median, new_median] = metric.medians();
    let [base_values, new_values] =
        metric.sides.each_ref().map(|side| side.iter().map(|ns| whole(*ns)).collect::<Vec<_>>());
    let mut object = json!({
        "name": metric.name,
        "unit": "ns",
        "primary": metric.primary,
        "pairs": metric.pairs().len(),
        "base_median": base_median,
        "new_median": new_median,
        "base_values": base_values,
        "new_values": new_values,
        "values": metric.pairs().map(|(base, new)| [whole(base), whole(new)]).collect::<Vec<_>>(),
        "ratio_of": if metric.of_run { "run" } else { "itself" },
        "min_effect": min_effect,
        "verdict": metric.verdict(),
    });
    if let Some(t) = metric.tested {
        let ratio = |log: f64| log.exp();
        object["ratio"] = json!(ratio(t.effect));
        object["ci"] = json!([ratio(t.interval.0), ratio(t.interval.1)]);
        object["at_most"] = json!(ratio(t.most));
        object["confidence"] = json!(crate::stats::sequence::CONFIDENCE);
        object["p"] = json!(t.p);
        object["p_faster"] = json!(t.p_faster);
        object["alpha"] = json!(t.alpha);
        object["noise"] = json!(t.noise.exp_m1());
        object["visible_effect"] = json!(t.visible(t.pairs, min_effect).exp_m1());
    }
    object
}

fn cause(cause: &Cause) -> Value {
    let what = match cause.what {
        What::Call => "call",
        What::Own => "outside the library",
        What::Late => "late",
        What::Wait => "wait",
    };
    let (delta, count, cost) = (whole(cause.parts.sum()), whole(cause.parts.count), whole(cause.parts.cost));
    json!({
        "what": what,
        "op": cause.op,
        "site": cause.site,
        "shown": cause.shown,
        "region": cause.region,
        "late_pe": cause.late_pe,
        "delta_ns": delta,
        "count_ns": count,
        "cost_ns": cost,
        "mix_ns": delta - count - cost,
        "waited_ns": whole(cause.waited_ns),
        "waited_at": cause.waited_at.as_ref().map(|(op, place)| json!({ "op": op, "shown": place })),
        "agree": cause.agree,
        "text": super::sentence(cause),
    })
}
