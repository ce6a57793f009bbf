//! Reading bytes with a position to name when they are wrong.

use std::path::Path;

use super::ReadError;

/// A part of a file, read from front to back.
pub(crate) struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    base: usize,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(path: &'a Path, bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { path, bytes, base: 0, at: 0 }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(crate) fn take(&mut self, count: usize, wanted: &'static str) -> Result<&'a [u8], ReadError> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => Err(ReadError::Truncated {
                path: self.path.to_owned(),
                offset: (self.base + self.bytes.len()) as u64,
                wanted,
            }),
        }
    }

    /// The next `count` bytes as a part of its own.
    pub(crate) fn part(&mut self, count: usize, wanted: &'static str) -> Result<Cursor<'a>, ReadError> {
        let base = self.base + self.at;
        Ok(Cursor { path: self.path, bytes: self.take(count, wanted)?, base, at: 0 })
    }

    pub(crate) fn u8(&mut self, wanted: &'static str) -> Result<u8, ReadError> {
        Ok(self.take(1, wanted)?[0])
    }

    pub(crate) fn u32(&mut self, wanted: &'static str) -> Result<u32, ReadError> {
        let mut value = [0; 4];
        value.copy_from_slice(self.take(4, wanted)?);
        Ok(u32::from_le_bytes(value))
    }

    pub(crate) fn u64(&mut self, wanted: &'static str) -> Result<u64, ReadError> {
        let mut value = [0; 8];
        value.copy_from_slice(self.take(8, wanted)?);
        Ok(u64::from_le_bytes(value))
    }

    pub(crate) fn text(&mut self, wanted: &'static str) -> Result<String, ReadError> {
        self.str(wanted).map(str::to_owned)
    }

    /// Text where it is, without a copy.
    pub(crate) fn str(&mut self, wanted: &'static str) -> Result<&'a str, ReadError> {
        let length = self.u32(wanted)? as usize;
        let bytes = self.take(length, wanted)?;
        str::from_utf8(bytes).map_err(|_| self.corrupt(format!("{wanted} is not UTF-8")))
    }

    pub(crate) fn option(&mut self, wanted: &'static str) -> Result<Option<u64>, ReadError> {
        let is_some = self.u8(wanted)? != 0;
        let value = self.u64(wanted)?;
        Ok(is_some.then_some(value))
    }

    /// The bytes between two offsets of this part.
    pub(crate) fn slice(&self, begin: usize, end: usize) -> &'a [u8] {
        self.bytes.get(begin..end).unwrap_or_default()
    }

    /// Offset in this part.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn corrupt(&self, what: String) -> ReadError {
        self.corrupt_at(self.at, what)
    }

    pub(crate) fn corrupt_at(&self, position: usize, what: String) -> ReadError {
        ReadError::Corrupt { path: self.path.to_owned(), offset: (self.base + position) as u64, what }
    }
}
