//! What is said of PEs that others wait for: they compute, stand in line for a core, or are on none.

use super::*;

/// All PEs compute as long as they are outside of the library, but for one, which had a core and stood in line for one
/// so long, in milliseconds.
fn with_cores(mut profile: Profile, one: usize, on_core_ms: u64, queued_ms: u64) -> Profile {
    for (number, pe) in profile.pes.iter_mut().enumerate() {
        let (on_core, queued) = if number == one { (on_core_ms, queued_ms) } else { (1000, 0) };
        (pe.host, pe.tables.system.cores) = ("vm".into(), 8);
        (pe.tables.system.usage.user_ns, pe.tables.system.queued_ns) = (on_core * MS, Some(queued * MS));
    }
    profile
}

fn found(profile: &Profile, rule: &str) -> Finding {
    let all = findings(profile);
    let found = all.iter().find(|(name, _)| *name == rule).unwrap_or_else(|| panic!("no {rule}: {all:?}"));
    found.1.clone()
}

/// PE 2 is late by 60 ms, ten times.
#[test]
fn who_sleeps_before_a_barrier_has_not_too_much_work() {
    let late = |on_core_ms, queued_ms| {
        let all = with_cores(with_barriers(profile(&[], 0.25), Some(2)), 2, on_core_ms, queued_ms);
        found(&all, "barrier-late")
    };
    let works = late(1000, 0);
    assert!(works.try_this.starts_with("give that PE less work"), "{works:?}");
    assert!(!works.evidence.contains("on a core"), "{works:?}");
    let sleeps = late(400, 0);
    assert!(sleeps.try_this.starts_with("it is on no core there: what it reads or waits for"), "{sleeps:?}");
    let said = "; PE 2 is outside of the library for 1.00 s, on a core for 400 ms in all";
    assert!(sleeps.evidence.contains(said), "{sleeps:?}");
    let in_line = late(400, 600);
    assert!(in_line.try_this.starts_with("it stands in line for a core there"), "{in_line:?}");
    assert!(in_line.evidence.contains("on a core for 400 ms in all and in line for one for 600 ms"), "{in_line:?}");
    // As all the others do: then it is late by something else.
    let mut all = with_cores(with_barriers(profile(&[], 0.25), Some(2)), 2, 400, 0);
    all.pes.iter_mut().for_each(|pe| pe.tables.system.usage.user_ns = 400 * MS);
    assert!(found(&all, "barrier-late").try_this.starts_with("give that PE less work"));
}

/// PE 0 sets flags late.
#[test]
fn who_sleeps_before_it_sets_a_flag_did_not_work() {
    let late = |on_core_ms, queued_ms| found(&with_cores(late_flags(), 0, on_core_ms, queued_ms), "waits-for");
    let works = late(1000, 0);
    assert!(works.evidence.contains("PE 0 worked for 298 ms"), "{works:?}");
    assert!(works.try_this.starts_with("send what others wait for"), "{works:?}");
    let sleeps = late(200, 0);
    let said = "PE 0 was outside of the library for 298 ms, on no core for most of its time there";
    assert!(sleeps.evidence.contains(said), "{sleeps:?}");
    assert!(sleeps.try_this.starts_with("it is on no core there"), "{sleeps:?}");
    let both = late(600, 0);
    assert!(both.evidence.contains("PE 0 was outside of the library for 298 ms, 7.47 ms a time"), "{both:?}");
    assert!(both.try_this.starts_with("send what others wait for"), "{both:?}");
}

/// A thread that never calls the library computes for the one that does, or stands in line for a core: which of both is
/// not known.
#[test]
fn who_waits_for_a_thread_of_its_own_is_not_said_to_read() {
    let mut helped = with_cores(uneven(900 * MS, 100 * MS), 0, 300, 0);
    let system = |all: &mut Profile, helpers_ms| all.pes[0].tables.system.helpers_ns = helpers_ms * MS;
    assert!(found(&helped, "serial-pe").try_this.starts_with("it is on no core there"));
    system(&mut helped, 290);
    let serial = found(&helped, "serial-pe");
    assert!(serial.what.starts_with("PE 0 is outside of the library alone for 800 ms"), "{serial:?}");
    assert!(serial.evidence.contains("on a core for 300 ms in all, with threads that never call"), "{serial:?}");
    assert!(serial.try_this.contains("as for a thread of the PE that computes or stands in line"), "{serial:?}");
    // One that had a core all the time works.
    helped.pes[0].tables.system.usage.user_ns = 900 * MS;
    system(&mut helped, 890);
    assert!(found(&helped, "serial-pe").what.starts_with("PE 0 works alone for 800 ms"));
}

/// Where cores are taken, whoever has more to do stands in line for longer, too: that is its work.
#[test]
fn who_computes_more_in_a_crowd_has_too_much_work() {
    let late = |on_core_ms, queued_ms| {
        let mut all = with_cores(with_barriers(profile(&[], 0.25), Some(2)), 2, on_core_ms, queued_ms);
        for pe in all.pes.iter_mut().filter(|pe| pe.pe != 2) {
            (pe.tables.system.usage.user_ns, pe.tables.system.queued_ns) = (100 * MS, Some(150 * MS));
        }
        found(&all, "barrier-late")
    };
    let works = late(400, 590);
    assert!(works.try_this.starts_with("give that PE less work"), "{works:?}");
    assert!(works.try_this.contains("as many PEs as there are cores"), "{works:?}");
    let said =
        "on a core for 400 ms in all and in line for one for 590 ms, the others for 100 ms and 150 ms in the mean";
    assert!(works.evidence.contains(said), "{works:?}");
    let in_line = late(110, 880);
    assert!(in_line.try_this.starts_with("it stands in line for a core there"), "{in_line:?}");
}
