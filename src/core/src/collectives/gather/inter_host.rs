//! Collect and fcollect: the first member of a host puts its host's blocks together, exchanges them with the other
//! hosts' and shows the others the whole.

use super::super::broadcast;
use super::super::inter_host::object;
use super::super::table::HOSTS_FCOLLECT;
use crate::base::Fault;
use crate::inter_host::{BoxedSchedule, Buffer, By, Net, Object, gather};
use crate::team::algorithm::Shape;
use crate::team::check::{check_collected, check_overlap, memory_of, place_of_source};
use crate::team::contribution::{HostCall, INLINE, Kind, signature};
use crate::team::hierarchical::{Hierarchy, InterHostCall};
use crate::team::{Team, World};
use crate::transport::shm::copy::copy;

#[cold]
#[inline(never)]
pub(in super::super) fn fcollect(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) -> Result<(), Fault> {
    let call = InterHostCall::begin(w, team, hierarchy, signature(Kind::Fcollect, bytes))?;
    let (layout, local) = (&hierarchy.layout, &hierarchy.local);
    let total = bytes * team.size as usize;
    let local_call = HostCall::begin(w, local, signature(Kind::Fcollect, bytes))?;
    let inline = bytes <= INLINE;
    // SAFETY: source was checked.
    unsafe { local_call.contribute_bytes(source, if inline { bytes } else { 0 }) };
    if call.leads() {
        for (pe, rank) in layout.ranks(layout.host).enumerate() {
            let slot = local_call.contribution(pe as i32)?;
            let to = dest.wrapping_add(rank as usize * bytes);
            // SAFETY: dest was checked for `bytes` bytes a member; the member's source is mapped.
            unsafe {
                if inline {
                    HostCall::copy_contribution(slot, to, bytes);
                } else {
                    copy(to, local_call.of("source", source, bytes, pe as i32)?, bytes);
                }
            }
        }
    }
    // The others leave when they see the whole: then their blocks have been read.
    local_call.done();
    if call.leads() {
        let first = |host: usize| layout.heads.get(host).map_or(total, |rank| *rank as usize * bytes);
        // SAFETY: as above.
        let all = unsafe { object(dest, total) };
        let net = call.hosts()?;
        let algorithm = HOSTS_FCOLLECT.choose(&w.algorithms, &shape(total, &net));
        net.run(algorithm(&net, &all, &first))?;
    }
    broadcast::intra_host(w, local, dest, dest, total, 0, false)?;
    call.all_synchronized();
    Ok(())
}

/// Numbers of all members of a group, as ends of their blocks: the sum of those up to each.
pub(in super::super) async fn ends(net: &dyn Net, mine: usize) -> Result<Vec<usize>, Fault> {
    let mut numbers = Buffer::new(8 * net.size());
    let all = numbers.object();
    all.write(8 * net.me(), &(mine as u64).to_le_bytes());
    gather(net, &all, &all, &|member| 8 * member, By::Messages, false).await?;
    let mut end = 0usize;
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default()) as usize;
    Ok(numbers
        .bytes()
        .chunks_exact(8)
        .map(|bytes| {
            end = end.saturating_add(number(bytes));
            end
        })
        .collect())
}

#[cold]
#[inline(never)]
pub(in super::super) fn collect(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) -> Result<(), Fault> {
    let sizes = InterHostCall::begin(w, team, hierarchy, signature(Kind::Collect, 0))?;
    let (layout, local) = (&hierarchy.layout, &hierarchy.local);
    let local_call = HostCall::begin(w, local, signature(Kind::Collect, 0))?;
    local_call.contribute(&[bytes as u64, place_of_source(&w.map, source)]);
    let mut ends = Vec::new();
    let mut blocks = Vec::new();
    if sizes.leads() {
        for pe in 0..local.size {
            let [count, place, ..] = HostCall::words(local_call.contribution(pe)?).0;
            blocks.push((count as usize, place));
        }
        let mine = blocks.iter().fold(0usize, |sum, (count, _)| sum.saturating_add(*count));
        let net = sizes.hosts()?;
        ends = net.run(self::ends(&net, mine))?;
        let total = ends.last().copied().unwrap_or(0);
        check_collected(&w.map, dest, total)?;
        let mut to = layout.host.checked_sub(1).map_or(0, |before| ends[before]);
        for (pe, (count, place)) in blocks.into_iter().enumerate().filter(|(_, (count, _))| *count > 0) {
            let from = memory_of(&w.map, "source", place, count, local.world(pe as i32))?;
            // SAFETY: this part of dest was checked; the member's source is mapped.
            unsafe { copy(dest.wrapping_add(to), from, count) };
            to += count;
        }
    }
    local_call.done();
    let data = InterHostCall::begin(w, team, hierarchy, signature(Kind::Collect, 0))?;
    let whole = HostCall::begin(w, local, signature(Kind::Collect, 0))?;
    let total = if let Some(total) = ends.last().copied() {
        let first = |host: usize| host.checked_sub(1).map_or(0, |before| ends[before]);
        if total > 0 {
            // SAFETY: checked above.
            let all = unsafe { object(dest, total) };
            let net = data.hosts()?;
            let algorithm = HOSTS_FCOLLECT.choose(&w.algorithms, &shape(total, &net));
            net.run(algorithm(&net, &all, &first))?;
        }
        whole.contribute(&[total as u64]);
        total
    } else {
        whole.contributed_word(0)? as usize
    };
    whole.done();
    data.all_synchronized();
    if total == 0 {
        return Ok(());
    }
    check_collected(&w.map, dest, total)?;
    check_overlap(&w.map, dest, total, source, bytes, false)?;
    broadcast::intra_host(w, local, dest, dest, total, 0, false)
}

/// An algorithm: gathers the blocks that members of a group have in an object, where they belong; the last argument
/// gives where a member's begins.
pub type InterHostGather = for<'a> fn(&'a dyn Net, &'a Object, &'a dyn Fn(usize) -> usize) -> BoxedSchedule<'a>;

/// What the algorithm for a result of so many bytes is chosen by.
pub(in super::super) fn shape(total: usize, net: &dyn Net) -> Shape {
    Shape { bytes: total, members: net.size(), ..Shape::default() }
}

/// In messages.
pub fn messages<'a>(net: &'a dyn Net, dest: &'a Object, begin: &'a dyn Fn(usize) -> usize) -> BoxedSchedule<'a> {
    Box::pin(gather(net, dest, dest, begin, By::Messages, false))
}

/// By puts, twice as many blocks in each round.
pub fn puts<'a>(net: &'a dyn Net, dest: &'a Object, begin: &'a dyn Fn(usize) -> usize) -> BoxedSchedule<'a> {
    Box::pin(gather(net, dest, dest, begin, By::Puts, false))
}
