//! Reading and writing by one PE on its own.

use super::{File, FileHandle, background, get};
use crate::base::{Cause, Fault};
use crate::collectives::nonblocking::give;
use crate::memory::Map;
use crate::os::file::{self as os, Direction, Piece, TransferResult};
use crate::request::uses::{self, Access, Use};
use crate::request::{self, Request};
use crate::team::World;
use std::sync::Arc;

/// Symmetric memory of this PE, and where it goes in a file.
struct Own {
    at: *mut u8,
    bytes: usize,
    offset: i64,
}

// SAFETY: memory of the program's, which it leaves to the operation until that is complete.
#[allow(unsafe_code)]
unsafe impl Send for Own {}

impl Own {
    /// Checked.
    fn new(m: &Map, sym: *mut u8, bytes: usize, offset: i64) -> Result<Self, Fault> {
        check_offset(offset, bytes)?;
        if bytes > 0 {
            m.local("sym", sym, bytes)?;
        }
        Ok(Self { at: sym, bytes, offset })
    }

    #[allow(unsafe_code)]
    fn go(&self, file: &File, direction: Direction) -> TransferResult {
        let mut pieces = [Piece { iov_base: self.at.cast(), iov_len: self.bytes }];
        // SAFETY: checked symmetric memory, which is readable and writable.
        unsafe { os::transfer(&file.fd, direction, &mut pieces, self.offset) }
    }

    /// Bytes that were moved. A read may come to the end of the file.
    fn result(&self, file: &File, direction: Direction, moved: TransferResult) -> Result<usize, Fault> {
        match moved.error {
            0 => Ok(moved.bytes),
            error => Err(file.fault(direction.name(), Some(self.offset as u64 + moved.bytes as u64), error, None)),
        }
    }
}

/// A place in a file from which on there is room for some bytes.
pub(super) fn check_offset(offset: i64, bytes: usize) -> Result<(), Fault> {
    let end = i64::try_from(bytes).ok().and_then(|bytes| offset.checked_add(bytes));
    match end {
        Some(_) if offset >= 0 => Ok(()),
        None if offset >= 0 => {
            let expected = "no more than there is room for behind offset";
            Err(Fault::from(Cause::BadValue { arg: "bytes", value: bytes as i64, expected }))
        }
        _ => Err(Fault::from(Cause::BadValue { arg: "offset", value: offset, expected: "a place in a file" })),
    }
}

fn at(
    m: &Map,
    handle: FileHandle,
    sym: *mut u8,
    bytes: usize,
    offset: i64,
    direction: Direction,
) -> Result<isize, Fault> {
    m.ready()?;
    let file = get(handle)?;
    let own = Own::new(m, sym, bytes, offset)?;
    own.result(&file, direction, own.go(&file, direction)).map(|bytes| bytes as isize)
}

/// Reads at an offset, and gives how many bytes there were; fewer than asked for at the end of the file.
pub fn read_at(m: &Map, file: FileHandle, sym: *mut u8, bytes: usize, offset: i64) -> Result<isize, Fault> {
    at(m, file, sym, bytes, offset, Direction::Read)
}

/// Writes at an offset, and gives how many bytes were written: all.
pub fn write_at(m: &Map, file: FileHandle, sym: *mut u8, bytes: usize, offset: i64) -> Result<isize, Fault> {
    at(m, file, sym, bytes, offset, Direction::Write)
}

fn at_nb(
    w: &World,
    handle: FileHandle,
    (sym, bytes, offset): (*mut u8, usize, i64),
    direction: Direction,
    request: *mut Request,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let file: Arc<File> = get(handle)?;
    let own = Own::new(&w.map, sym, bytes, offset)?;
    let access = if direction == Direction::Read { Access::Write } else { Access::Read };
    let used = [Use { arg: "sym", pe: w.map.me, addr: sym.addr(), bytes, access }];
    if uses::are_kept() {
        uses::check(used.iter().copied())?;
    }
    let begun = request::start(|_, _| async move {
        let moved = {
            let file = file.clone();
            background::run(move || {
                let moved = own.go(&file, direction);
                (own, moved)
            })
        };
        let (own, moved) = moved.await;
        match own.result(&file, direction, moved)? {
            all if all == own.bytes => Ok(()),
            some => Err(super::together::short(&file, some as u64, own.bytes as u64)),
        }
    });
    let held = |begun| if uses::are_kept() { uses::hold(begun, &used, None, true) } else { begun };
    give(request, begun.map(held).map(Some))
}

/// Begins [`read_at`]; a read that comes to the end of the file is an error of its request.
pub fn read_at_nb(
    w: &World,
    file: FileHandle,
    sym: *mut u8,
    bytes: usize,
    offset: i64,
    request: *mut Request,
) -> Result<i32, Fault> {
    at_nb(w, file, (sym, bytes, offset), Direction::Read, request)
}

/// Begins [`write_at`].
pub fn write_at_nb(
    w: &World,
    file: FileHandle,
    sym: *mut u8,
    bytes: usize,
    offset: i64,
    request: *mut Request,
) -> Result<i32, Fault> {
    at_nb(w, file, (sym, bytes, offset), Direction::Write, request)
}
