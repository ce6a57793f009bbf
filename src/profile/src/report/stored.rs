//! Source lines that stay with a profile: they are found when its job ends, or by the first report on it, and kept in
//! its directory. A program that is built anew, or gone, since then does not change what the profile says.
//!
//! The file is one JSON object: `format` (`"pellucid-lines"`), `version` (1) and `files`, an array of `{file, build_id,
//! places, objects}`. `places` are `{address, frames}`, a frame `{function, file, line}`; `objects` are `{address,
//! name, within}`. Addresses are those of the file, and of calls themselves.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::build_id::build_id;
use super::{Frame, Symbols, ask_all, script_line};
use crate::merge::Merged;
use crate::output::OutputDir;
use crate::text::{path_of, path_text, visible, visible_path};

/// Name of the file in a profile's directory.
const FILE: &str = "lines.json";
const FORMAT: &str = "pellucid-lines";
const VERSION: u64 = 1;

/// What is known of an executable or a library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    build_id: String,
    places: BTreeMap<u64, Vec<Frame>>,
    objects: BTreeMap<u64, (String, u64)>,
}

/// By path.
type Files = BTreeMap<String, Known>;

/// What is stored with a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stored {
    /// Nothing.
    None,
    /// Lines of these files.
    Files(Files),
    /// A file that was cut off or changed, and why it cannot be read: its lines are lost.
    Damaged(String),
    /// A file that somebody else may be able to read, and why it cannot be read here.
    Closed(String),
}

/// Whether a file is the one that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Same,
    Rebuilt,
    Gone,
}

/// The source lines of one profile: from debug information where the file is the one that ran, else those that were
/// stored.
pub struct Lines<'r> {
    live: &'r dyn Symbols,
    dir: PathBuf,
    started_ns: u64,
    builds: BTreeMap<String, String>,
    stored: Stored,
    states: RefCell<HashMap<String, State>>,
    /// What was found in files that are the ones that ran.
    found: RefCell<Files>,
    notes: Vec<String>,
    /// Those of the notes that tell of lines which are not known.
    lost: Vec<String>,
}

impl<'r> Lines<'r> {
    /// Those of the profile in `dir`. `live` reads debug information.
    pub fn open(live: &'r dyn Symbols, profile: &Merged, dir: &Path) -> Lines<'r> {
        let builds: BTreeMap<String, String> = profile.builds.iter().cloned().collect();
        let mut lines = Lines {
            live,
            dir: dir.to_owned(),
            started_ns: profile.job.start_realtime_ns,
            stored: read(&dir.join(FILE)),
            builds,
            states: RefCell::default(),
            found: RefCell::default(),
            notes: Vec::new(),
            lost: Vec::new(),
        };
        if let Stored::Damaged(why) | Stored::Closed(why) = &lines.stored {
            lines.lost.push(format!("{FILE} cannot be read: {why}"));
        }
        let mut paths: Vec<&str> = profile.sites.iter().filter_map(|row| row.place()).map(|(path, _)| path).collect();
        paths.dedup();
        lines.notes = lines.lost.clone();
        let notes: Vec<(String, bool)> = paths.into_iter().filter_map(|path| lines.note(path)).collect();
        for (note, is_lost) in notes {
            lines.notes.push(note.clone());
            lines.lost.extend(is_lost.then_some(note));
        }
        lines
    }

    /// What keeps lines of the profile from being known: a comparison with a profile that has them is not by site.
    pub fn lost(&self) -> &[String] {
        &self.lost
    }

    /// Keeps the lines of the whole profile in its directory, unless there are some already, its job still runs, or the
    /// directory is not this user's: a report is no worse for it.
    pub fn keep_first(&self, profile: &Merged) {
        if matches!(self.stored, Stored::None | Stored::Damaged(_)) && !OutputDir::is_claimed(&self.dir) {
            let _ = self.keep(profile);
        }
    }

    /// Keeps the lines of the whole profile in its directory.
    ///
    /// # Errors
    /// What could not be written.
    pub fn keep(&self, profile: &Merged) -> Result<(), String> {
        ask_all(profile, self);
        let found = self.found.borrow();
        if found.values().all(|known| known.places.is_empty() && known.objects.is_empty()) {
            return Ok(());
        }
        let dir = OutputDir::own(&self.dir).map_err(|error| error.to_string())?;
        let written = dir.replace(FILE, format!("{}\n", as_json(&found)).as_bytes());
        written.map_err(|error: io::Error| format!("{}: {error}", visible_path(&self.dir.join(FILE))))
    }

    /// What is stored of a file, if it is of the build that ran.
    fn stored_of(&self, path: &str) -> Option<&Known> {
        let recorded = self.builds.get(path).map_or("", String::as_str);
        let Stored::Files(files) = &self.stored else { return None };
        files.get(path).filter(|known| known.build_id == recorded)
    }

    fn state(&self, path: &str) -> State {
        if let Some(state) = self.states.borrow().get(path) {
            return *state;
        }
        let recorded = self.builds.get(path).map_or("", String::as_str);
        let state = state_of(&path_of(path), recorded, self.started_ns);
        self.states.borrow_mut().insert(path.to_owned(), state);
        state
    }

    /// What a reader has to know of the lines of a file, and whether they are not known.
    fn note(&self, path: &str) -> Option<(String, bool)> {
        let what = match self.state(path) {
            State::Same => return None,
            State::Rebuilt => "was rebuilt since this run",
            State::Gone => "is gone",
        };
        let known = self.stored_of(path).is_some_and(|known| !known.places.is_empty());
        let lines = if known { "; lines are those stored then" } else { ", and its lines were not stored" };
        Some((format!("{} {what}{lines}", near(path)), !known))
    }

    fn keep_in_mind(&self, path: &str, keep: impl FnOnce(&mut Known)) {
        let mut found = self.found.borrow_mut();
        let known = found.entry(path.to_owned()).or_default();
        known.build_id = self.builds.get(path).cloned().unwrap_or_default();
        keep(known);
    }
}

impl Symbols for Lines<'_> {
    fn frames(&self, path: &str, address: u64) -> Vec<Frame> {
        // A script that was changed, or is gone, does not change which line it was.
        if let Some(line) = script_line(path, address) {
            return vec![line];
        }
        let stored = || self.stored_of(path).and_then(|known| known.places.get(&address)).cloned().unwrap_or_default();
        if self.state(path) != State::Same {
            return stored();
        }
        let frames = self.live.frames(path, address);
        if frames.is_empty() {
            return stored();
        }
        self.keep_in_mind(path, |known| _ = known.places.insert(address, frames.clone()));
        frames
    }

    fn object(&self, path: &str, address: u64) -> Option<(String, u64)> {
        if self.state(path) != State::Same {
            return self.stored_of(path)?.objects.get(&address).cloned();
        }
        let object = self.live.object(path, address)?;
        self.keep_in_mind(path, |known| _ = known.objects.insert(address, object.clone()));
        Some(object)
    }

    fn is_what_ran(&self, path: &str) -> bool {
        self.state(path) == State::Same
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// A file whose build id is not known is the one that ran if it is older than the job.
fn state_of(path: &Path, recorded: &str, started_ns: u64) -> State {
    let Ok(facts) = path.metadata() else { return State::Gone };
    if !recorded.is_empty()
        && let Some(id) = build_id(path)
    {
        return if id == recorded { State::Same } else { State::Rebuilt };
    }
    let written = facts.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let is_newer = written.is_some_and(|at| started_ns > 0 && at.as_nanos() > u128::from(started_ns));
    if is_newer { State::Rebuilt } else { State::Same }
}

/// A path as seen from here: `./halo`.
fn near(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let here = path_text(here.as_os_str().as_bytes());
    match Path::new(path).strip_prefix(&here) {
        Ok(below) if !here.is_empty() => visible_path(&Path::new(".").join(below)),
        _ => visible(path),
    }
}

fn as_json(files: &Files) -> Value {
    let frame = |f: &Frame| json!({ "function": f.function, "file": f.file, "line": f.line });
    let file = |(path, known): (&String, &Known)| {
        let place = |(address, frames): (&u64, &Vec<Frame>)| {
            let frames: Vec<Value> = frames.iter().map(frame).collect();
            json!({ "address": address, "frames": frames })
        };
        let object = |(address, of): (&u64, &(String, u64))| {
            let (name, within) = of;
            json!({ "address": address, "name": name, "within": within })
        };
        json!({
            "file": path,
            "build_id": known.build_id,
            "places": known.places.iter().map(place).collect::<Vec<_>>(),
            "objects": known.objects.iter().map(object).collect::<Vec<_>>(),
        })
    };
    json!({ "format": FORMAT, "version": VERSION, "files": files.iter().map(file).collect::<Vec<_>>() })
}

/// What is stored.
fn read(path: &Path) -> Stored {
    match path.metadata() {
        Ok(facts) if facts.is_file() => {}
        Ok(_) => return Stored::Closed("it is no file".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Stored::None,
        Err(error) => return Stored::Closed(error.to_string()),
    }
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return Stored::Closed(error.to_string()),
    };
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return Stored::Damaged(error.to_string()),
    };
    if value["format"] == FORMAT && value["version"].as_u64().is_some_and(|version| version > VERSION) {
        return Stored::Closed("a later version of Pellucid wrote it".to_owned());
    }
    files(&value).map_or_else(|| Stored::Damaged("it is no file of lines".to_owned()), Stored::Files)
}

/// The content of a file; `None` where it is none of lines.
fn files(value: &Value) -> Option<Files> {
    if value["format"] != FORMAT || value["version"] != VERSION {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let frame = |value: &Value| Frame {
        function: text(&value["function"]),
        file: text(&value["file"]),
        line: value["line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
    };
    let place = |value: &Value| {
        let frames = value["frames"].as_array()?.iter().map(frame).collect();
        Some((value["address"].as_u64()?, frames))
    };
    let object = |value: &Value| Some((value["address"].as_u64()?, (text(&value["name"]), value["within"].as_u64()?)));
    let file = |value: &Value| {
        let known = Known {
            build_id: text(&value["build_id"]),
            places: value["places"].as_array()?.iter().filter_map(place).collect(),
            objects: value["objects"].as_array()?.iter().filter_map(object).collect(),
        };
        Some((value["file"].as_str()?.to_owned(), known))
    };
    Some(value["files"].as_array()?.iter().filter_map(file).collect())
}
