//! Files that a team reads and writes together (extensions, section 4.3).
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | handles; opening, closing, what is asked of a file as a whole |
//! | `independent.rs` | one PE on its own |
//! | `together.rs` | all members in one call: one of them a host moves the bytes of all |
//! | `plan.rs` | what that one does: pieces of all members' memory, in the order of the file |
//! | `background.rs` | the thread that moves bytes where nobody waits in the call |
//!
//! A collective call on a file is a schedule ([`crate::request`]), as nonblocking collectives are: members learn of
//! each other what each wants, the first on each host moves the bytes from or to the other members' memory, which it
//! has mapped, and tells them what became of it.

mod background;
mod independent;
mod plan;
mod together;

pub use independent::{read_at, read_at_nb, write_at, write_at_nb};
pub use together::{
    read_at_all, read_at_all_nb, read_ordered, read_strided_all, write_at_all, write_at_all_nb, write_ordered,
    write_strided_all,
};

use super::inter_host::FlatCall;
use super::nonblocking::{Group, Members, complete_file};
use crate::base::slab::Slab;
use crate::base::{Cause, Fault, report};
use crate::os::file as os;
use crate::os::own_fd::OwnFd;
use crate::request::Request;
use crate::team::contribution::Kind;
use crate::team::pe_list::PeList;
use crate::team::{Handle as Team, World};
use std::ffi::{CStr, CString, c_char};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Files that can be open at a time.
pub const FILES: usize = 1 << 12;

static OPEN: Slab<Arc<File>, FILES> = Slab::new();

/// `shmemx_file_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct FileHandle(usize);

impl FileHandle {
    /// `SHMEMX_FILE_INVALID`.
    pub const INVALID: Self = Self(0);
}

/// An open file, as one member sees it.
#[derive(Debug)]
struct File {
    fd: OwnFd,
    path: Arc<str>,
    /// Whose handler its errors are for.
    team: Team,
    pes: PeList,
    me: usize,
    /// Names the group in its messages.
    key: u64,
    /// Names the file among those that the group has opened.
    name: u64,
    /// Where the next ordered call begins. Members of one host have the first of them place all; only that one knows.
    position: AtomicI64,
}

impl File {
    /// What the system says of one of its bytes, or of all of it.
    fn fault(&self, what: &'static str, at: Option<u64>, error: i32, pe: Option<i32>) -> Fault {
        Fault::from(Cause::File { what, path: self.path.clone(), at, error, pe }).on_team(self.team.bits())
    }
}

/// Set in the keys of groups, which have nonblocking collectives beside calls on files.
const OF_FILES: u64 = 1 << 61;

#[inline]
#[allow(unsafe_code)]
fn get(handle: FileHandle) -> Result<Arc<File>, Fault> {
    // SAFETY: it is counted once more and not used beyond that. A program does not close a file that another thread is
    // just giving to a call.
    unsafe { OPEN.get(handle.0) }.cloned().ok_or_else(|| unknown(handle))
}

#[cold]
fn unknown(handle: FileHandle) -> Fault {
    Fault::from(Cause::BadFile { handle: handle.0, gone: OPEN.was_used(handle.0) })
}

/// Starts a collective call on a file.
fn start<F: Future<Output = Result<(), Fault>> + 'static>(
    w: &'static World,
    file: &File,
    steps: impl FnOnce(FlatCall<'static>) -> F,
) -> Result<Request, Fault> {
    FlatCall::begin(w, file.pes.clone(), file.me, file.key, false).start(steps)
}

/// Members that are in calls on different files.
#[cold]
fn mismatch(call: &str, path: &str, pe: i32) -> Fault {
    let mine = format!("{call} of {path:?}");
    Fault::from(Cause::Mismatch { mine, theirs: format!("{call} of another file, or with other arguments"), pe })
}

/// Checks that all members' first words are equal, where this member has them.
fn same(file: &File, call: &str, words: &[u64], count: usize) -> Result<(), Fault> {
    let mine = words.get(file.me * count).copied().unwrap_or_default();
    match words.chunks_exact(count).position(|theirs| theirs[0] != mine) {
        Some(other) => Err(mismatch(call, &file.path, file.pes.world(other))),
        None => Ok(()),
    }
}

/// Opens a file on all members of a team; gives 0, or negative for an invalid team. Where one member cannot open it,
/// no member does.
#[allow(unsafe_code)]
pub fn open(
    w: &'static World,
    team: Team,
    path: *const c_char,
    flags: i32,
    mode: i32,
    place: *mut FileHandle,
) -> Result<i32, Fault> {
    w.map.ready()?;
    for (arg, is_null, bytes) in [("path", path.is_null(), 1), ("file", place.is_null(), size_of::<FileHandle>())] {
        if is_null {
            return Err(Fault::from(Cause::Null { arg, bytes }));
        }
    }
    // SAFETY: not null; the caller vouches for a handle there.
    unsafe { place.write_unaligned(FileHandle::INVALID) };
    let Some(members) = Group::Team(team).members(w)? else { return Ok(report::no_team()) };
    let refused = [
        (os::ALL, "flags of open(2)"),
        (os::NAMED_ONLY, "flags without O_PATH, with which nothing can be read or written"),
        (os::APPEND, "flags without O_APPEND, with which offsets would be ignored"),
        (os::UNNAMED, "flags without O_TMPFILE, with which each member would have a file of its own"),
    ];
    if let Some((_, expected)) = refused.into_iter().find(|(flag, _)| flags & flag == *flag) {
        return Err(Fault::from(Cause::BadValue { arg: "flags", value: flags.into(), expected }));
    }
    // SAFETY: not null; the caller vouches for a string.
    let path = unsafe { CStr::from_ptr(path) }.to_owned();
    let file = Arc::new(open_together(w, team, members, path, (flags, mode as u32))?);
    let shown = file.path.clone();
    let full = || Fault::from(Cause::File { what: "open", path: shown, at: None, error: os::TOO_MANY, pe: None });
    let handle = OPEN.insert(file).ok_or_else(full)?;
    // SAFETY: as above.
    unsafe { place.write_unaligned(FileHandle(handle)) };
    Ok(0)
}

/// This member's own, and what lets the others open it after the first one.
fn open_here(path: &CStr, flags: i32, mode: u32, first: bool) -> Result<(OwnedFd, Option<os::OpenToOwner>), i32> {
    match first {
        _ if OPEN.is_full() => Err(os::TOO_MANY),
        true => os::open_first(path, flags, mode),
        false => os::open(path, flags & !os::FIRST, mode).map(|file| (file, None)),
    }
}

/// Member 0 opens a file first, and alone creates it or cuts it off. A mode by which the others could not open it so
/// is that of the file once they have.
fn open_together(
    w: &'static World,
    team: Team,
    members: Members,
    path: CString,
    (flags, mode): (i32, u32),
) -> Result<File, Fault> {
    let shown: Arc<str> = path.to_string_lossy().into();
    let mut hasher = DefaultHasher::new();
    (&path, flags).hash(&mut hasher);
    let name = hasher.finish();
    let Members { pes, me, key, .. } = members;
    let key = key ^ OF_FILES;
    let opened = Arc::new(Mutex::new(None));
    let (keep, group, text) = (opened.clone(), pes.clone(), shown.clone());
    let fault = move |member: usize, error: u64| {
        let pe = (member != me).then(|| group.world(member));
        Fault::from(Cause::File { what: "open", path: text.clone(), at: None, error: error as i32, pe })
    };
    let (group, text) = (pes.clone(), shown.clone());
    let call = FlatCall::begin(w, pes.clone(), me, key, false);
    let request = call.start(|call| {
        async move {
            let mut mine = (me == 0).then(|| open_here(&path, flags, mode, true));
            let error_of = |opened: &Option<Result<_, i32>>| match opened {
                Some(Err(error)) => *error as u64,
                _ => 0,
            };
            let first = call.words(0, Kind::FileOpen, &[name, error_of(&mine)]).await?;
            if let Some(other) = first.chunks_exact(2).position(|theirs| theirs[0] != name) {
                return Err(mismatch("shmemx_file_open", &text, group.world(other)));
            }
            if first[1] != 0 {
                return Err(fault(0, first[1]));
            }
            if me != 0 {
                mine = Some(open_here(&path, flags, mode, false));
            }
            let all = call.words(1, Kind::FileOpen, &[error_of(&mine)]).await?;
            // What this member itself was told comes first.
            let failed = (all[me] != 0).then_some(me).or_else(|| all.iter().position(|error| *error != 0));
            if let Some(member) = failed {
                return Err(fault(member, all[member]));
            }
            *keep.lock().unwrap_or_else(PoisonError::into_inner) = mine.and_then(Result::ok).map(|(file, _)| file);
            Ok(())
        }
    })?;
    complete_file(w, Ok(Some(request)))?;
    let fd = opened.lock().unwrap_or_else(PoisonError::into_inner).take();
    let fd = fd.ok_or_else(|| Fault::from(Cause::Startup("a file was opened, and is not there".into())))?;
    Ok(File { fd: OwnFd::new(fd), path: shown, team, pes, me, key, name, position: AtomicI64::new(0) })
}

/// Ends a file on all members. Operations that were begun with it go on.
pub fn close(w: &'static World, handle: FileHandle) -> Result<i32, Fault> {
    w.map.ready()?;
    let met = as_one(w, handle, Kind::FileClose, 0, |_, _, _| Ok(0));
    // Where a member is lost, each of the others ends it alone.
    if met.as_ref().err().is_none_or(Fault::is_loss) {
        OPEN.remove(handle.0);
    }
    met.map(|_| 0)
}

/// Has what all members have written reach the disk.
pub fn sync(w: &'static World, handle: FileHandle) -> Result<i32, Fault> {
    w.map.ready()?;
    // Each host has a memory of its own in front of the disk, if not of this file.
    let once_a_host = |w: &World, file: &File, _| match together::first_on_host(w, file) == file.me {
        true => os::sync(&file.fd).map(|()| 0),
        false => Ok(0),
    };
    as_one(w, handle, Kind::FileSync, 0, once_a_host).map(|_| 0)
}

/// Writes how many bytes a file has, as member 0 sees it, to `*size` of all members.
#[allow(unsafe_code)]
pub fn size(w: &'static World, handle: FileHandle, size: *mut i64) -> Result<i32, Fault> {
    w.map.ready()?;
    if size.is_null() {
        return Err(Fault::from(Cause::Null { arg: "size", bytes: size_of::<i64>() }));
    }
    let ask = |_: &World, file: &File, _| if file.me == 0 { os::size(&file.fd) } else { Ok(0) };
    let bytes = as_one(w, handle, Kind::FileSize, 0, ask)?;
    // SAFETY: not null; the caller vouches for a number there.
    unsafe { size.write_unaligned(bytes) };
    Ok(0)
}

/// The team that has opened a file; `None`: it is not open.
pub fn team(file: FileHandle) -> Option<Team> {
    get(file).ok().map(|file| file.team)
}

/// Gives a file as many bytes.
pub fn truncate(w: &'static World, handle: FileHandle, bytes: i64) -> Result<i32, Fault> {
    w.map.ready()?;
    if bytes < 0 {
        return Err(Fault::from(Cause::BadValue { arg: "size", value: bytes, expected: "a size of at least 0" }));
    }
    let cut = |_: &World, file: &File, bytes| match file.me {
        0 => os::truncate(&file.fd, bytes).map(|()| 0),
        _ => Ok(0),
    };
    as_one(w, handle, Kind::FileTruncate, bytes, cut).map(|_| 0)
}

/// Does something with a file, and the argument, once all members are in the call, and gives what it came to on member
/// 0. An error of one member is one of all.
fn as_one(
    w: &'static World,
    handle: FileHandle,
    kind: Kind,
    argument: i64,
    what: fn(&World, &File, i64) -> Result<i64, i32>,
) -> Result<i64, Fault> {
    let file = get(handle)?;
    let result = Arc::new(AtomicI64::new(0));
    let (answer, own) = (result.clone(), file.clone());
    let (routine, word) = match kind {
        Kind::FileClose => ("shmemx_file_close", "close"),
        Kind::FileSync => ("shmemx_file_sync", "sync"),
        Kind::FileSize => ("shmemx_file_size", "size"),
        _ => ("shmemx_file_truncate", "truncate"),
    };
    let request = start(w, &file, |call| async move {
        let name = own.name ^ (argument as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // What members have written before they came is there before anything is done.
        same(&own, routine, &call.words(0, kind, &[name]).await?, 1)?;
        let (value, error) = match what(w, &own, argument) {
            Ok(value) => (value, 0),
            Err(error) => (0, error as u64),
        };
        let all = call.words(1, kind, &[value as u64, error]).await?;
        let failed = |member: &usize| all[2 * member + 1] != 0;
        if let Some(member) = [own.me].into_iter().chain(0..own.pes.size()).find(failed) {
            let pe = (member != own.me).then(|| own.pes.world(member));
            return Err(own.fault(word, None, all[2 * member + 1] as i32, pe));
        }
        answer.store(all[0] as i64, Ordering::Relaxed);
        Ok(())
    })?;
    complete_file(w, Ok(Some(request)))?;
    Ok(result.load(Ordering::Relaxed))
}

/// Closes all files: what a program leaves open at its last finalize.
pub fn forget_all() {
    OPEN.clear();
}
