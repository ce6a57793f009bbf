//! The sections of synchronisations: teams, one by one, who called them, and from how long on all of them are kept.

use super::sections::{Section, list, number};
use crate::op;
use crate::tables::{Sync, Team};

/// Teams.
pub(super) const TEAMS: Section = Section {
    tag: 10,
    is_there: |_| true,
    encode: |out, d| {
        out.list(&d.teams, |out, t| {
            [t.start as u32, t.stride as u32, t.size as u32, t.id].into_iter().for_each(|n| out.u32(n));
            [t.calls, t.ns, t.bytes].into_iter().for_each(|n| out.u64(n));
        });
    },
    decode: |c, d| {
        d.teams = list(c, |c| {
            let mut next = || c.u32("a team");
            let (start, stride, size, id) = (next()? as i32, next()? as i32, next()? as i32, next()?);
            let mut next = || c.u64("a team");
            Ok(Team { start, stride, size, id, calls: next()?, ns: next()?, bytes: next()? })
        })?;
        Ok(())
    },
};

/// Synchronisations one by one: how many each of those that are kept stands for, then a list.
pub(super) const SYNCS: Section = Section {
    tag: 11,
    is_there: |_| true,
    encode: |out, d| {
        out.u64(d.sync_every);
        out.list(&d.syncs, |out, s| {
            [s.team, s.region].into_iter().for_each(|n| out.u8(n));
            out.text(op::get(s.op).map_or("", |row| row.name()));
            [s.address, s.number, s.arrived_ns, s.left_ns].into_iter().for_each(|n| out.u64(n));
        });
    },
    decode: |c, d| {
        d.sync_every = c.u64("the synchronisations")?;
        let teams = d.teams.len();
        // The same routine again and again.
        let mut last = ("", op::lookup(""));
        d.syncs = list(c, |c| {
            let (team, region) = (c.u8("a synchronisation")?, c.u8("a synchronisation")?);
            if usize::from(team) >= teams {
                return Err(c.corrupt(format!("a synchronisation of team {team} of {teams}")));
            }
            let name = c.str("a synchronisation's routine")?;
            if name != last.0 {
                last = (name, op::lookup(name));
            }
            let op = last.1.unwrap_or(u16::MAX);
            let mut next = || c.u64("a synchronisation");
            let (address, number, arrived_ns, left_ns) = (next()?, next()?, next()?, next()?);
            Ok(Sync { team, region, op, address, number, arrived_ns, left_ns, ..Sync::default() })
        })?;
        Ok(())
    },
};

/// Who called the synchronisations: `u64` addresses that the callers return to, in their order.
pub(super) const CALLERS: Section = Section {
    tag: 36,
    is_there: |d| d.syncs.iter().any(|sync| sync.caller != 0),
    encode: |out, d| out.list(&d.syncs, |out, sync| out.u64(sync.caller)),
    decode: |c, d| {
        let callers = list(c, |c| c.u64("who called a synchronisation"))?;
        // As many as there are synchronisations.
        d.syncs.iter_mut().zip(callers).for_each(|(sync, caller)| sync.caller = caller);
        Ok(())
    },
};

/// How long a PE has to be in a synchronisation for all such to be kept; left out where nothing was left out.
pub(super) const LONGEST: Section = number!(35, longest_from_ns, "the longest synchronisations");

/// From how long a phase on all calls after such are kept; left out where none were looked for.
pub(super) const LONGEST_PHASES: Section = number!(41, longest_phase_from_ns, "the longest phases");
