//! Reads `oshprof report DIR --json`.

use std::path::Path;

use serde_json::Value;

use crate::run::Job;
use crate::tree;

/// A profile as `oshprof report --json` gives it.
#[derive(Debug)]
pub struct Report {
    json: Value,
}

impl Report {
    /// Reads the profile directory `path`; `by_pe` asks for the numbers of each PE too.
    ///
    /// # Panics
    /// Panics where `oshprof` fails or prints no JSON object.
    pub fn read(path: &Path, by_pe: bool) -> Report {
        let mut job = Job::new(tree::tool("oshprof")).arg("report").arg(path).arg("--json");
        if by_pe {
            job = job.args(["--by", "pe"]);
        }
        let outcome = job.run().expect_code(0);
        let json: Value = serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("no JSON: {error}\n{}", outcome.describe()));
        assert!(json.is_object(), "no JSON object\n{}", outcome.describe());
        Report { json }
    }

    /// The whole object.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Calls and bytes of a routine summed over the PEs; zero where it is not listed.
    pub fn routine(&self, name: &str) -> (u64, u64) {
        totals(&self.json, name)
    }

    /// Calls and bytes of a routine on one PE.
    ///
    /// # Panics
    /// Panics where the report has no such PE.
    pub fn routine_of(&self, pe: usize, name: &str) -> (u64, u64) {
        let list = self.json["per_pe"].as_array().expect("per_pe is an array");
        let entry = list.iter().find(|entry| entry["pe"].as_u64() == Some(pe as u64));
        totals(entry.unwrap_or_else(|| panic!("per_pe has no PE {pe}: {}", self.json["per_pe"])), name)
    }

    /// Field of a routine summed over the PEs.
    pub fn field(&self, name: &str, field: &str) -> Option<&Value> {
        find(&self.json, name).map(|routine| &routine[field])
    }

    /// Names of the routines listed.
    pub fn names(&self) -> Vec<&str> {
        let list = self.json["routines"].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|routine| routine["name"].as_str()).collect()
    }
}

fn find<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object["routines"].as_array()?.iter().find(|routine| routine["name"] == name)
}

fn totals(object: &Value, name: &str) -> (u64, u64) {
    let number = |field: &str| find(object, name).and_then(|routine| routine[field].as_u64()).unwrap_or(0);
    (number("calls"), number("bytes"))
}
