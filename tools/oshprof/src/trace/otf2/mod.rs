//! An OTF2 archive, written by libotf2: a location group a PE, a location a thread, a region a routine; transfers as
//! records of one-sided communication, between Enter and Leave of their routine, in a window that all PEs share.
#![allow(unsafe_code)]

mod collectives;
mod definitions;
mod library;
mod location;
mod rma;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use pellucid_profile::file::ReadError;
use pellucid_profile::op::{Class, Op};
use pellucid_profile::output::{Error, OutputTree};
use pellucid_profile::tables::TeamKey;
use pellucid_profile::text::visible_path;
use pellucid_profile::trace::read::{Call, Event, Trace, What};

use super::sites::Sites;
use super::{Failure, rows};
use collectives::{Kind, Parts};
use library::{FlushCallbacks, Library};
use location::{Location, Meeting};

// Values of OTF2_Definitions.h and OTF2_GeneralDefinitions.h.
const FILEMODE_WRITE: u8 = 0;
const SUBSTRATE_POSIX: u8 = 1;
const COMPRESSION_NONE: u8 = 1;
const CHUNK_EVENTS: u64 = 1 << 20;
const CHUNK_DEFINITIONS: u64 = 4 << 20;
const FLUSH: u8 = 1;
const PARADIGM_USER: u8 = 1;
const PARADIGM_SHMEM: u8 = 13;
const ROLE_FUNCTION: u8 = 1;
const ROLE_CODE: u8 = 4;
const ROLE_ATOMIC: u8 = 14;
const ROLE_BARRIER: u8 = 15;
const ROLE_ONE_TO_ALL: u8 = 23;
const ROLE_ALL_TO_ALL: u8 = 25;
const ROLE_COLLECTIVE: u8 = 26;
const ROLE_RMA: u8 = 29;

/// The window of the world, and what stands for no list of attributes.
const WINDOW: u32 = 0;
const NO_ATTRIBUTES: *mut c_void = std::ptr::null_mut();

const ATTRIBUTES: [&str; 6] = ["peer", "bytes", "address", "calls", "context", "site"];
/// The one that is a text.
const SITE: u32 = 5;

extern "C" fn flush(_: *mut c_void, _: u8, _: u64, _: *mut c_void, _: bool) -> u8 {
    FLUSH
}

/// The library keeps their address.
static CALLBACKS: FlushCallbacks = FlushCallbacks { before: flush, after: None };

/// Writes the archive into a new directory; its anchor file is `traces.otf2`. Libotf2 opens files by their paths, and
/// follows links: it does so where nobody else can put any.
pub(super) fn write(trace: &Trace, problems: &mut Vec<ReadError>, directory: &Path) -> Result<(), Failure> {
    let library = Library::load()?;
    let tree = OutputTree::create(directory).map_err(|error| match &error {
        Error::Io { error, .. } if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let shown = visible_path(directory);
            format!("{shown}: is there already; an archive is a directory of its own")
        }
        _ => error.to_string(),
    })?;
    archive(&library, trace, problems, &tree.place())?;
    tree.finish().map_err(|error| error.to_string())
}

fn archive(library: &Library, trace: &Trace, problems: &mut Vec<ReadError>, directory: &Path) -> Result<(), Failure> {
    let path = CString::new(directory.as_os_str().as_bytes()).map_err(|_| "otf2: a NUL in the name".to_owned())?;
    // SAFETY: the strings are NUL-terminated, the values are the library's own.
    let archive = unsafe {
        (library.open)(
            path.as_ptr(),
            c"traces".as_ptr(),
            FILEMODE_WRITE,
            CHUNK_EVENTS,
            CHUNK_DEFINITIONS,
            SUBSTRATE_POSIX,
            COMPRESSION_NONE,
        )
    };
    if archive.is_null() {
        return Err("otf2: cannot make the archive".to_owned());
    }
    // SAFETY: takes nothing.
    let attributes = unsafe { (library.new_attributes)() };
    let mut archive = Archive { library, archive, attributes, ..Archive::new(library) };
    let written = archive.fill(trace, problems);
    // SAFETY: both are open, and not used any more.
    let closed = unsafe {
        (library.delete_attributes)(attributes);
        (library.close)(archive.archive)
    };
    written.and_then(|()| library.check("closing the archive", closed))
}

struct Archive<'a> {
    library: &'a Library,
    archive: *mut c_void,
    attributes: *mut c_void,
    locations: Vec<Location>,
    /// By file and thread.
    by_thread: HashMap<(usize, u32), usize>,
    /// Name to number, role and paradigm.
    regions: HashMap<String, (u32, u8, u8)>,
    /// PEs of which there is a trace, to their number in the window of the world.
    ranks: BTreeMap<u32, u32>,
    /// Teams and active sets that collectives are on, but for the world, to their window.
    windows: BTreeMap<TeamKey, u32>,
    parts: Parts,
    npes: u32,
    sites: Sites,
    /// Call sites, by the numbers of their strings.
    places: HashMap<Arc<str>, u32>,
}

impl<'a> Archive<'a> {
    fn new(library: &'a Library) -> Self {
        Archive {
            library,
            archive: std::ptr::null_mut(),
            attributes: std::ptr::null_mut(),
            locations: Vec::new(),
            by_thread: HashMap::new(),
            regions: HashMap::new(),
            ranks: BTreeMap::new(),
            windows: BTreeMap::new(),
            parts: Parts::default(),
            npes: 0,
            sites: Sites::default(),
            places: HashMap::new(),
        }
    }

    fn fill(&mut self, trace: &Trace, problems: &mut Vec<ReadError>) -> Result<(), Failure> {
        let library = self.library;
        // SAFETY: the archive is open; the library keeps the address of the callbacks.
        unsafe {
            library.check("flush", (library.set_flush)(self.archive, &raw const CALLBACKS, std::ptr::null_mut()))?;
            library.check("serial use", (library.set_serial)(self.archive))?;
            library.check("event files", (library.open_events)(self.archive))?;
        }
        let pes: BTreeSet<u32> = trace.files.iter().map(|file| file.facts.pe).collect();
        self.ranks = pes.into_iter().zip(0..).collect();
        self.npes = trace.files.first().map_or(0, |file| file.facts.npes);
        self.parts = Parts::find(trace, problems);
        for (number, file) in trace.files.iter().enumerate() {
            let mut result = Ok(());
            file.for_each(problems, |event| {
                if result.is_ok() {
                    result = self.event(number, file.facts.pe, event);
                }
            });
            result?;
            if !self.locations.iter().any(|location| location.pe == file.facts.pe) {
                // The others' transfers go there.
                self.location(number, file.facts.pe, 0)?;
            }
        }
        self.finish_events()?;
        self.definitions(trace)
    }

    fn event(&mut self, file: usize, pe: u32, event: &Event) -> Result<(), Failure> {
        let index = self.location(file, pe, event.thread)?;
        let region = self.region(event);
        let meeting = match &event.what {
            What::Call(call) => self.meeting(call, pe, event.start_ns),
            _ => None,
        };
        let site = event.what.call().and_then(|call| self.sites.of(call));
        let next = self.places.len() as u32;
        let site = site.map(|site| *self.places.entry(site).or_insert(next));
        let (library, attributes) = (self.library, self.attributes);
        let location = &mut self.locations[index];
        // Folded calls of several routines lie between the same two events: here one after another. And a signal
        // handler may have made a call that was over before the one it interrupted was recorded.
        let start = event.start_ns.max(location.last_ns);
        let end = event.end_ns.max(start);
        location.last_ns = end;
        location.open_window(library, WINDOW, start)?;
        describe(library, attributes, &event.what, site)?;
        match &event.what {
            What::Call(call) => {
                location.enter(library, attributes, start, region)?;
                let rank = call.peer.and_then(|peer| self.ranks.get(&peer)).copied();
                if let Some(meeting) = meeting {
                    location.collective(library, &meeting, (start, end))?;
                }
                location.communicate(library, call, rank, (start, end))?;
                location.leave(library, end)
            }
            // It has moved nothing that anybody could know of.
            What::Calls(_) | What::Unreturned(_) => {
                location.enter(library, attributes, start, region)?;
                location.leave(library, end)
            }
            What::RegionBegin(_) => location.enter(library, std::ptr::null_mut(), start, region),
            What::RegionEnd(_) => {
                // What was begun within it ends with it.
                if let Some(at) = location.open.iter().rposition(|&open| open == region) {
                    while location.open.len() > at {
                        location.leave(library, end)?;
                    }
                }
                Ok(())
            }
            // A moment: a region without duration.
            What::Marker(..) => {
                location.enter(library, std::ptr::null_mut(), start, region)?;
                location.leave(library, end)
            }
        }
    }

    /// What a call is as a collective. That on a team whose members are not known has no records.
    fn meeting(&mut self, call: &Call, pe: u32, start: u64) -> Option<Meeting> {
        let op = rows::routine(call);
        let kind = collectives::kind(op)?;
        let world = (0, 0, 1, self.npes as i32);
        let team =
            call.team.or_else(|| matches!(op.name(), "shmem_barrier_all" | "shmem_sync_all").then_some(world))?;
        let next = WINDOW + 1 + self.windows.len() as u32;
        let window = if team == world { WINDOW } else { *self.windows.entry(team).or_insert(next) };
        let mut present = collectives::members(team).filter(|member| self.ranks.contains_key(member));
        let root = call.root.and_then(|root| present.position(|member| member == root));
        let moved = self.parts.moved(kind, call, team, pe, start);
        Some(Meeting { window, kind, root: root.map_or(rma::NO_ROOT, |root| root as u32), moved })
    }

    fn location(&mut self, file: usize, pe: u32, thread: u32) -> Result<usize, Failure> {
        if let Some(&index) = self.by_thread.get(&(file, thread)) {
            return Ok(index);
        }
        let index = self.locations.len();
        // SAFETY: the archive is open, and its event files are.
        let writer = unsafe { (self.library.event_writer)(self.archive, index as u64) };
        if writer.is_null() {
            return Err("otf2: no writer for a thread".to_owned());
        }
        let is_first = !self.locations.iter().any(|location| location.pe == pe);
        self.locations.push(Location {
            writer,
            pe,
            thread,
            events: 0,
            open: Vec::new(),
            last_ns: 0,
            is_first,
            in_windows: BTreeSet::new(),
            pending: Vec::new(),
            operations: 0,
        });
        self.by_thread.insert((file, thread), index);
        Ok(index)
    }

    fn region(&mut self, event: &Event) -> u32 {
        let name = rows::name(event);
        if let Some(&(number, ..)) = self.regions.get(name) {
            return number;
        }
        let number = self.regions.len() as u32;
        let (role, paradigm) = match &event.what {
            What::Call(call) | What::Unreturned(call) => (role(rows::routine(call)), PARADIGM_SHMEM),
            What::Calls(calls) => (role(rows::known(calls.op)), PARADIGM_SHMEM),
            _ => (ROLE_CODE, PARADIGM_USER),
        };
        self.regions.insert(name.to_owned(), (number, role, paradigm));
        number
    }

    fn finish_events(&mut self) -> Result<(), Failure> {
        let library = self.library;
        for location in &mut self.locations {
            while !location.open.is_empty() {
                location.leave(library, location.last_ns)?;
            }
            location.close_windows(library)?;
            // SAFETY: the writer is open and not used any more.
            let code = unsafe { (library.close_event_writer)(self.archive, location.writer) };
            library.check("a thread's events", code)?;
        }
        // SAFETY: all writers are closed. Each location must have a file of definitions, be it empty.
        unsafe {
            library.check("event files", (library.close_events)(self.archive))?;
            library.check("definition files", (library.open_definitions)(self.archive))?;
            for id in 0..self.locations.len() as u64 {
                let writer = (library.definition_writer)(self.archive, id);
                library.check("definitions", (library.close_definition_writer)(self.archive, writer))?;
            }
            library.check("definition files", (library.close_definitions)(self.archive))
        }
    }
}

fn role(op: &Op) -> u8 {
    match op.class {
        Class::Collective => match collectives::kind(op) {
            Some(Kind::Broadcast) => ROLE_ONE_TO_ALL,
            Some(Kind::Scan { .. }) => ROLE_COLLECTIVE,
            _ => ROLE_ALL_TO_ALL,
        },
        Class::Put | Class::Get | Class::Signal => ROLE_RMA,
        Class::Amo => ROLE_ATOMIC,
        Class::Barrier => ROLE_BARRIER,
        _ => ROLE_FUNCTION,
    }
}

/// Puts what is known of an event, and its place, into the list of attributes that the next event of the archive gets.
fn describe(library: &Library, attributes: *mut c_void, what: &What, site: Option<u32>) -> Result<(), Failure> {
    for (id, value) in (0..).zip(attribute_values(what)) {
        if let Some(value) = value {
            // SAFETY: the list is ours; the library empties it when it writes the next event.
            library.check("an attribute", unsafe { (library.add_u64)(attributes, id, value) })?;
        }
    }
    if let Some(site) = site {
        // SAFETY: as above; the string is defined with the others at the end.
        library.check("an attribute", unsafe { (library.add_text)(attributes, SITE, site) })?;
    }
    Ok(())
}

/// The attributes of an event, in the order of their ids: peer, bytes, address, calls, context.
fn attribute_values(what: &What) -> [Option<u64>; 5] {
    let some = |value: u64| (value != 0).then_some(value);
    match what {
        What::Call(call) | What::Unreturned(call) => {
            let context = call.context.as_ref().map(|context| context.number);
            [call.peer.map(u64::from), some(call.bytes), some(call.addr), None, context]
        }
        What::Calls(calls) => [None, some(calls.bytes), None, Some(calls.count), None],
        What::RegionBegin(_) | What::RegionEnd(_) | What::Marker(..) => [None; 5],
    }
}
