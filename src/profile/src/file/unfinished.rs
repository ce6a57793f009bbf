//! The section of calls that had not returned. Two lists. Call sites: `u32` place among those of their section, `u64`
//! calls and nanoseconds. Synchronisations: `u8` team and region, text routine, `u64` return address, number, arrival
//! and end, `u8` whether a synchronisation came before, and if so its text routine and `u64` return address; `u64`
//! begin of the phase, and time in the library in it.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::op;
use crate::tables::{PeTables, Phase, Site, Sync};

/// Calls that had not returned, by call site, and those of all PEs of a team; left out where there were none.
pub(super) const SECTION: Section = Section {
    tag: 34,
    is_there: |d| d.sites.iter().any(|site| site.unfinished > 0) || !d.open_syncs.is_empty(),
    encode,
    decode,
};

fn encode(out: &mut Out, d: &PeTables) {
    let name = |op: u16| op::get(op).map_or("", |row| row.name());
    let sites: Vec<(u32, &Site)> = (0_u32..).zip(&d.sites).filter(|(_, site)| site.unfinished > 0).collect();
    out.list(&sites, |out, (at, site)| {
        out.u32(*at);
        [site.unfinished, site.unfinished_ns].into_iter().for_each(|n| out.u64(n));
    });
    out.list(&d.open_syncs, |out, s| {
        [s.team, s.region].into_iter().for_each(|n| out.u8(n));
        out.text(name(s.op));
        [s.address, s.number, s.arrived_ns, s.left_ns].into_iter().for_each(|n| out.u64(n));
        out.u8(u8::from(s.phase.from.is_some()));
        if let Some((address, op)) = s.phase.from {
            out.text(name(op));
            out.u64(address);
        }
        [s.phase.begin_ns, s.phase.library_ns].into_iter().for_each(|n| out.u64(n));
    });
}

fn decode(c: &mut Cursor<'_>, d: &mut PeTables) -> Result<(), ReadError> {
    const WHAT: &str = "calls that had not returned";
    for (at, calls, ns) in list(c, |c| Ok((c.u32(WHAT)?, c.u64(WHAT)?, c.u64(WHAT)?)))? {
        // As many as there are sites: what is too much belongs to none.
        if let Some(site) = d.sites.get_mut(at as usize) {
            (site.unfinished, site.unfinished_ns) = (calls, ns);
        }
    }
    let teams = d.teams.len();
    d.open_syncs = list(c, |c| {
        let (team, region) = (c.u8(WHAT)?, c.u8(WHAT)?);
        if usize::from(team) >= teams {
            return Err(c.corrupt(format!("a synchronisation of team {team} of {teams}")));
        }
        let op = op::lookup(c.str(WHAT)?).unwrap_or(u16::MAX);
        let mut next = || c.u64(WHAT);
        let (address, number, arrived_ns, left_ns) = (next()?, next()?, next()?, next()?);
        let from = if c.u8(WHAT)? == 0 {
            None
        } else {
            let op = op::lookup(c.str(WHAT)?).unwrap_or(u16::MAX);
            Some((c.u64(WHAT)?, op))
        };
        let phase = Phase { from, begin_ns: c.u64(WHAT)?, library_ns: c.u64(WHAT)?, waits_ns: 0 };
        Ok(Sync { team, region, op, address, number, arrived_ns, left_ns, phase, caller: 0 })
    })?;
    Ok(())
}
