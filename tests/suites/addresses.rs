//! Words that short calls go to most: what the view says of a program where that is known.

use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

const CALLS: f64 = 200_000.0;

#[test]
fn words_that_calls_go_to_are_named_and_others_are_not() {
    let binary = Build::program("profile/words.c").options(["-O1"]).build();
    for pes in [1_u32, 2, 4] {
        let directory = tree::fresh(&format!("addresses/{pes}")).join("profile");
        let job = Job::oshrun(pes as usize).arg("--profile-dir").arg(&directory).arg(&binary);
        job.arg(format!("{CALLS}")).run().expect_code(0);
        let report = |options: &[&str]| {
            let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "addresses"]);
            job.args(options).run().expect_code(0).stdout
        };
        let json: Value = serde_json::from_str(&report(&["--json"])).expect("JSON");
        let rows = json["addresses"].as_array().cloned().unwrap_or_default();
        let find = |routine: &str| {
            let all: Vec<&Value> = rows.iter().filter(|row| row["routine"] == routine).collect();
            assert_eq!(all.len(), 1, "{routine}: {json}");
            all[0]
        };
        for (routine, object, peer) in [("shmem_long_atomic_add", "counters+0x8", 0), ("shmem_long_g", "flag", pes - 1)]
        {
            let row = find(routine);
            assert_eq!((&row["address"], &row["peer"]), (&object.into(), &peer.into()), "{row}");
            assert_eq!(row["pes"], pes, "{row}");
            // Samples stand for all calls of the routine: each goes there.
            let calls = row["calls"].as_f64().unwrap_or_default();
            let all = CALLS * f64::from(pes);
            assert!(calls <= all && calls > 0.95 * all, "{calls} of {all}: {row}");
            let share = row["share"].as_f64().unwrap_or_default();
            assert!(share > 0.0 && share <= 1.0, "{row}");
            // As much time as the routine table has for it.
            let routines = json["routines"].as_array().into_iter().flatten();
            let total =
                routines.filter(|row| row["name"] == routine).filter_map(|row| row.pointer("/time_ns/total")?.as_f64());
            let (total, ns) = (total.sum::<f64>(), row["ns"].as_f64().unwrap_or_default());
            assert!(ns > 0.5 * total && ns < 1.5 * total, "{ns} of {total} ns: {row}");
        }
        // Random words are none that calls go to again and again.
        assert!(rows.iter().all(|row| row["routine"] != "shmem_long_p"), "{json}");
        let text = report(&[]);
        assert!(text.contains("counters+0x8") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let csv = report(&["--csv"]);
        assert!(csv.starts_with("address,peer,routine,calls,ns,share,pes\r\n"), "{csv}");
    }
}
