//! The sections of who moved how much: by peer, by context, nonblocking, and what the library chose and met with.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::tables::{Algorithm, Context, Nbi, Peer, Requests, Traffic};

/// Traffic by peer.
pub(super) const PEERS: Section = Section {
    tag: 5,
    is_there: |_| true,
    encode: |out, d| {
        out.list(&d.peers, |out, p| {
            out.u32(p.pe.unwrap_or(u32::MAX));
            [p.put, p.get, p.amo].into_iter().for_each(|t| put_traffic(out, t));
        });
    },
    decode: |c, d| {
        d.peers = list(c, |c| {
            let pe = c.u32("a peer")?;
            let pe = (pe != u32::MAX).then_some(pe);
            Ok(Peer { pe, put: traffic(c)?, get: traffic(c)?, amo: traffic(c)? })
        })?;
        Ok(())
    },
};

/// Nonblocking operations.
pub(super) const NBI: Section = Section {
    tag: 12,
    is_there: |_| true,
    encode: |out, d| {
        let n = &d.nbi;
        let counts = [n.issued, n.bytes, n.batches, n.completed];
        counts.into_iter().chain([n.ns, n.blocked_ns, n.max_ns, n.met_ns]).for_each(|n| out.u64(n));
    },
    decode: |c, d| {
        let mut next = || c.u64("nonblocking operations");
        d.nbi = Nbi {
            issued: next()?,
            bytes: next()?,
            batches: next()?,
            completed: next()?,
            ns: next()?,
            blocked_ns: next()?,
            max_ns: next()?,
            // Not in profiles of earlier versions.
            met_ns: 0,
        };
        if !c.is_at_end() {
            d.nbi.met_ns = c.u64("nonblocking operations")?;
        }
        Ok(())
    },
};

/// Requests by routine; left out where there were none.
pub(super) const REQUESTS: Section = Section {
    tag: 29,
    is_there: |d| !d.requests.is_empty(),
    encode: |out, d| {
        out.list(&d.requests, |out, r| {
            out.text(&r.routine);
            [r.ended, r.open_ns, r.waited_ns].into_iter().for_each(|n| out.u64(n));
        });
    },
    decode: |c, d| {
        d.requests = list(c, |c| {
            let routine = c.text("requests of a routine")?;
            let mut next = || c.u64("requests of a routine");
            Ok(Requests { routine, ended: next()?, open_ns: next()?, waited_ns: next()? })
        })?;
        Ok(())
    },
};

/// Errors by code; left out where there were none.
pub(super) const ERRORS: Section = Section {
    tag: 30,
    is_there: |d| !d.errors.is_empty(),
    encode: |out, d| {
        out.list(&d.errors, |out, (code, count)| {
            out.u32(*code);
            out.u64(*count);
        });
    },
    decode: |c, d| {
        d.errors = list(c, |c| Ok((c.u32("a code")?, c.u64("errors by code")?)))?;
        Ok(())
    },
};

/// Contexts.
pub(super) const CONTEXTS: Section = Section {
    tag: 13,
    is_there: |_| true,
    encode: |out, d| {
        out.list(&d.contexts, |out, c| {
            out.u64(c.handle);
            [c.put, c.get, c.amo].into_iter().for_each(|t| put_traffic(out, t));
            out.u64(c.orders);
            out.u8(u8::from(c.team.is_some()));
            let (id, start, stride, size) = c.team.unwrap_or_default();
            [id, start as u32, stride as u32, size as u32].into_iter().for_each(|n| out.u32(n));
        });
    },
    decode: |c, d| {
        d.contexts = list(c, |c| {
            let handle = c.u64("a context")?;
            let (put, get, amo) = (traffic(c)?, traffic(c)?, traffic(c)?);
            let orders = c.u64("a context")?;
            let is_known = c.u8("a context's team")? != 0;
            let mut next = || c.u32("a context's team");
            let team = (next()?, next()? as i32, next()? as i32, next()? as i32);
            Ok(Context { handle, put, get, amo, orders, team: Some(team).filter(|_| is_known) })
        })?;
        Ok(())
    },
};

/// Numbers of the network; left out where there is none.
pub(super) const NETWORK: Section = Section {
    tag: 15,
    is_there: |d| !d.network.is_empty(),
    encode: |out, d| {
        out.list(&d.network, |out, (name, value)| {
            out.text(name);
            out.u64(*value);
        });
    },
    decode: |c, d| {
        d.network = list(c, |c| Ok((c.text("a number of the network")?, c.u64("a number of the network")?)))?;
        Ok(())
    },
};

/// Algorithms of collectives; left out where there were none.
pub(super) const ALGORITHMS: Section = Section {
    tag: 23,
    is_there: |d| !d.algorithms.is_empty(),
    encode: |out, d| {
        out.list(&d.algorithms, |out, a| {
            out.text(&a.routine);
            out.text(&a.name);
            out.u64(a.calls);
        });
    },
    decode: |c, d| {
        d.algorithms = list(c, |c| {
            let (routine, name) = (c.text("an algorithm's routine")?, c.text("an algorithm")?);
            Ok(Algorithm { routine, name, calls: c.u64("an algorithm")? })
        })?;
        Ok(())
    },
};

fn put_traffic(out: &mut Out, traffic: Traffic) {
    out.u64(traffic.calls);
    out.u64(traffic.bytes);
}

fn traffic(c: &mut Cursor<'_>) -> Result<Traffic, ReadError> {
    Ok(Traffic { calls: c.u64("calls")?, bytes: c.u64("bytes")? })
}
