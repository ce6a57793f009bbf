//! How to read each view, in a sentence or two.

use pellucid_profile::report::View;

/// What stands below the title of a view.
pub fn of(view: View) -> &'static str {
    match view {
        View::Routine => {
            "Where time in the library goes, summed over PEs. p99 far above p50: some calls wait. One PE with most of \
             the time of a routine: look at that PE, or at what it waits for."
        }
        View::Efficiency => {
            "How much of the PEs' time is the program's own, and what the rest is lost to: uneven work, moving data, \
             waiting for others. The factors multiply up."
        }
        View::Phases => {
            "Where time goes that no routine shows: the program itself, from one barrier or collective to the next. \
             One PE with far more work than the mean: the others wait for it at the end of the phase."
        }
        View::Causes => {
            "For each place that waits for a flag, signal or lock: which PE ended the wait, by which call, and what \
             that PE did while it was waited for."
        }
        View::Locks => {
            "Each distributed lock: how often it was taken, how long PEs stood in line for it, how long it was held. \
             Busy near 100 %: the program is as fast as what is done under it."
        }
        View::Addresses => {
            "Words that short calls go to again and again, of which PE, by how many PEs: a counter that all add to, a \
             flag that many poll."
        }
        View::Rates => {
            "How fast puts, gets and atomics were, beside the best that oshrun --calibrate has measured here, and \
             what held them up: memory that is touched for the first time, others on the same link, strides."
        }
        View::Timeline => {
            "What each PE did from its begin to its end, in 64 columns: phases of the program, and who waits while \
             others work."
        }
        View::Handles => {
            "Operations with request handles, by routine: how long they were open, and which part of that the program \
             spent waiting for them. Low overlap: the wait comes too soon, or nothing drives the operation meanwhile."
        }
        View::Size => {
            "How large the messages are. Bytes in large messages are moved at the speed of memory or network; calls in \
             small ones cost latency each."
        }
        View::Matrix => {
            "Puts, gets, atomics and signals from each PE to each. A column that stands out: many write to or read \
             from one PE. Shades are by the logarithm."
        }
        View::Callsites => {
            "The lines of the program that call the library, by routine and region: where to begin to change it."
        }
        View::Imbalance => {
            "For each barrier and collective: how long the others waited for the one that came last. A PE that is last \
             each time has more work; one that changes is noise or a pattern."
        }
        View::Nbi => {
            "What nonblocking operations leave to the program. An overlap near 100 %: it works while data moves; near \
             0: it waits for them at once."
        }
        View::Regions => {
            "Parts of the program that it named (shmem_pcontrol). Waiting is the part of library time that other PEs \
             cause."
        }
        View::Contexts => "Traffic by context, collectives by team: who uses which; which algorithms collectives took.",
        View::Counters => {
            "What processor and kernel counted, as a whole and in timed calls. Around a routine that waits, \
             instructions are those of waiting."
        }
        View::Network => "How much stays on the host and how much leaves it; then what the network counts itself.",
        View::Pe => "A row a PE. The one that waits least is the one that the others wait for.",
        View::Peer => "Calls and bytes to the PE itself, to its host, to other hosts.",
        View::Waits => "Waits and locks: where, and for how long.",
        View::Markers | View::MarkerSums => "What the program has marked.",
        View::Teams => "Collectives by team.",
        View::Algorithms => "Which algorithms collectives took.",
        View::Unavailable => "Counters that the system does not have.",
        View::Distances => "How much stays on the host and how much leaves it.",
        View::All => "Everything.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_profile::report::VIEWS;

    #[test]
    fn each_view_has_its_own() {
        let mut hints: Vec<&str> = VIEWS.iter().map(|row| of(row.view)).collect();
        hints.sort_unstable();
        hints.dedup();
        assert_eq!(hints.len(), VIEWS.len());
    }
}
