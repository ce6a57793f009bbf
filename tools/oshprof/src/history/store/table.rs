//! The exact counts of a run as a file has them, and their hashes by group.

use std::collections::BTreeMap;

use pellucid_profile::op::class_of;
use serde_json::{Value, json};

use super::{VERSION, hash};
use crate::compare::place::Place;
use crate::compare::run::SiteKey;
use crate::compare::side::{Side, Site, stable_totals};
use crate::compare::{Amount, Range};

/// Pairs of PEs that are kept; beyond, none are.
const MOST_PAIRS: usize = 4096;

/// Counts as a file has them: without lines, which change more often than they do.
pub fn counts(side: &Side) -> Value {
    let range = |r: &Range| json!([r.min.calls, r.max.calls, r.min.bytes, r.max.bytes]);
    let sites: Vec<Value> = side
        .sites
        .iter()
        .map(|site| {
            let key = &site.key;
            let row = json!([key.op, key.place.function, site.ordinal, key.region, range(&site.range)]);
            // As earlier versions have it, where there is nothing more to say.
            if site.is_dealt { with(row, Value::Bool(true)) } else { row }
        })
        .collect();
    let sizes: Vec<Value> =
        side.sizes.iter().map(|((op, distance, class), r)| json!([op, distance, class, range(r)])).collect();
    let errors: Vec<Value> = side.errors.iter().map(|(op, r)| json!([op, range(r)])).collect();
    let pairs: Vec<Value> = side
        .pairs
        .iter()
        .filter(|_| side.pairs.len() <= MOST_PAIRS)
        .map(|((kind, from, to), r)| json!([kind, from, to, range(r)]))
        .collect();
    let mut all = json!({ "v": VERSION, "sites": sites, "sizes": sizes, "errors": errors, "pairs": pairs });
    // Those of which the sites say nothing; where nothing varies, counts are as earlier versions have them.
    let known = stable_totals(&side.sites);
    let totals = side.totals.iter().filter(|(op, _)| !known.contains_key(*op));
    let totals: Vec<Value> = totals.map(|(op, r)| json!([op, range(r)])).collect();
    if !totals.is_empty() {
        all["totals"] = Value::Array(totals);
    }
    all
}

fn with(mut row: Value, last: Value) -> Value {
    row.as_array_mut().into_iter().for_each(|row| row.push(last.clone()));
    row
}

/// Counts from a file; `None` for what is none.
pub fn side(value: &Value) -> Option<Side> {
    if value["v"].as_u64()? != VERSION {
        return None;
    }
    let range = |value: &Value| -> Option<Range> {
        let n = |at: usize| value[at].as_u64();
        Some(Range { min: Amount { calls: n(0)?, bytes: n(2)? }, max: Amount { calls: n(1)?, bytes: n(3)? } })
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let rows = |name: &str| value[name].as_array().cloned();
    let small = |value: &Value| value.as_u64().and_then(|n| u8::try_from(n).ok());
    let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
    let site = |row: &Value| -> Option<Site> {
        let ordinal = number(&row[2])?;
        let place = Place { function: text(&row[1])?, address: ordinal.into(), ..Place::default() };
        let key = SiteKey { op: text(&row[0])?, place, region: text(&row[3])? };
        Some(Site { key, ordinal, range: range(&row[4])?, is_dealt: row[5].as_bool().unwrap_or(false) })
    };
    let sites: Vec<Site> = rows("sites")?.iter().map(site).collect::<Option<_>>()?;
    let mut totals = stable_totals(&sites);
    for row in rows("totals").unwrap_or_default() {
        totals.insert(text(&row[0])?, range(&row[1])?);
    }
    Some(Side {
        sites,
        totals,
        sizes: rows("sizes")?
            .iter()
            .map(|row| Some(((text(&row[0])?, small(&row[1])?, small(&row[2])?), range(&row[3])?)))
            .collect::<Option<_>>()?,
        errors: rows("errors")?.iter().map(|row| Some((text(&row[0])?, range(&row[1])?))).collect::<Option<_>>()?,
        pairs: rows("pairs")?
            .iter()
            .map(|row| {
                Some(((small(&row[0]).filter(|kind| *kind < 3)?, number(&row[1])?, number(&row[2])?), range(&row[3])?))
            })
            .collect::<Option<_>>()?,
        ..Side::default()
    })
}

/// A hash of each part of the counts: call sites by class of routine, sizes, pairs of PEs, calls that failed.
pub fn groups(side: &Side) -> BTreeMap<String, String> {
    let mut parts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let all = counts(side);
    let rows = |name: &str| all[name].as_array().cloned().unwrap_or_default();
    for mut row in rows("sites") {
        // Whether single PEs differ is no count.
        row.as_array_mut().into_iter().for_each(|row| row.truncate(5));
        let class = row[0].as_str().and_then(class_of).map_or("other", |class| class.name());
        parts.entry(class.to_owned()).or_default().push(row);
    }
    for name in ["sizes", "pairs", "errors"] {
        let rows = rows(name);
        if !rows.is_empty() {
            parts.insert(name.to_owned(), rows);
        }
    }
    parts.into_iter().map(|(name, rows)| (name, hash(Value::Array(rows).to_string().as_bytes()))).collect()
}
