//! Standard input for both runs: what comes only once is kept while the first run reads it.

use crate::sys::epoll::{Epoll, Interest};
use crate::sys::file;
use pellucid_core::os::mmap;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;

/// Tokens of what is waited for.
const END: u64 = 0;
const SOURCE: u64 = 1;
const ROOM: u64 = 2;

/// Where a run reads from.
pub enum Input {
    /// A terminal, which is asked again, or a device that has nothing, or has no end.
    Device,
    /// A file, and the place from which each run reads it.
    File(File, u64),
    /// A pipe or a socket.
    Once(Stream),
}

/// What comes only once.
pub struct Stream {
    source: File,
    /// What was read of it.
    kept: File,
    /// To the first run.
    pipe: Option<PipeWriter>,
    /// There was a first run.
    is_read: bool,
}

impl Input {
    /// Standard input of this process.
    ///
    /// # Errors
    /// Those of the system: there is no memory for what is to be kept.
    pub fn new() -> io::Result<Self> {
        let mut source = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let kind = source.metadata()?.file_type();
        if kind.is_file() {
            let begin = source.stream_position()?;
            return Ok(Self::File(source, begin));
        }
        if !kind.is_fifo() && !kind.is_socket() {
            return Ok(Self::Device);
        }
        let kept = mmap::memfd(c"oshrun-input").map_err(|fault| io::Error::other(fault.to_string()))?;
        mmap::close_on_exec(&kept);
        Ok(Self::Once(Stream { source, kept: kept.into(), pipe: None, is_read: false }))
    }

    /// What the next run is to have as its standard input; `None`: that of this process.
    pub fn open(&mut self) -> io::Result<Option<OwnedFd>> {
        match self {
            Self::Device => Ok(None),
            Self::File(file, begin) => file.seek(SeekFrom::Start(*begin)).map(|_| None),
            Self::Once(stream) if stream.is_read => {
                stream.kept.rewind()?;
                stream.kept.try_clone().map(|kept| Some(kept.into()))
            }
            Self::Once(stream) => {
                let (reader, writer) = io::pipe()?;
                file::set_nonblocking(&writer)?;
                (stream.pipe, stream.is_read) = (Some(writer), true);
                Ok(Some(reader.into()))
            }
        }
    }

    /// In the process of a run: what feeds it is another one's.
    pub fn leave_to_parent(&mut self) {
        if let Self::Once(stream) = self {
            stream.pipe = None;
        }
    }

    /// Passes on what comes, and keeps it, until there is no more or something comes from `run`, as its end does.
    pub fn feed(&mut self, run: &PipeReader) -> io::Result<()> {
        let Self::Once(Stream { source, kept, pipe, .. }) = self else { return Ok(()) };
        pipe.take().map_or(Ok(()), |pipe| feed(source, kept, pipe, run))
    }
}

fn feed(source: &mut File, kept: &mut File, mut pipe: PipeWriter, run: &PipeReader) -> io::Result<()> {
    let (epoll, mut pending, mut buffer) = (Epoll::new()?, Vec::new(), [0; 1 << 16]);
    epoll.add(run, END, Interest::Read)?;
    loop {
        let (token, interest) = if pending.is_empty() { (SOURCE, Interest::Read) } else { (ROOM, Interest::Write) };
        let next: &dyn AsRawFd = if token == SOURCE { source } else { &pipe };
        let next = next.as_raw_fd();
        epoll.add(&next, token, interest)?;
        let ready = epoll.wait(None)?;
        epoll.remove(&next);
        if ready.contains(&END) {
            return Ok(());
        }
        if ready.contains(&SOURCE) {
            let count = source.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            kept.write_all(&buffer[..count])?;
            pending.extend_from_slice(&buffer[..count]);
        }
        if ready.contains(&ROOM) {
            match pipe.write(&pending) {
                Ok(count) => drop(pending.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Nobody reads any more.
                Err(_) => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_once_is_there_twice() {
        // More than a pipe has room for.
        let text = b"line\n".repeat(50_000);
        let (source, mut writer) = io::pipe().unwrap();
        let kept: File = mmap::memfd(c"test").unwrap().into();
        let source = File::from(OwnedFd::from(source));
        let mut input = Input::Once(Stream { source, kept, pipe: None, is_read: false });
        let (end, _run) = io::pipe().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| writer.write_all(&text).map(|()| drop(writer)));
            let mut first = File::from(input.open().unwrap().unwrap());
            let reader = scope.spawn(move || {
                let mut read = Vec::new();
                first.read_to_end(&mut read).map(|_| read)
            });
            input.feed(&end).unwrap();
            assert!(reader.join().unwrap().unwrap() == text);
        });
        let mut second = Vec::new();
        File::from(input.open().unwrap().unwrap()).read_to_end(&mut second).unwrap();
        assert!(second == text);
    }

    #[test]
    fn a_run_that_ends_needs_no_more() {
        let (source, _open) = io::pipe().unwrap();
        let kept: File = mmap::memfd(c"test").unwrap().into();
        let source = File::from(OwnedFd::from(source));
        let mut input = Input::Once(Stream { source, kept, pipe: None, is_read: false });
        let _first = input.open().unwrap();
        let (end, run) = io::pipe().unwrap();
        drop(run);
        input.feed(&end).unwrap();
    }
}
