//! Files that programs share: opened by a path, read and written at offsets from several pieces of memory at once.
#![allow(unsafe_code)]

use super::standard;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Pieces that one system call takes: `IOV_MAX`.
pub const PIECES: usize = 1024;

/// A piece of memory.
pub type Piece = libc::iovec;

/// `O_APPEND`, with which the system ignores the offset of a write.
pub const APPEND: i32 = libc::O_APPEND;
/// `O_TMPFILE`: a file without a name, which nobody else can open.
pub const UNNAMED: i32 = libc::O_TMPFILE;
/// `O_PATH`: a file that can be named, not read or written.
pub const NAMED_ONLY: i32 = libc::O_PATH;
/// All bits: no flags at all.
pub const ALL: i32 = -1;
/// The error of a process that has no room for one more.
pub const TOO_MANY: i32 = libc::EMFILE;
/// Flags for the one process that opens a file first.
pub const FIRST: i32 = libc::O_CREAT | libc::O_EXCL | libc::O_TRUNC;

/// Whether bytes come or go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

impl Direction {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// What became of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransferResult {
    /// Bytes, from the first on.
    pub bytes: usize,
    /// Error of the system; 0: none, and where bytes are missing the file has come to its end.
    pub error: i32,
}

fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Opens a file. Error: of the system.
pub fn open(path: &CStr, flags: i32, mode: u32) -> Result<OwnedFd, i32> {
    loop {
        // SAFETY: a C string.
        let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) };
        match fd {
            // SAFETY: just opened, and nobody else's.
            0.. => return Ok(standard::above(unsafe { OwnedFd::from_raw_fd(fd) })),
            _ if last_error() == libc::EINTR => {}
            _ => return Err(last_error()),
        }
    }
}

/// A file that was made with a mode by which its owner could not open it once more, and can until this is dropped.
#[derive(Debug)]
pub struct OpenToOwner {
    fd: OwnedFd,
    mode: libc::mode_t,
}

impl Drop for OpenToOwner {
    fn drop(&mut self) {
        // There is nobody to tell should the system refuse: it has done the same before.
        // SAFETY: a descriptor of this process.
        unsafe { libc::fchmod(self.fd.as_raw_fd(), self.mode) };
    }
}

/// As [`open`], where other processes of the same user open the file after this one in the same way: where this one
/// makes it, they can, whatever its mode, as long as the second result is kept. Error: of the system.
pub fn open_first(path: &CStr, flags: i32, mode: u32) -> Result<(OwnedFd, Option<OpenToOwner>), i32> {
    let needed = match flags & libc::O_ACCMODE {
        libc::O_RDONLY => libc::S_IRUSR,
        libc::O_WRONLY => libc::S_IWUSR,
        _ => libc::S_IRUSR | libc::S_IWUSR,
    };
    if flags & libc::O_CREAT == 0 || mode & needed == needed {
        return Ok((open(path, flags, mode)?, None));
    }
    // One that is there already keeps its mode.
    let fd = match open(path, flags | libc::O_EXCL, mode) {
        Err(libc::EEXIST) => return Ok((open(path, flags, mode)?, None)),
        made => made?,
    };
    // Without what the process's mask takes away.
    let mode = about(&fd)?.st_mode & 0o7777;
    let opened = OpenToOwner { fd: fd.try_clone().map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?, mode };
    // SAFETY: a descriptor of this process.
    match unsafe { libc::fchmod(fd.as_raw_fd(), mode | needed) } {
        0 => Ok((fd, Some(opened))),
        _ => Err(last_error()),
    }
}

fn about(fd: &impl AsRawFd) -> Result<libc::stat, i32> {
    // SAFETY: all zeros are a value of it, and it is filled in below.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a descriptor of this process, and room for the answer.
    match unsafe { libc::fstat(fd.as_raw_fd(), &raw mut about) } {
        0 => Ok(about),
        _ => Err(last_error()),
    }
}

/// Bytes of a file. Error: of the system.
pub fn size(fd: &impl AsRawFd) -> Result<i64, i32> {
    about(fd).map(|about| about.st_size)
}

/// Has everything that was written reach the disk. Error: of the system.
pub fn sync(fd: &impl AsRawFd) -> Result<(), i32> {
    // SAFETY: a descriptor of this process.
    unless_interrupted(|| (unsafe { libc::fsync(fd.as_raw_fd()) }, last_error()))
}

/// Cuts a file off, or has it go on as a hole. Error: of the system.
pub fn truncate(fd: &impl AsRawFd, bytes: i64) -> Result<(), i32> {
    // SAFETY: a descriptor of this process.
    unless_interrupted(|| without_signal(|| unsafe { libc::ftruncate(fd.as_raw_fd(), bytes) }))
}

/// A call of the system that makes a file larger, and its error: at the limit of the size of files (`ulimit -f`) that
/// is all it gives, and no SIGXFSZ, which would end the process.
fn without_signal<T>(call: impl FnOnce() -> T) -> (T, i32) {
    // SAFETY: zeros are a set to be overwritten; the sets and the time are valid places, and the mask of the thread
    // is what it was before in the end.
    unsafe {
        let (mut limit, mut before, mut pending): (libc::sigset_t, libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&raw mut limit);
        libc::sigaddset(&raw mut limit, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const limit, &raw mut before);
        libc::sigpending(&raw mut pending);
        let was_pending = libc::sigismember(&raw const pending, libc::SIGXFSZ) == 1;
        let done = call();
        let error = last_error();
        if error == libc::EFBIG && !was_pending {
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&raw const limit, std::ptr::null_mut(), &raw const now);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        (done, error)
    }
}

/// `call` gives what the system does, and its error.
fn unless_interrupted(mut call: impl FnMut() -> (i32, i32)) -> Result<(), i32> {
    loop {
        match call() {
            (0, _) => return Ok(()),
            (_, libc::EINTR) => {}
            (_, error) => return Err(error),
        }
    }
}

/// Moves the bytes of pieces, one behind the other, from or to an offset, until all are there, the file has come to its
/// end, or the system refuses. The pieces are used up.
///
/// # Safety
/// The pieces are readable, and writable where bytes come; memory that is not mapped is an error of the system.
pub unsafe fn transfer(
    fd: &impl AsRawFd,
    direction: Direction,
    mut pieces: &mut [Piece],
    offset: i64,
) -> TransferResult {
    let mut moved = TransferResult::default();
    loop {
        while pieces.first().is_some_and(|piece| piece.iov_len == 0) {
            pieces = &mut pieces[1..];
        }
        if pieces.is_empty() {
            return moved;
        }
        let (first, count) = (pieces.as_ptr(), pieces.len().min(PIECES) as i32);
        let at = offset.wrapping_add(moved.bytes as i64);
        let (done, error) = match direction {
            // SAFETY: `count` pieces, which are as the caller says.
            Direction::Read => (unsafe { libc::preadv(fd.as_raw_fd(), first, count, at) }, last_error()),
            // SAFETY: as above.
            Direction::Write => without_signal(|| unsafe { libc::pwritev(fd.as_raw_fd(), first, count, at) }),
        };
        match usize::try_from(done) {
            Ok(0) => {
                // A write that moves nothing and gives no reason would go on for ever.
                moved.error = if direction == Direction::Write { libc::EIO } else { 0 };
                return moved;
            }
            Ok(done) => {
                moved.bytes += done;
                skip(pieces, done);
            }
            Err(_) if error == libc::EINTR => {}
            Err(_) => {
                moved.error = error;
                return moved;
            }
        }
    }
}

/// Takes bytes away from the front of pieces.
fn skip(pieces: &mut [Piece], mut bytes: usize) {
    for piece in pieces {
        let from_it = bytes.min(piece.iov_len);
        piece.iov_base = piece.iov_base.wrapping_byte_add(from_it);
        piece.iov_len -= from_it;
        bytes -= from_it;
        if bytes == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    fn piece(bytes: &mut [u8]) -> Piece {
        Piece { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
    }

    #[test]
    fn pieces_go_and_come_back_and_the_end_is_seen() {
        let path = std::env::temp_dir().join(format!("pellucid-file-{}", std::process::id()));
        let name = CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        let fd = open(&name, libc::O_RDWR | FIRST, 0o600).unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut all: Vec<u8> = (0..3000_u32).map(|i| i as u8).collect();
        let mut pieces: Vec<Piece> = all.chunks_mut(2).map(piece).collect();
        // SAFETY: pieces of a vector.
        let moved = unsafe { transfer(&fd, Direction::Write, &mut pieces, 5) };
        assert_eq!(moved, TransferResult { bytes: 3000, error: 0 });
        assert_eq!(size(&fd), Ok(3005));
        let mut back = vec![0; 4000];
        // SAFETY: as above.
        let moved = unsafe { transfer(&fd, Direction::Read, &mut [piece(&mut back)], 5) };
        assert_eq!(moved, TransferResult { bytes: 3000, error: 0 });
        assert_eq!(back[..3000], all);
        assert_eq!(truncate(&fd, 1), Ok(()));
        // SAFETY: as above.
        assert_eq!(unsafe { transfer(&fd, Direction::Read, &mut [piece(&mut back)], 5) }, TransferResult::default());
    }

    #[test]
    fn a_full_device_is_an_error() {
        let fd = open(c"/dev/full", libc::O_WRONLY, 0).unwrap();
        // SAFETY: a piece of an array.
        let moved = unsafe { transfer(&fd, Direction::Write, &mut [piece(&mut [1; 8])], 0) };
        assert_eq!(moved, TransferResult { bytes: 0, error: libc::ENOSPC });
        assert_eq!(open(c"/nowhere/at/all", libc::O_RDONLY, 0).unwrap_err(), libc::ENOENT);
    }
}
