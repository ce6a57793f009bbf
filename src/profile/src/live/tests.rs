use super::*;
use crate::segment::Phase;

fn pe(number: u32, routine: Option<&str>, addr: u64) -> PeNow {
    let threads = routine.map(|name| {
        let op = op::find(name).unwrap_or_else(|| panic!("{name}"));
        CurrentOp {
            thread: 100 + number,
            routine: op::get(op).unwrap().name(),
            op,
            phase: Phase::Inside,
            peer: None,
            addr: Some(addr),
            bytes: Some(0),
            start_ns: Some(0),
            elapsed_ns: Some(3_200_000_000),
            site: None,
            team: None,
            condition: None,
        }
    });
    PeNow {
        pe: number,
        pid: 70 + number,
        state: State::Running,
        recorded: true,
        threads: threads.into_iter().collect(),
        locks: Vec::new(),
        // Static objects are elsewhere in each process.
        memory: [0x1000, 0x1000, 0x10_0000 * u64::from(number + 1), 0x1000],
        ..PeNow::default()
    }
}

#[test]
fn a_collective_waits_for_those_outside() {
    let pes = [
        pe(0, Some("shmem_barrier_all"), 0),
        pe(1, None, 0),
        pe(2, Some("shmem_barrier_all"), 0),
        pe(3, Some("shmem_signal_wait_until"), 0x1040),
    ];
    let waits = Waits::find(&pes);
    assert_eq!(
        waits.text(),
        "PEs 0, 2 wait in shmem_barrier_all for PEs 1, 3\n\
         PE 3 waits in shmem_signal_wait_until (heap+0x40) for a store by any PE\n"
    );
    assert!(waits.cycles.is_empty());
    assert_eq!(activity(&pes[3]), "in shmem_signal_wait_until (heap+0x40) for 3.2 s");
}

#[test]
fn a_ring_is_named() {
    // PE 0 holds the lock (a static object) that PE 1 wants, and waits for PE 1 in a barrier.
    let mut first = pe(0, Some("shmem_barrier_all"), 0);
    first.locks.push(0x10_0020);
    let waits = Waits::find(&[first, pe(1, Some("shmem_set_lock"), 0x20_0020), pe(2, Some("shmem_barrier_all"), 0)]);
    assert_eq!(waits.cycles, [vec![0, 1]]);
    let text = waits.text();
    assert!(text.contains("PE 1 waits in shmem_set_lock (static+0x20) for PE 0, which holds the lock"), "{text}");
    assert!(text.contains("cycle: PE 0 -> PE 1 -> PE 0: none of them can go on"), "{text}");
}

/// A thread that is outside of the library may come to do what the others wait for, and is told.
#[test]
fn a_ring_is_none_while_a_thread_is_outside() {
    let mut first = pe(0, Some("shmem_set_lock"), 0x10_0020);
    let mut main = first.threads[0].clone();
    (main.thread, main.phase, main.routine) = (77, Phase::Returned, "shmem_team_sync");
    first.threads.push(main);
    first.locks.push(0x10_0040);
    let mut second = pe(1, Some("shmem_set_lock"), 0x20_0040);
    second.locks.push(0x20_0020);
    let waits = Waits::find(&[first.clone(), second.clone()]);
    assert!(waits.cycles.is_empty(), "{:?}", waits.cycles);
    assert!(activity(&first).ends_with("; thread 77 outside of the library since shmem_team_sync"));
    first.threads.pop();
    assert_eq!(Waits::find(&[first, second]).cycles, [vec![0, 1]]);
}

#[test]
fn three_locks_in_a_ring() {
    let mut pes: Vec<PeNow> =
        (0..3).map(|i| pe(i, Some("shmem_set_lock"), 0x1000 + 8 * u64::from((i + 1) % 3))).collect();
    for (lock, pe) in (0_u64..).zip(&mut pes) {
        pe.locks.push(0x1000 + 8 * lock);
    }
    assert_eq!(Waits::find(&pes).cycles, [vec![0, 1, 2]]);
}

#[test]
fn different_collectives_are_named() {
    let waits = Waits::find(&[pe(0, Some("shmem_barrier_all"), 0), pe(1, Some("shmem_malloc"), 0)]);
    let text = waits.text();
    assert!(
        text.contains("different collectives at the same time: PE 0 in shmem_barrier_all, PE 1 in shmem_malloc"),
        "{text}"
    );
    assert_eq!(waits.cycles, [vec![0, 1]]);
}

#[test]
fn one_call_on_different_teams_is_two() {
    let on = |number, team| {
        let mut pe = pe(number, Some("shmem_team_sync"), 0);
        pe.threads[0].team = Some((team, 0, 1, 2));
        pe
    };
    let text = Waits::find(&[on(0, 2), on(1, 3)]).text();
    assert!(
        text.contains("different collectives at the same time: PE 0 in shmem_team_sync of team 2, PE 1 in shmem_team"),
        "{text}"
    );
    // Threads of the PEs may be in both.
    let mut both = [on(0, 2), on(1, 2)];
    for pe in &mut both {
        let mut other = pe.threads[0].clone();
        other.team = Some((3, 0, 1, 2));
        pe.threads.push(other);
    }
    assert!(!Waits::find(&both).text().contains("different"), "{}", Waits::find(&both).text());
}

#[test]
fn a_team_is_no_proof() {
    let waits =
        Waits::find(&[pe(0, Some("shmem_team_sync"), 0), pe(1, Some("shmem_set_lock"), 0x1000), pe(2, None, 0)]);
    assert!(waits.cycles.is_empty());
    assert!(waits.text().contains("for PEs 1, 2, as far as they are members"), "{}", waits.text());
    assert!(waits.text().contains("for a lock that no PE is seen to hold"), "{}", waits.text());
}

#[test]
fn who_takes_part_is_said_by_the_traits_of_a_routine() {
    let said = |name| Waits::find(&[pe(0, Some(name), 0), pe(1, None, 0)]).text();
    for of_all in ["shmem_malloc", "shmem_init_thread", "start_pes", "shmem_finalize"] {
        assert_eq!(said(of_all), format!("PE 0 waits in {of_all} for PE 1\n"));
    }
    // Of a space, which may be of some PEs only.
    for of_some in ["shmemx_space_create", "shmemx_space_malloc", "shmemx_space_destroy"] {
        assert!(said(of_some).starts_with(&format!("PE 0 waits in {of_some} ")), "{}", said(of_some));
        assert_ne!(said(of_some), format!("PE 0 waits in {of_some} for PE 1\n"));
    }
}

#[test]
fn members_of_a_team_wait_for_members_only() {
    // Team 5 is PEs 0, 2 and 4; team 6 PEs 1 and 3. PE 2 holds the lock that PE 1 wants.
    let on = |number, routine, team| {
        let mut pe = pe(number, Some(routine), 0);
        pe.threads[0].team = Some(team);
        pe
    };
    let (even, odd) = ((5, 0, 2, 3), (6, 1, 2, 2));
    let mut fourth = pe(4, Some("shmem_set_lock"), 0x1040);
    fourth.locks.push(0x1080);
    let mut pes = vec![
        on(0, "shmem_team_sync", even),
        on(1, "shmem_long_sum_reduce", odd),
        on(2, "shmem_team_sync", even),
        pe(3, None, 0),
        fourth,
    ];
    let text = Waits::find(&pes).text();
    assert!(text.contains("PEs 0, 2 wait in shmem_team_sync for PE 4\n"), "{text}");
    assert!(text.contains("PE 1 waits in shmem_long_sum_reduce for PE 3\n"), "{text}");
    assert!(!text.contains("different") && !text.contains("cycle"), "{text}");
    pes[2].locks.push(0x1040);
    assert_eq!(Waits::find(&pes).cycles, [vec![2, 4]], "a ring through a team and a lock");
    pes[1] = on(1, "shmem_long_sum_reduce", (7, 0, 1, 2));
    assert!(Waits::find(&pes).text().contains("different collectives at the same time: "));
}

#[test]
fn where_it_was_called_from_is_said() {
    let mut pe = pe(0, Some("shmem_barrier_all"), 0);
    pe.threads[0].site = Some(("/home/me/solve".into(), 0x1234));
    assert_eq!(activity(&pe), "in shmem_barrier_all for 3.2 s, called from solve+0x1234");
}

#[test]
fn a_pe_that_ended_is_waited_for() {
    let mut gone = pe(1, Some("shmem_barrier_all"), 0);
    gone.state = State::Ended;
    let waits = Waits::find(&[pe(0, Some("shmem_barrier_all"), 0), gone.clone()]);
    assert_eq!(waits.text(), "PE 0 waits in shmem_barrier_all for PE 1\n");
    assert_eq!(activity(&gone), "has ended; it was in shmem_barrier_all for 3.2 s");
}

/// PEs are looked at one after the other.
#[test]
fn who_has_only_just_come_is_in_no_ring() {
    let mut pes = [pe(0, Some("shmem_barrier_all"), 0), pe(1, Some("shmem_malloc"), 0)];
    assert_eq!((Waits::find(&pes).cycles.len(), Waits::find(&pes).different.len()), (1, 2));
    pes[1].threads[0].elapsed_ns = Some(1_000_000);
    let waits = Waits::find(&pes);
    assert_eq!((waits.cycles.len(), waits.different.len()), (0, 0), "{}", waits.text());
    assert_eq!(waits.waits.len(), 2);
}

#[test]
fn a_quiet_waits_for_what_is_under_way() {
    let mut waits = pe(0, Some("shmem_quiet"), 0);
    waits.threads[0].peer = Some(1);
    let mut short = waits.clone();
    short.threads[0].elapsed_ns = Some(1000);
    assert_eq!(Waits::find(&[short, pe(1, None, 0)]).text(), "");
    assert_eq!(
        Waits::find(&[waits, pe(1, None, 0)]).text(),
        "PE 0 waits in shmem_quiet for what is under way to PE 1\n"
    );
}

#[test]
fn what_is_awaited_of_messages_is_said_as_far_as_it_is_known() {
    use op::gasnet::Awaited;
    let waits = |number, routine, whom, awaited: Awaited| {
        let mut pe = pe(number, Some(routine), awaited.address() as u64);
        pe.threads[0].peer = Some(whom);
        pe
    };
    let request = |is_pending, replies| Awaited::Request { handler: 201, is_pending, replies };
    let pes = [
        waits(0, "gex_Event_Wait", 1, Awaited::Part),
        waits(1, "gex_Event_Wait", 0, request(true, true)),
        waits(2, "gasnet_AMPoll", 5, Awaited::Part),
        waits(3, "gex_NBI_Wait", 0, request(false, true)),
        waits(4, "GASNET_BLOCKUNTIL", 0, request(true, false)),
        waits(5, "GASNET_BLOCKUNTIL", 2, request(false, false)),
        waits(6, "gex_AM_Request_waits_for_room", 0, request(true, false)),
        pe(7, Some("gasnet_AMPoll"), 0),
    ];
    let waits = Waits::find(&pes);
    assert_eq!(
        waits.text(),
        "PE 0 waits in gex_Event_Wait for PE 1 in a collective\n\
         PE 1 waits in gex_Event_Wait for the reply of handler 201 of PE 0, which has not run it yet\n\
         PE 2 waits in gasnet_AMPoll, perhaps for PE 5 in a collective\n\
         PE 3 waits in gex_NBI_Wait for the reply of handler 201 of PE 0\n\
         PE 4 waits in GASNET_BLOCKUNTIL for an active message of any PE; PE 0 has not run handler 201 yet\n\
         PE 5 waits in GASNET_BLOCKUNTIL for an active message of any PE; PE 2 may not have run handler 201 yet\n\
         PE 6 waits in gex_AM_Request_waits_for_room for PE 0 to run handler 201\n\
         PE 7 waits in gasnet_AMPoll for an active message of any PE\n\
         cycle: PE 0 -> PE 1 -> PE 0: none of them can go on\n"
    );
    assert_eq!(activity(&pes[0]), "in gex_Event_Wait (a collective, PE 1) for 3.2 s");
    assert_eq!(activity(&pes[1]), "in gex_Event_Wait (reply of handler 201 of PE 0) for 3.2 s");
    assert_eq!(activity(&pes[4]), "in GASNET_BLOCKUNTIL (handler 201 of PE 0) for 3.2 s");
}

#[test]
fn a_pe_that_is_not_recorded_may_have_called_anything() {
    let mut pe = pe(0, None, 0);
    assert_eq!(activity(&pe), "has called nothing since shmem_init");
    pe.recorded = false;
    assert_eq!(activity(&pe), "does not wait; the profile is off, so that no more is known");
    // What it called last is what it called before that.
    let mut pe = self::pe(0, Some("shmem_barrier_all"), 0);
    pe.recorded = false;
    assert!(activity(&pe).starts_with("in shmem_barrier_all"), "{}", activity(&pe));
    for phase in [Phase::Returned, Phase::Entered] {
        pe.threads[0].phase = phase;
        assert_eq!(activity(&pe), "does not wait; the profile is off, so that no more is known");
    }
}

/// Knows the objects of any program.
struct Objects;

impl crate::report::Symbols for Objects {
    fn frames(&self, _: &str, _: u64) -> Vec<crate::report::Frame> {
        Vec::new()
    }

    fn object(&self, _: &str, address: u64) -> Option<(String, u64)> {
        address.checked_sub(0x4000).map(|within| ("sig".into(), within))
    }
}

#[test]
fn what_a_variable_is_waited_for_is_said_by_its_name() {
    let condition =
        crate::segment::Condition { addr: 0x10_0008, bytes: 4, signed: true, cmp: 0, wanted: 7, found: 0, set: None };
    let mut pes: Vec<PeNow> = (0..2).map(|pe_| pe(pe_, Some("shmem_int_wait_until"), 0)).collect();
    for one in &mut pes {
        // Each process has it elsewhere.
        let addr = one.memory[2] + 8;
        one.program = Some(("/a.out".into(), addr - 0x4000));
        one.threads[0].addr = Some(addr);
        one.threads[0].condition = Some(crate::segment::Condition { addr, ..condition.clone() });
    }
    let text = Waits::find_at(&pes, &Objects).text();
    assert_eq!(text, "PEs 0, 1 wait in shmem_int_wait_until for sig == 7, is 0: a store by any PE\n");
    assert_eq!(activity_at(&pes[1], &Objects), "in shmem_int_wait_until (sig) for 3.2 s");
    assert_eq!(activity(&pes[1]), "in shmem_int_wait_until (static+0x8) for 3.2 s");
}

#[test]
fn a_pe_without_calls_computes() {
    let mut one = pe(1, Some("shmem_n_pes"), 0);
    one.threads[0].phase = Phase::Entered;
    assert_eq!(activity(&one), "in or after shmem_n_pes");
    one.quiet_ns = Some(2_000_000_000);
    assert_eq!(activity(&one), "computing for 2.0 s, since shmem_n_pes");
    one.asleep = true;
    assert_eq!(activity(&one), "asleep outside the library for 2.0 s, since shmem_n_pes");
    one.threads[0].phase = Phase::Returned;
    assert_eq!(activity(&one), "asleep outside the library for 3.2 s, since shmem_n_pes");
}
