//! What the noise of this machine lets one see: the base against itself.

use std::process::ExitCode;

use super::command::Failure;
use super::{Request, Runner, machine};
use crate::compare::verdict::Rules;
use crate::stats::sequence::TestResult;
use crate::{emit, print};

/// What should be visible with the pairs that a gate runs at most.
const WANTED: f64 = 0.05;

pub(super) fn run(request: &Request) -> Result<ExitCode, Failure> {
    let base = request.base.as_deref().unwrap_or_default();
    let mut runner = Runner::new(request, base, base)?;
    runner.pair(0)?;
    runner.forget();
    for _ in 0..request.pairs.1 {
        runner.pair(request.pairs.1)?;
    }
    let mut found = runner.compare(request);
    let facts = machine::facts();
    let rules = &request.options.rules;
    let mut out = format!("{base}\n{} pairs of the same program on {}\n\n", request.pairs.1, machine::class(&facts));
    out.push_str(&format!("{:<24}{:>10}{:>16}{:>16}\n", "time", "noise", "20 pairs see", "40 pairs see"));
    for (metric, t) in found.metrics.iter().filter_map(|m| m.tested.map(|t| (m, t))) {
        let [few, many] = [20, 40].map(|pairs| 100.0 * t.visible(pairs, rules.min_effect).exp_m1());
        let star = if metric.primary { " *" } else { "" };
        let name = format!("{}{star}", metric.name);
        out.push_str(&format!("{name:<24}{:>8.1} %{few:>14.1} %{many:>14.1} %\n", 100.0 * t.noise.exp_m1()));
    }
    out.push_str("* decides. An effect of that size is found in 95 of 100 gates.\n");
    for (metric, t) in found.metrics.iter().filter(|m| m.primary).filter_map(|m| m.tested.map(|t| (m, t))) {
        let visible = t.visible(40, rules.min_effect).exp_m1();
        if visible > WANTED {
            let text = format!(
                "warning: {} is too loud for 5 %: below {:.1} % 40 pairs see nothing",
                metric.name,
                100.0 * visible
            );
            out.push_str(&format!("{text}\n"));
        }
        if matches!(t.finding, TestResult::Slower | TestResult::Faster) {
            out.push_str(&format!(
                "warning: {} differs between equal programs: something drifts with the order\n",
                metric.name
            ));
        }
    }
    for doubt in machine::doubts(&facts, found.sides[0].shape.npes) {
        out.push_str(&format!("note: {doubt}\n"));
    }
    // For programs and pages: as a comparison that never fails.
    found.decide(&Rules { strict: false, ..rules.clone() }, true);
    found.exit = 0;
    found.sides.iter_mut().for_each(|side| (side.name, side.facts) = (base.to_owned(), facts.clone()));
    let output = &request.options.output;
    Ok(match output.on_standard_output() {
        Ok(Some(emit::OutputForm::Text)) => emit::beside(print(&out), &found, &[], &[], output),
        _ => emit::all(&found, &[], &[], output),
    })
}
