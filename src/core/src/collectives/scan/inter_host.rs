//! Prefix scans: within each host, then what the hosts before have is put on the left of everyone's.
#![allow(unsafe_code)]

use super::super::inter_host::{fold, object};
use super::super::kernel::Kernel;
use crate::base::Fault;
use crate::inter_host::{Buffer, Fold, Object, exscan};
use crate::team::contribution::{Kind, signature};
use crate::team::hierarchical::{Hierarchy, InterHostCall};
use crate::team::{Team, World, sync};

#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(in super::super) fn scan(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
    kind: Kind,
) -> Result<(), Fault> {
    let bytes = nelems * kernel.elem;
    let call = InterHostCall::begin(w, team, hierarchy, signature(kind, bytes))?;
    let (local, fold) = (&hierarchy.local, fold(kernel));
    let (first, last) = (local.me == 0, local.me + 1 == local.size);
    // SAFETY: checked by the caller.
    let (result, given) = unsafe { (object(dest, bytes), object(source, bytes)) };
    // The last member of a host knows its total: of an exclusive scan with its own elements, which `dest` may be.
    let mut own = Buffer::new(if last { bytes } else { 0 });
    if last {
        own.object().copy_from(0, &given);
    }
    super::intra_host(w, local, dest, source, nelems, kernel, kind)?;
    let mut before = Buffer::new(if last { bytes } else { 0 });
    if last {
        let total = own.object();
        let mut here = Buffer::new(bytes);
        here.object().copy_from(0, &result);
        if kind == Kind::Inscan {
            total.copy_from(0, &here.object());
        } else if !first {
            total.fold(0, here.bytes(), true, fold);
        }
        let net = call.tails()?;
        net.run(exscan(&net, &total, &before.object(), fold))?;
    }
    if hierarchy.layout.host == 0 {
        return Ok(());
    }
    let parts = Parts { result, before, last, bytes };
    pass_on(w, local, dest, parts, fold, kind == Kind::Exscan && first)
}

/// What a member has of a scan.
struct Parts {
    /// Its own result so far, in `dest`.
    result: Object,
    /// What comes before its host; of the last member only.
    before: Buffer,
    /// Whether it is the last member of its host.
    last: bool,
    bytes: usize,
}

/// Puts what comes before this host on the left of each member's result; `replaces`: it is this member's result. The
/// last member shows the others what comes before in its `dest`, whose own part it keeps meanwhile.
fn pass_on(
    w: &World,
    local: &Team,
    dest: *mut u8,
    Parts { result, mut before, last, bytes }: Parts,
    fold: Fold,
    replaces: bool,
) -> Result<(), Fault> {
    let mut kept = Buffer::new(if last { bytes } else { 0 });
    if last {
        kept.object().copy_from(0, &result);
        result.copy_from(0, &before.object());
    }
    let put_left = |left: &mut Buffer| match replaces {
        true => result.copy_from(0, &left.object()),
        false => result.fold(0, left.bytes(), true, fold),
    };
    if local.size > 1 {
        sync(w, local)?;
        if !last {
            let there = w.map.remote("dest", dest, bytes, local.world(local.size - 1))?;
            let mut left = Buffer::new(bytes);
            // SAFETY: the member's dest is mapped, and stays until all have met.
            left.object().copy_from(0, &unsafe { object(there, bytes) });
            put_left(&mut left);
        }
        sync(w, local)?;
    }
    if last {
        if !replaces {
            result.copy_from(0, &kept.object());
        }
        put_left(&mut before);
    }
    Ok(())
}
