//! Reading a trace directory. What is damaged is named, the rest is read.

mod decode;
mod head;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::format::{HEAD_BYTES, Reason};
use super::losses::Losses;
use crate::file::ReadError;
use crate::tables::TeamKey;

pub use head::TraceFileHeader;

/// A trace directory whose files are known.
#[derive(Debug)]
pub struct Trace {
    /// The files of one job, by PE and slot.
    pub files: Vec<TraceFile>,
    /// What could not be read.
    pub problems: Vec<ReadError>,
}

/// One file. Its events are read when they are wanted, so that one file is in memory at a time.
#[derive(Debug)]
pub struct TraceFile {
    /// Where it is.
    pub path: PathBuf,
    /// What its head says.
    pub facts: TraceFileHeader,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Begin in nanoseconds since the job's.
    pub start_ns: u64,
    /// End; that of a note is its begin.
    pub end_ns: u64,
    /// Thread id.
    pub thread: u32,
    /// What it is.
    pub what: What,
}

/// What an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A call.
    Call(Call),
    /// A call that never returned: its end is that of the PE. The last event of its thread.
    Unreturned(Call),
    /// Short calls between begin and end, folded.
    Calls(Calls),
    /// A region begins.
    RegionBegin(String),
    /// A region ends.
    RegionEnd(String),
    /// A marker with its value.
    Marker(String, i64),
}

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Operation id, in the table.
    pub op: u16,
    /// World number of the peer.
    pub peer: Option<u32>,
    /// Address argument, as the calling PE has it; 0 where the routine has none. Of a put with signal: the signal's.
    pub addr: u64,
    /// Bytes.
    pub bytes: u64,
    /// Its context, for routines that take one.
    pub context: Option<Arc<EventContext>>,
    /// Of a collective: the team or active set that it is on; `None` where that is not known.
    pub team: Option<TeamKey>,
    /// Of a collective with a root: the root's world number.
    pub root: Option<u32>,
    /// Where it returns to; `None` where that is not known.
    pub site: Option<Arc<EventSite>>,
}

/// Where a call returns to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventSite {
    /// The file that it is in.
    pub path: Arc<str>,
    /// The build id of that file when it was loaded; empty where it had none.
    pub build_id: Arc<str>,
    /// The address in that file.
    pub address: u64,
}

/// A context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventContext {
    /// Its handle; 1 is the default context.
    pub number: u64,
    /// Its team, for people; empty where it is not known.
    pub team: String,
}

/// Short calls of one routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    /// Operation id, in the table.
    pub op: u16,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl What {
    /// The call that this is, whether it returned or not.
    pub fn call(&self) -> Option<&Call> {
        match self {
            What::Call(call) | What::Unreturned(call) => Some(call),
            What::Calls(_) | What::RegionBegin(_) | What::RegionEnd(_) | What::Marker(..) => None,
        }
    }

    /// How many calls this is.
    pub fn calls(&self) -> u64 {
        match self {
            What::Call(_) | What::Unreturned(_) => 1,
            What::Calls(calls) => calls.count,
            What::RegionBegin(_) | What::RegionEnd(_) | What::Marker(..) => 0,
        }
    }
}

impl Trace {
    /// Finds the files of a trace. Where there are those of several jobs, the newest is taken and the others are
    /// problems.
    ///
    /// # Errors
    /// When there is nothing to read at all.
    pub fn open(dir: &Path) -> Result<Trace, ReadError> {
        match fs::metadata(dir) {
            Ok(facts) if !facts.is_dir() => return Err(ReadError::NotADirectory(dir.to_owned())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReadError::Missing(dir.to_owned())),
            Err(error) => return Err(ReadError::Io(dir.to_owned(), error)),
        }
        let (mut files, mut problems) = (Vec::new(), Vec::new());
        for path in paths(dir).map_err(|error| ReadError::Io(dir.to_owned(), error))? {
            match TraceFileHeader::read(&path) {
                Ok(facts) => {
                    if !facts.whole {
                        let what = "the checksum of the head differs: times, names and numbers may be wrong";
                        problems.push(ReadError::Damaged { path: path.clone(), range: 0..HEAD_BYTES as u64, what });
                    }
                    files.push(TraceFile { path, facts });
                }
                Err(problem) => problems.push(problem),
            }
        }
        if files.is_empty() {
            return Err(problems.into_iter().next().unwrap_or_else(|| ReadError::NotATrace(dir.to_owned())));
        }
        // What a damaged head says of its job does not count where there is another.
        let of_whole = files.iter().filter(|file| file.facts.whole).map(|file| file.facts.job()).max();
        let newest = of_whole.or_else(|| files.iter().map(|file| file.facts.job()).max());
        files.retain(|file| {
            let same = Some(file.facts.job()) == newest;
            if !same {
                let what = "belongs to another job than the newest file here".to_owned();
                problems.push(ReadError::Corrupt { path: file.path.clone(), offset: 0, what });
            }
            same
        });
        files.sort_by_key(|file| (file.facts.pe, file.facts.slot));
        Ok(Trace { files, problems })
    }

    /// Why files could not grow as far as they might have: the first error number that one tells.
    pub fn error(&self) -> Option<io::Error> {
        let number = self.files.iter().map(|file| file.facts.error).find(|&error| error != 0)?;
        Some(io::Error::from_raw_os_error(number as i32))
    }

    /// Events that are not there, whatever the reason.
    pub fn dropped(&self) -> u64 {
        self.files.iter().map(|file| file.facts.dropped).fold(0, u64::saturating_add)
    }

    /// The same by reason.
    pub fn losses(&self) -> Losses {
        let lost = |reason: Reason| {
            self.files.iter().map(|file| file.facts.lost[reason as usize]).fold(0, u64::saturating_add)
        };
        let [interrupted, no_slot, no_file] = [Reason::Interrupted, Reason::NoSlot, Reason::NoFile].map(lost);
        let others = interrupted.saturating_add(no_slot).saturating_add(no_file);
        let room = self.dropped().saturating_sub(others);
        Losses { room, error: self.error(), interrupted, no_slot, no_file }
    }

    /// PEs with a file that they have not closed, as those that were killed: of their short calls after the last event
    /// nothing is known.
    pub fn open_ended(&self) -> Vec<u32> {
        let mut pes: Vec<u32> = self.files.iter().filter(|f| f.facts.is_open_ended).map(|f| f.facts.pe).collect();
        pes.dedup();
        pes
    }

    /// Calls `visit` with every event, file by file, each file in the order of time.
    pub fn for_each(&self, problems: &mut Vec<ReadError>, mut visit: impl FnMut(&TraceFile, &Event)) {
        for file in &self.files {
            file.for_each(problems, |event| visit(file, event));
        }
    }
}

/// The trace files of a directory, by name.
pub(super) fn paths(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("pe-") && name.ends_with(".trace") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
