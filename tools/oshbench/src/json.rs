//! The results as JSON: an array with an object for each row.
//!
//! `{bench, memory, bytes, pes, ns, spread, peers: {oshmem: ns}, peer_spreads: {oshmem: ns}, limit: {name, ns},
//! instructions, target: {text, ns, met}}`. Times are nanoseconds of one operation, medians over the repetitions;
//! a spread is the distance between the quartiles. What was not measured is null. `memory` is null where no memory is
//! concerned. `instructions` is `{call, limit}` or null, counted in one call.

use serde_json::{Map, Value, json};

use crate::results::Row;
use crate::targets;

/// The whole file.
pub fn json(rows: &[Row]) -> String {
    let array: Vec<Value> = rows.iter().map(|row| object(row, rows)).collect();
    format!("{:#}\n", Value::Array(array))
}

fn object(row: &Row, rows: &[Row]) -> Value {
    let key = &row.key;
    let by_peer = |value: fn(&crate::stats::Summary) -> f64| {
        let pairs = row.peers.iter();
        Value::Object(pairs.map(|(name, s)| ((*name).to_owned(), json!(value(s)))).collect::<Map<String, Value>>())
    };
    json!({
        "bench": key.bench,
        "memory": (key.memory != "none").then_some(&key.memory),
        "bytes": key.bytes,
        "pes": key.pes,
        "ns": row.ours.map(|s| s.median),
        "spread": row.ours.map(|s| s.spread),
        "peers": by_peer(|s| s.median),
        "peer_spreads": by_peer(|s| s.spread),
        "limit": row.limit.as_ref().map(|(name, ns)| json!({"name": name, "ns": ns})),
        "instructions": row.instructions.map(|(call, limit)| json!({"call": call, "limit": limit})),
        "target": targets::target(row, rows)
            .map(|t| json!({"text": t.text, "ns": t.ns, "met": t.met})),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::OURS;
    use crate::results::Results;
    use crate::results::tests::measured;

    #[test]
    fn every_row_is_an_object_with_all_fields() {
        let mut results = Results::default();
        results.add("rma", OURS, measured("p", "heap", 8, 2, 4.0));
        results.add("rma", "oshmem", measured("p", "heap", 8, 2, 16.0));
        results.add("collectives", "oshmem", measured("barrier", "none", 0, 8, 9e3));
        let parsed: Value = serde_json::from_str(&json(&results.rows())).unwrap();
        assert_eq!(parsed[0]["bench"], "p");
        assert_eq!(parsed[0]["ns"], 4.0);
        assert_eq!(parsed[0]["spread"], 0.0);
        assert_eq!(parsed[0]["peers"]["oshmem"], 16.0);
        assert_eq!(parsed[0]["limit"]["name"], "memcpy");
        assert_eq!(parsed[0]["target"]["met"], true);
        assert_eq!(parsed[1]["ns"], Value::Null);
        assert_eq!(parsed[1]["memory"], Value::Null);
        assert_eq!(parsed[1]["pes"], 8);
    }
}
