//! Bringing the PEs' profiles and traces to the head: in pieces, one file in memory at a time. No file system is
//! shared.

use super::message::ToHead;
use super::pack::Bytes;
use pellucid_profile::file;
use pellucid_profile::model::{Pe, Profile};
use pellucid_profile::output::{OutputDir, no_room};
use pellucid_profile::text::visible_path;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of a piece.
const PIECE: usize = 256 << 10;
/// Bytes that a PE's profile may have: some MiB are usual.
const LARGEST: usize = 1 << 30;

/// A daemon's side: what is left to be sent.
#[derive(Default)]
pub struct Sender {
    /// To be sent before the profiles.
    transport: Option<String>,
    pes: VecDeque<Pe>,
    /// Number of the snapshot; 0: the end of the job.
    snapshot: u32,
    profile: Option<(u32, Vec<u8>, usize)>,
    files: VecDeque<PathBuf>,
    file: Option<(String, fs::File)>,
}

impl Sender {
    /// Profiles of this host's PEs, and files of a trace.
    pub fn new(profile: Profile, snapshot: u32, files: Vec<PathBuf>) -> Self {
        let transport = Some(profile.job.transport).filter(|name| !name.is_empty());
        Self { transport, pes: profile.pes.into(), snapshot, files: files.into(), ..Self::default() }
    }

    /// The next piece; `None`: all is sent. Error: a file that cannot be read is left out.
    pub fn next(&mut self) -> Result<Option<ToHead>, String> {
        if let Some(name) = self.transport.take() {
            return Ok(Some(ToHead::Transport { name }));
        }
        if self.profile.is_none()
            && let Some(pe) = self.pes.pop_front()
        {
            self.profile = Some((pe.pe, file::encode_pe(&pe), 0));
        }
        if let Some((pe, bytes, sent)) = &mut self.profile {
            let end = bytes.len().min(*sent + PIECE);
            let (pe, last, piece) = (*pe, end == bytes.len(), Bytes(bytes[*sent..end].to_vec()));
            *sent = end;
            if last {
                self.profile = None;
            }
            return Ok(Some(ToHead::Profile { pe, snapshot: self.snapshot, bytes: piece, last }));
        }
        self.next_of_files()
    }

    fn next_of_files(&mut self) -> Result<Option<ToHead>, String> {
        loop {
            if self.file.is_none() {
                let Some(path) = self.files.pop_front() else { return Ok(None) };
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                self.file =
                    Some((name, fs::File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?));
            }
            let Some((name, file)) = &mut self.file else { continue };
            let mut piece = vec![0; PIECE];
            match file.read(&mut piece) {
                Ok(0) => self.file = None,
                Ok(count) => {
                    piece.truncate(count);
                    return Ok(Some(ToHead::Trace { name: name.clone(), bytes: Bytes(piece) }));
                }
                Err(error) => {
                    let problem = format!("{name}: {error}");
                    self.file = None;
                    return Err(problem);
                }
            }
        }
    }
}

/// A file of the trace.
#[derive(Clone, Copy)]
enum File {
    Begun,
    Broken,
}

/// The head's side.
#[derive(Default)]
pub struct Receiver {
    begun: HashMap<u32, Vec<u8>>,
    files: HashMap<String, File>,
    /// The transport of the job, as a host has said.
    pub transport: String,
    /// What is there, by PE: the newest of each.
    pub pes: BTreeMap<u32, Pe>,
    /// Hosts whose numbers so far are here and not written, with the number of the snapshot.
    pub snapshots: Vec<(usize, u32)>,
}

impl Receiver {
    /// A piece of a profile. Error: it makes no sense.
    pub fn profile(&mut self, pe: u32, piece: &[u8], last: bool) -> Result<Option<&mut Pe>, String> {
        let bytes = self.begun.entry(pe).or_default();
        if bytes.len() + piece.len() > LARGEST {
            self.begun.remove(&pe);
            return Err(format!("the profile of PE {pe} is larger than {LARGEST} bytes"));
        }
        bytes.extend_from_slice(piece);
        if !last {
            return Ok(None);
        }
        let bytes = self.begun.remove(&pe).unwrap_or_default();
        let decoded = file::decode_pe(&bytes, pe)?;
        self.pes.insert(pe, decoded);
        Ok(self.pes.get_mut(&pe))
    }

    /// Appends a piece to a file of the trace. Error: for people; of a file that cannot be written, the first only.
    pub fn trace(&mut self, directory: &OutputDir, name: &str, piece: &[u8]) -> Result<(), String> {
        // Only names that a daemon has reason to send: none leads out of the directory.
        let fits = name.strip_prefix("pe-").and_then(|name| name.strip_suffix(".trace"));
        if fits.is_none_or(|inner| inner.contains(|c: char| !c.is_ascii_digit() && c != '-')) {
            return Err(format!("{name:?} is no file of a trace"));
        }
        let known = self.files.get(name).copied();
        let written = match known {
            Some(File::Broken) => return Ok(()),
            Some(File::Begun) => directory.open(name, true),
            None => directory.create(name),
        };
        let written = written.and_then(|mut file| {
            file.seek(SeekFrom::End(0))?;
            file.write_all(piece)
        });
        self.files.insert(name.to_owned(), if written.is_ok() { File::Begun } else { File::Broken });
        written.map_err(|error| {
            let path = visible_path(&directory.path().join(name));
            format!("cannot write {path}: {}", no_room(&error))
        })
    }
}

/// The files of a trace.
pub fn trace_files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "trace"))
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_profile::model::Job;

    #[test]
    fn profiles_and_files_arrive() {
        let folder = std::env::temp_dir().join(format!("oshrun-gather-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(&from).unwrap();
        let to = OutputDir::take(&to).unwrap();
        let contents: Vec<u8> = (0..PIECE + 77).map(|i| i as u8).collect();
        fs::write(from.join("pe-00003-000.trace"), &contents).unwrap();
        fs::write(from.join("pe-00003-001.trace"), b"").unwrap();
        fs::write(from.join("other"), b"x").unwrap();
        let pes = [3, 4].map(|pe| Pe { pe, host: "h".repeat(PIECE), ..Pe::default() });
        let job = Job { transport: "memory".into(), ..Job::default() };
        let mut sender = Sender::new(Profile { job, pes: pes.to_vec() }, 0, trace_files(&from));
        let mut receiver = Receiver::default();
        while let Some(message) = sender.next().unwrap() {
            match message {
                ToHead::Profile { pe, bytes, last, .. } => drop(receiver.profile(pe, &bytes.0, last).unwrap()),
                ToHead::Trace { name, bytes } => receiver.trace(&to, &name, &bytes.0).unwrap(),
                ToHead::Transport { name } => receiver.transport = name,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(receiver.transport, "memory");
        assert_eq!(receiver.pes.keys().copied().collect::<Vec<_>>(), [3, 4]);
        assert_eq!(receiver.pes[&4].host.len(), PIECE);
        assert_eq!(fs::read(to.path().join("pe-00003-000.trace")).unwrap(), contents);
        for name in ["../pe-1.trace", "pe-../x.trace", "pe-1", "x.trace", ""] {
            assert!(receiver.trace(&to, name, b"x").is_err(), "{name}");
        }
        // What is there already is not ours, be it a link to somewhere else.
        std::os::unix::fs::symlink("/etc/hostname", to.path().join("pe-00009-000.trace")).unwrap();
        assert!(receiver.trace(&to, "pe-00009-000.trace", b"x").unwrap_err().contains("File exists"));
        assert!(receiver.trace(&to, "pe-00009-000.trace", b"x").is_ok(), "said once");
        assert!(receiver.profile(9, b"nonsense", true).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
