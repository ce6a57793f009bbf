//! The sections of the program's parts: loaded objects, regions, call sites, markers.

use super::sections::{Section, list, number};
use crate::tables::{Marker, Module, Region, Site};

/// Loaded objects.
pub(super) const MODULES: Section = Section {
    tag: 6,
    is_there: |_| true,
    encode: |out, d| {
        out.list(&d.modules, |out, m| {
            [m.base, m.start, m.end].into_iter().for_each(|n| out.u64(n));
            out.text(&m.path);
        });
    },
    decode: |c, d| {
        d.modules = list(c, |c| {
            let mut next = || c.u64("an object's address");
            let (base, start, end) = (next()?, next()?, next()?);
            Ok(Module { base, start, end, path: c.text("an object's file")?, build_id: String::new() })
        })?;
        Ok(())
    },
};

/// Build ids of the loaded objects, in their order; left out where none has one.
pub(super) const BUILD_IDS: Section = Section {
    tag: 25,
    is_there: |d| d.modules.iter().any(|module| !module.build_id.is_empty()),
    encode: |out, d| out.list(&d.modules, |out, module| out.text(&module.build_id)),
    decode: |c, d| {
        for (at, build_id) in list(c, |c| c.text("an object's build id"))?.into_iter().enumerate() {
            // As many as there are objects: what is too much belongs to none.
            d.modules.get_mut(at).into_iter().for_each(|module| module.build_id.clone_from(&build_id));
        }
        Ok(())
    },
};

/// Regions.
pub(super) const REGIONS: Section = Section {
    tag: 7,
    is_there: |_| true,
    encode: |out, d| {
        out.list(&d.regions, |out, r| {
            out.text(&r.name);
            [r.entries, r.total_ns, r.own_ns, r.max_ns, r.open].into_iter().for_each(|n| out.u64(n));
        });
    },
    decode: |c, d| {
        d.regions = list(c, |c| {
            let name = c.text("a region's name")?;
            let mut next = || c.u64("a region");
            let (entries, total_ns, own_ns, max_ns, open) = (next()?, next()?, next()?, next()?, next()?);
            Ok(Region { name, entries, total_ns, own_ns, max_ns, open })
        })?;
        Ok(())
    },
};

/// Where the first region or marker that could not be kept was called from; left out where that is not known.
pub(super) const REGION_ERROR: Section = number!(26, region_error, "where a region was called from");

/// Calls of `pshmem_X` that came from the executable itself; left out where there are none.
pub(super) const LEFT_OUT: Section = number!(43, left_out, "calls that are left out");

/// Call sites.
pub(super) const SITES: Section = Section {
    tag: 8,
    is_there: |_| true,
    encode: |out, d| {
        out.list(&d.sites, |out, s| {
            out.u64(s.address);
            out.text(&s.routine);
            out.u8(s.region);
            [s.calls, s.bytes, s.timed_calls].into_iter().for_each(|n| out.u64(n));
            out.u8(u8::from(s.total_ns.is_some()));
            [s.total_ns.unwrap_or(0), s.max_ns].into_iter().for_each(|n| out.u64(n));
        });
    },
    decode: |c, d| {
        d.sites = list(c, |c| {
            let (address, routine) = (c.u64("a call site")?, c.text("a call site's routine")?);
            let region = c.u8("a call site's region")?;
            let mut next = || c.u64("a call site");
            let (calls, bytes, timed_calls) = (next()?, next()?, next()?);
            let is_timed = c.u8("a call site")? != 0;
            let total_ns = Some(c.u64("a call site's time")?).filter(|_| is_timed);
            let max_ns = c.u64("a call site's time")?;
            // Calls that had not returned are a section of their own.
            let (unfinished, unfinished_ns) = (0, 0);
            Ok(Site {
                address,
                routine,
                region,
                calls,
                bytes,
                timed_calls,
                total_ns,
                max_ns,
                unfinished,
                unfinished_ns,
            })
        })?;
        Ok(())
    },
};

/// Markers.
pub(super) const MARKERS: Section = Section {
    tag: 9,
    is_there: |_| true,
    encode: |out, d| {
        out.list(&d.markers, |out, m| {
            out.text(&m.name);
            out.u64(m.count);
            [m.sum, m.min, m.max, m.last].into_iter().for_each(|v| out.u64(v.to_bits()));
        });
    },
    decode: |c, d| {
        d.markers = list(c, |c| {
            let (name, count) = (c.text("a marker's name")?, c.u64("a marker")?);
            let mut next = || c.u64("a marker").map(f64::from_bits);
            Ok(Marker { name, count, sum: next()?, min: next()?, max: next()?, last: next()? })
        })?;
        Ok(())
    },
};
