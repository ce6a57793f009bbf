//! `oshprof advise`: what slows a program down, with the evidence, and what to try.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pellucid_profile::advice::{Finding, findings};
use pellucid_profile::merge::Merged;
use pellucid_profile::report::stored::Lines;
use pellucid_profile::report::{Symbols, broke_off, ends, shown_below, shown_filled, unrecorded, unrecorded_share};
use pellucid_profile::text::visible;
use serde_json::json;

use crate::report::{complain, load, set_width};
use crate::resolve::Resolver;
use crate::{FAILED, print};

/// say what slows a program down
///
/// Says what slows the program down whose profile is in DIR (default: the newest one here), what that costs at most,
/// where, and what to try. Most costly first.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 all was read, 1 something could not be read, 2 wrong usage.")]
pub struct Request {
    /// directory of the profile
    dir: Option<PathBuf>,
    /// one JSON object (docs/profile-json.md)
    #[arg(long)]
    json: bool,
}

/// Prints the findings on a profile.
pub fn run(request: &Request) -> ExitCode {
    let Some((profile, directory)) = load(request.dir.as_deref()) else { return ExitCode::from(FAILED) };
    let problems = directory.problems();
    let debug = Resolver::default();
    let symbols = Lines::open(&debug, &profile, directory.path());
    let found = findings(&profile, &symbols);
    let printed = print(&if request.json {
        json_text(&profile, &found, &problems)
    } else {
        set_width(false);
        before(&profile) + &text(&profile, &found)
    });
    symbols.keep_first(&profile);
    symbols.notes().iter().for_each(|note| pellucid_profile::say!("oshprof: {note}"));
    complain(&problems);
    if problems.is_empty() { printed } else { ExitCode::from(FAILED) }
}

/// What to know before the findings: on a job that did not come to its end, and on one of which a part is not known.
fn before(profile: &Merged) -> String {
    let lines = broke_off(profile).map(str::to_owned).into_iter().chain(ends(profile));
    let lines = lines.filter(|_| profile.broke_off());
    let part = unrecorded(profile).map(|share| format!("{share}: what is said here is of the rest"));
    lines.chain(part).map(|line| shown_filled(&line)).collect()
}

fn text(profile: &Merged, found: &[(&'static str, Finding)]) -> String {
    if profile.pes.is_empty() {
        return shown_filled("the numbers of no PE could be read: nothing is known of what slows the program down");
    }
    if found.is_empty() {
        return shown_filled(
            "nothing found: less than a fifth of the time is lost in the library, and no rule sees a reason for it to \
             be slow",
        );
    }
    let mut out = String::new();
    for (at, (name, f)) in found.iter().enumerate() {
        let share = 100.0 * f.share;
        let number = format!("{}. ", at + 1);
        out.push_str(&shown_below(&number, &format!("{} [{name}, up to {share:.0} % of the run]", visible(&f.what))));
        out.push_str(&shown_below("   seen: ", &f.evidence));
        out.push_str(&shown_below("   try:  ", f.try_this));
    }
    if found.len() > 1 {
        out.push_str(&shown_filled("What findings could save may be the same time: it does not add up."));
    }
    out
}

fn json_text(profile: &Merged, found: &[(&'static str, Finding)], problems: &[String]) -> String {
    let list: Vec<_> = found
        .iter()
        .map(|(name, f)| {
            json!({ "rule": name, "what": f.what, "evidence": f.evidence, "try": f.try_this, "share": f.share })
        })
        .collect();
    let unrecorded = unrecorded_share(profile);
    format!(
        "{:#}\n",
        json!({ "schema_version": 1, "findings": list, "unrecorded_share": unrecorded, "problems": problems })
    )
}
