//! Making a space: its members agree on a number and an address that are free on all of them, then each maps its memory
//! and tells the others how to reach it. Where one cannot, none has the space.

use super::pages::{self, Failed, Wish};
use super::{Group, OPEN, Open, SpaceHandle};
use crate::base::{Cause, Fault, report};
use crate::collectives::nonblocking;
use crate::memory::allocator;
use crate::memory::spaces::{Pages, Parts, SPACES, Spaces};
use crate::team::aset::{self, Opaque};
use crate::team::contribution::Kind;
use crate::team::{Handle as Team, World};
use crate::transport::SegmentId;
use std::ffi::{CStr, c_char};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// `shmemx_space_config_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SpaceConfig {
    /// Bytes on each member.
    pub size: usize,
    /// Where they are: a node, or one of the two below.
    pub numa_node: i32,
    /// Bytes of a page; 0: as the system likes.
    pub page_size: usize,
    /// Of memory: 0, that of the host.
    pub kind: i32,
    /// For messages.
    pub name: *const c_char,
}

/// `SHMEMX_NUMA_ANY`: whoever touches a page first has it.
const ANY: i32 = -1;
/// `SHMEMX_NUMA_LOCAL`: on the node of the member.
const LOCAL: i32 = -2;

/// `SHMEMX_SPACE_`: which fields of a configuration count.
mod mask {
    pub const SIZE: i64 = 1;
    pub const NUMA_NODE: i64 = 2;
    pub const PAGE_SIZE: i64 = 4;
    pub const KIND: i64 = 8;
    pub const NAME: i64 = 16;
    pub const ALL: i64 = 31;
}

/// Longest name that is kept.
const NAME: usize = 64;

/// What the fields that count say.
#[allow(unsafe_code)]
fn read(w: &World, config: *const SpaceConfig, fields: i64) -> Result<(Wish, Option<String>), Fault> {
    let bad = |arg, value, expected| Err(Fault::from(Cause::BadValue { arg, value, expected }));
    if fields & !mask::ALL != 0 {
        return bad("mask", fields, "SHMEMX_SPACE_SIZE, _NUMA_NODE, _PAGE_SIZE, _KIND, _NAME, or some of them");
    }
    let mut wish = Wish { bytes: w.map.heap_len, page: 0, node: None };
    if fields == 0 {
        return Ok((wish, None));
    }
    if config.is_null() {
        return Err(Fault::from(Cause::Null { arg: "config", bytes: size_of::<SpaceConfig>() }));
    }
    // SAFETY: not null; the caller vouches for a structure there.
    let config = unsafe { config.read_unaligned() };
    if fields & mask::SIZE != 0 {
        // One object of that size has room in it.
        wish.bytes = allocator::room_for(config.size);
    }
    if wish.bytes == 0 || wish.bytes > isize::MAX as usize / 4 {
        return bad("config", wish.bytes as i64, "a size of at least 1 byte that there are addresses for");
    }
    if fields & mask::PAGE_SIZE != 0 {
        wish.page = config.page_size;
    }
    if wish.page != 0 && !wish.page.is_power_of_two() {
        return bad("config", wish.page as i64, "a page size that is a power of two, or 0");
    }
    wish.node = match config.numa_node {
        _ if fields & mask::NUMA_NODE == 0 => None,
        ANY => None,
        LOCAL => Some(pages::own_node(w)),
        node @ 0.. => Some(node as u32),
        node => return bad("config", node.into(), "a NUMA node, SHMEMX_NUMA_ANY or SHMEMX_NUMA_LOCAL"),
    };
    if fields & mask::KIND != 0 && config.kind != 0 {
        return bad("config", config.kind.into(), "the kind SHMEMX_SPACE_HOST: there is no other memory");
    }
    let name = (fields & mask::NAME != 0 && !config.name.is_null()).then(|| {
        // SAFETY: not null; the caller vouches for a string.
        let name = unsafe { CStr::from_ptr(config.name) }.to_string_lossy();
        name.chars().take(NAME).collect()
    });
    Ok((wish, name))
}

/// Makes a space of the members of a team. Gives 0, or negative for an invalid team; collective over the team.
pub fn create(
    w: &'static World,
    team: Team,
    config: *const SpaceConfig,
    fields: i64,
    place: *mut SpaceHandle,
) -> Result<i32, Fault> {
    make(w, nonblocking::Group::Team(team), (config, fields), place).map_err(|fault| fault.on_team(team.bits()))
}

/// Makes a space of the members of an active set. Gives 0; collective over the set.
pub fn create_aset(
    w: &'static World,
    set: *const Opaque,
    config: *const SpaceConfig,
    fields: i64,
    place: *mut SpaceHandle,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let set = aset::get(set)?;
    make(w, nonblocking::Group::Set(&set, std::ptr::null()), (config, fields), place)
}

#[allow(unsafe_code)]
fn make(
    w: &'static World,
    group: nonblocking::Group<'_>,
    (config, fields): (*const SpaceConfig, i64),
    place: *mut SpaceHandle,
) -> Result<i32, Fault> {
    w.map.ready()?;
    if place.is_null() {
        return Err(Fault::from(Cause::Null { arg: "space", bytes: size_of::<SpaceHandle>() }));
    }
    // SAFETY: not null; the caller vouches for a handle there.
    unsafe { place.write_unaligned(SpaceHandle::INVALID) };
    let Some(members) = group.members(w)? else { return Ok(report::no_team()) };
    let (wish, name) = read(w, config, fields)?;
    let handle = Making { w, group: members.into(), wish, name }.run()?;
    // SAFETY: as above.
    unsafe { place.write_unaligned(handle) };
    Ok(0)
}

/// A space that is being made.
struct Making {
    w: &'static World,
    group: Group,
    wish: Wish,
    name: Option<String>,
}

impl Making {
    fn run(&self) -> Result<SpaceHandle, Fault> {
        let unready = || Fault::from(Cause::Startup("spaces need shmem_init".into()));
        let spaces = self.w.map.spaces.ok_or_else(unready)?;
        let (number, base) = self.choose(spaces)?;
        let name: Arc<str> = self.name.clone().unwrap_or_else(|| format!("number {number}")).into();
        let made = self.fill(spaces, number, base, name);
        if made.is_err() {
            self.w.map.transport.inspect(|transport| transport.deregister(SegmentId(number)));
            spaces.let_go(number);
        }
        made
    }

    /// The memory, here and of others.
    fn fill(&self, spaces: &Spaces, number: u16, base: usize, name: Arc<str>) -> Result<SpaceHandle, Fault> {
        let map = &self.w.map;
        let local = |pe: i32| (pe.wrapping_sub(map.first_pe) as u32) < map.local_pes;
        let near: Vec<i32> = self.group.pes.iter().filter(|pe| local(*pe)).collect();
        let first = near.first() == Some(&map.me);
        let taken = if first { pages::take(&self.wish, near.len()) } else { Ok(pages::Source::default()) };
        let extent = taken.as_ref().ok().and_then(pages::Source::extent);
        match self.share(number, base, &name, (&near, taken)) {
            Ok((pages, keys)) => self.enter(spaces, (number, name), (pages, extent), (near, keys)),
            Err(fault) => {
                // None has it, but where one is lost, who may have told some of the others.
                if !fault.is_loss() {
                    pages::give_back(extent);
                }
                Err(fault)
            }
        }
    }

    /// A number and an address that are free on all members. Each of them has room for the space from now on, or none.
    fn choose(&self, spaces: &Spaces) -> Result<(u16, usize), Fault> {
        let mut hasher = DefaultHasher::new();
        (self.wish.bytes, self.wish.page, &self.name).hash(&mut hasher);
        let (arguments, mut least) = (hasher.finish(), SegmentId::FREE.0);
        loop {
            let held = spaces.hold(least);
            let words = vec![arguments, u64::from(held.unwrap_or(0)), spaces.next_address() as u64];
            let all = self.group.exchange(self.w, Kind::SpaceCreate, words)?;
            let of = |word: usize| all.iter().skip(word).step_by(3).copied();
            let same = of(0).position(|theirs| theirs != arguments);
            let (low, high) = (of(1).min().unwrap_or(0), of(1).max().unwrap_or(0));
            if let (Some(number), None, true) = (held, same, low == high) {
                return Ok((number, of(2).max().unwrap_or(0) as usize));
            }
            held.inspect(|number| spaces.let_go(*number));
            if let Some(member) = same {
                let call = "shmemx_space_create";
                let (mine, theirs) = (format!("{call} of {} bytes", self.wish.bytes), format!("{call} of others"));
                return Err(Fault::from(Cause::Mismatch { mine, theirs, pe: self.group.pes.world(member) }));
            }
            if low == 0 {
                let member = of(1).position(|theirs| theirs == 0).filter(|_| held.is_some());
                return Err(full(member.map(|member| self.group.pes.world(member))));
            }
            least = high as u16;
        }
    }

    /// Maps what the first member of each host has taken, and has the network reach it: on all members, or on none.
    /// Gives this PE's pages, and what each member has to know of those of others.
    fn share(
        &self,
        number: u16,
        base: usize,
        name: &Arc<str>,
        (near, taken): (&[i32], Result<pages::Source, Failed>),
    ) -> Result<(Pages, Vec<u64>), Fault> {
        let (w, pes) = (self.w, &self.group.pes);
        let (source, failed) = match &taken {
            Ok(source) => (source.words(), None),
            Err(failed) => ([0; 2], Some(*failed)),
        };
        let words = self.tell(name, failed, &source)?;
        let of = |pe: i32| pes.index_of(pe).map_or([0; 2], |member| [words[2 * member], words[2 * member + 1]]);
        let source = near.first().map_or([0; 2], |first| of(*first));
        let index = near.iter().position(|pe| *pe == w.map.me).unwrap_or(0);
        let mapped = pages::map(&self.wish, source, (index, near.len()), base);
        let key = match &mapped {
            Ok(pages) => pages::register(w, number, pages.own, self.wish.bytes),
            Err(failed) => Err(*failed),
        };
        let (key, failed) = key.map_or_else(|failed| ([0; 2], Some(failed)), |key| (key, None));
        let told = self.tell(name, failed, &key);
        // Others have it open by now, or there is none.
        drop(taken);
        let keys = told?;
        mapped.map(|pages| (pages, keys)).map_err(|failed| refused(name, failed, None))
    }

    /// All members have the memory: from now on it is a space.
    fn enter(
        &self,
        spaces: &Spaces,
        (number, name): (u16, Arc<str>),
        (pages, extent): (Pages, Option<Range<usize>>),
        (near, keys): (Vec<i32>, Vec<u64>),
    ) -> Result<SpaceHandle, Fault> {
        let pes = &self.group.pes;
        if let Some(transport) = self.w.map.transport {
            for (pe, key) in pes.iter().zip(keys.as_chunks::<2>().0) {
                transport.introduce(pe, SegmentId(number), &key.map(u64::to_ne_bytes).concat())?;
            }
        }
        let members = pes.clone();
        let has = Box::new(move |pe| members.index_of(pe).is_some());
        let (segment, size, len) = (SegmentId(number), pes.size(), self.wish.bytes);
        let space = spaces.insert(Parts { segment, name, size, has, len, pages, near });
        // Who holds a number has room.
        let space = space.ok_or_else(|| full(None))?;
        let open = Open { space: space.clone(), group: self.group.clone(), extent };
        let handle = OPEN.insert(Arc::new(open)).ok_or_else(|| full(None))?;
        space.handle.store(handle, Ordering::Relaxed);
        Ok(SpaceHandle(handle))
    }

    /// Two words of each member. Fault: one of them has failed.
    fn tell(&self, name: &Arc<str>, failed: Option<Failed>, mine: &[u64; 2]) -> Result<Vec<u64>, Fault> {
        let words = vec![failed.map_or(0, Failed::word), mine[0], mine[1]];
        let all = self.group.exchange(self.w, Kind::SpaceCreate, words)?;
        let of = |member: usize| Some((member, Failed::from_word(all[3 * member])?));
        let me = self.group.me;
        if let Some((member, failed)) = [me].into_iter().chain(0..self.group.pes.size()).find_map(of) {
            let pe = (member != me).then(|| self.group.pes.world(member));
            return Err(refused(name, failed, pe));
        }
        Ok(all.chunks_exact(3).flat_map(|words| [words[1], words[2]]).collect())
    }
}

/// A member cannot have what is asked for: this one, or another.
fn refused(name: &Arc<str>, Failed { what, error }: Failed, pe: Option<i32>) -> Fault {
    Fault::from(Cause::NoSpace { space: name.clone(), what: what.text(), error, pe })
}

/// This PE, or another, is in as many spaces as it can be.
fn full(pe: Option<i32>) -> Fault {
    const { assert!(SPACES == 4096, "as the message says") };
    let what = "a PE can be in 4096 spaces at a time, and is";
    Fault::from(Cause::NoSpace { space: "one more".into(), what, error: 0, pe })
}
