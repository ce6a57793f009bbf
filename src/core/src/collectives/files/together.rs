//! Reading and writing by all members of a file's team in one call.

use super::plan::{Outcome, Plan, Want, checked};
use super::{File, FileHandle, background, get, same, start};
use crate::base::{Cause, Fault};
use crate::collectives::inter_host::FlatCall;
use crate::collectives::nonblocking::{complete_file, give};
use crate::os::file::Direction;
use crate::request::Request;
use crate::request::uses::{self, Access, Use};
use crate::team::World;
use crate::team::check;
use crate::team::contribution::Kind;
use crate::transport::EventSlot;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a call is beside the wants of its members.
#[derive(Clone, Copy)]
struct How {
    direction: Direction,
    /// Members follow each other in the file, from where the last such call has ended.
    ordered: bool,
    /// Nobody waits in the call.
    in_background: bool,
}

/// Members on this PE's host.
fn on_host<'a>(w: &'a World, file: &'a File) -> impl Iterator<Item = usize> + 'a {
    let is_local = |pe: i32| (pe.wrapping_sub(w.map.first_pe) as u32) < w.map.local_pes;
    (0..file.pes.size()).filter(move |member| is_local(file.pes.world(*member)))
}

/// The one of them that moves bytes.
pub(super) fn first_on_host(w: &World, file: &File) -> usize {
    on_host(w, file).next().unwrap_or(file.me)
}

/// A read that has come to the end of the file.
pub(super) fn short(file: &File, bytes: u64, wanted: u64) -> Fault {
    Fault::from(Cause::Short { path: file.path.clone(), bytes, wanted }).on_team(file.team.bits())
}

/// Has members of an ordered call follow each other; gives where the next one begins.
fn put_in_order(wants: &mut [Want], position: i64) -> Option<i64> {
    wants.iter_mut().try_fold(position, |at, want| {
        want.offset = at;
        at.checked_add(i64::try_from(want.bytes()).ok()?)
    })
}

/// The call of one member.
async fn call(w: &'static World, call: FlatCall<'static>, file: Arc<File>, want: Want, how: How) -> Result<(), Fault> {
    let kind = if how.direction == Direction::Read { Kind::FileRead } else { Kind::FileWrite };
    let name = file.name ^ u64::from(how.ordered);
    let mut words = vec![name];
    words.extend(want.words());
    let members: Vec<usize> = on_host(w, &file).collect();
    let first = members.first().copied().unwrap_or(file.me);
    // On one host nobody else has to know.
    let all = match members.len() == file.pes.size() {
        true => call.words_for(0, kind, first, &words).await?,
        false => call.words(0, kind, &words).await?,
    };
    same(&file, how.direction.name(), &all, words.len())?;
    let mut wants: Vec<Want> = all.chunks_exact(words.len()).map(|words| Want::from(&words[1..])).collect();
    if how.ordered && !wants.is_empty() {
        let next = put_in_order(&mut wants, file.position.load(Ordering::Relaxed)).ok_or_else(|| {
            Fault::from(Cause::BadValue {
                arg: "bytes",
                value: i64::MAX,
                expected: "fewer: the file has no such place",
            })
        })?;
        file.position.store(next, Ordering::Relaxed);
    }
    let mut outcomes = Vec::new();
    if file.me == first {
        let parts = members.iter().map(|member| (file.pes.world(*member), wants[*member]));
        let plan = Plan::new(&w.map, how.direction, parts)?;
        outcomes = if how.in_background {
            move_in_background(call.transfer_begins(), plan, file.clone()).await
        } else {
            plan.run(&file, || false)
        };
    }
    let told = call.hand_out(1, kind, first, &members, |i| told(&outcomes, &members, i)).await?;
    let [bytes, error, at, mut failed @ ..] = told;
    if members.len() < file.pes.size() {
        let all = call.words(2, kind, &failed).await?;
        failed = all.as_chunks::<3>().0.iter().copied().find(|[member, ..]| *member != 0).unwrap_or_default();
    }
    let what = how.direction.name();
    let wanted = want.bytes();
    match (error, failed) {
        (0, [0, ..]) if bytes < wanted => Err(short(&file, bytes, wanted)),
        (0, [0, ..]) => Ok(()),
        (0, [member, error, at]) => {
            Err(file.fault(what, Some(at), error as i32, Some(file.pes.world(member as usize - 1))))
        }
        (error, _) => Err(file.fault(what, Some(at), error as i32, None)),
    }
}

/// Moves bytes in the thread of the library's. Where the call ends before that, since a member is lost, the thread
/// stops between two pieces; until then the transfer counts as under way, and so does its request.
async fn move_in_background(transfer: Option<EventSlot>, plan: Plan, file: Arc<File>) -> Vec<Outcome> {
    struct Call(Arc<AtomicBool>);
    impl Drop for Call {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let _call = Call(is_over.clone());
    background::run(move || {
        let outcomes = plan.run(&file, || is_over.load(Ordering::Relaxed));
        transfer.inspect(|transfer| transfer.end());
        outcomes
    })
    .await
}

/// What the `i`-th member of a host is told: its bytes, its error and where that was; then of the first member that has
/// one its number from 1 on, its error, and where that was.
fn told(outcomes: &[Outcome], members: &[usize], i: usize) -> [u64; 6] {
    let Outcome { bytes, error, at } = outcomes[i];
    let failed = outcomes.iter().zip(members).find(|(outcome, _)| outcome.error != 0);
    let [member, first, place] =
        failed.map_or([0; 3], |(outcome, member)| [*member as u64 + 1, outcome.error as u64, outcome.at]);
    [bytes, error as u64, at, member, first, place]
}

/// A member's memory, and where its bytes are in the file.
#[derive(Clone, Copy)]
struct Place {
    sym: *mut u8,
    /// Bytes of a block, how many blocks, and from one block in the file to the next.
    blocks: (usize, usize, i64),
    offset: i64,
}

fn begin(w: &'static World, handle: FileHandle, how: How, place: Place) -> Result<Request, Fault> {
    w.map.ready()?;
    let file = get(handle)?;
    let want = checked(&w.map, place.sym, place.blocks, place.offset)?;
    let own = file.clone();
    // A call that waits is over before anybody could use its memory.
    if !uses::are_kept() || !how.in_background {
        return start(w, &file, |flat| call(w, flat, own, want, how));
    }
    let access = if how.direction == Direction::Read { Access::Write } else { Access::Read };
    let addr = check::address(&w.map, want.place).unwrap_or_default();
    let used = [Use { arg: "sym", pe: w.map.me, addr, bytes: want.bytes() as usize, access }];
    uses::check(used.iter().copied())?;
    start(w, &file, |flat| call(w, flat, own, want, how)).map(|begun| uses::hold(begun, &used, None, true))
}

/// A call that waits. Gives 0.
fn wait(w: &'static World, handle: FileHandle, how: How, place: Place) -> Result<i32, Fault> {
    complete_file(w, begin(w, handle, how, place).map(Some)).map(|()| 0)
}

macro_rules! directions {
    ($($direction:ident, $at_all:ident, $at_all_nb:ident, $ordered:ident, $strided_all:ident;)*) => { $(
        #[doc = concat!(stringify!($direction), "s, each member at an offset of its own. Gives 0.")]
        pub fn $at_all(
            w: &'static World,
            file: FileHandle,
            sym: *mut u8,
            bytes: usize,
            offset: i64,
        ) -> Result<i32, Fault> {
            let how = How { direction: Direction::$direction, ordered: false, in_background: false };
            wait(w, file, how, Place { sym, blocks: (bytes, 1, 0), offset })
        }

        #[doc = concat!("Begins [`", stringify!($at_all), "`].")]
        pub fn $at_all_nb(
            w: &'static World,
            file: FileHandle,
            sym: *mut u8,
            bytes: usize,
            offset: i64,
            request: *mut Request,
        ) -> Result<i32, Fault> {
            let how = How { direction: Direction::$direction, ordered: false, in_background: true };
            give(request, begin(w, file, how, Place { sym, blocks: (bytes, 1, 0), offset }).map(Some))
        }

        #[doc = concat!(stringify!($direction), "s, one member's bytes behind the other's. Gives 0.")]
        pub fn $ordered(w: &'static World, file: FileHandle, sym: *mut u8, bytes: usize) -> Result<i32, Fault> {
            let how = How { direction: Direction::$direction, ordered: true, in_background: false };
            wait(w, file, how, Place { sym, blocks: (bytes, 1, 0), offset: 0 })
        }

        #[doc = concat!(stringify!($direction), "s `nblocks` blocks, `stride` bytes apart in the file. Gives 0.")]
        pub fn $strided_all(
            w: &'static World,
            file: FileHandle,
            sym: *mut u8,
            block: usize,
            nblocks: usize,
            stride: i64,
            offset: i64,
        ) -> Result<i32, Fault> {
            let how = How { direction: Direction::$direction, ordered: false, in_background: false };
            wait(w, file, how, Place { sym, blocks: (block, nblocks, stride), offset })
        }
    )* };
}

directions! {
    Read, read_at_all, read_at_all_nb, read_ordered, read_strided_all;
    Write, write_at_all, write_at_all_nb, write_ordered, write_strided_all;
}
