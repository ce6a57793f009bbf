//! An OTF2 archive, written by libotf2: a location group a PE, a location a thread, a region a routine.
#![allow(unsafe_code)]

mod library;

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use pellucid_profile::file::ReadError;
use pellucid_profile::op::Class;
use pellucid_profile::trace::read::{Event, Trace, What};

use super::{Failure, rows};
use library::{FlushCallbacks, Library};

// Values of OTF2_Definitions.h and OTF2_GeneralDefinitions.h.
const FILEMODE_WRITE: u8 = 0;
const SUBSTRATE_POSIX: u8 = 1;
const COMPRESSION_NONE: u8 = 1;
const CHUNK_EVENTS: u64 = 1 << 20;
const CHUNK_DEFINITIONS: u64 = 4 << 20;
const FLUSH: u8 = 1;
const UNDEFINED: u32 = u32::MAX;
const TYPE_UINT64: u8 = 4;
const GROUP_PROCESS: u8 = 1;
const LOCATION_THREAD: u8 = 1;
const PARADIGM_USER: u8 = 1;
const PARADIGM_SHMEM: u8 = 13;
const ROLE_FUNCTION: u8 = 1;
const ROLE_CODE: u8 = 4;
const ROLE_ATOMIC: u8 = 14;
const ROLE_BARRIER: u8 = 15;
const ROLE_RMA: u8 = 29;

const ATTRIBUTES: [&str; 5] = ["peer", "bytes", "address", "calls", "context"];

extern "C" fn flush(_: *mut c_void, _: u8, _: u64, _: *mut c_void, _: bool) -> u8 {
    FLUSH
}

/// The library keeps their address.
static CALLBACKS: FlushCallbacks = FlushCallbacks { before: flush, after: None };

/// Writes the archive into a directory that libotf2 makes; its anchor file is `traces.otf2`.
pub(super) fn write(trace: &Trace, problems: &mut Vec<ReadError>, directory: &Path) -> Result<(), Failure> {
    if directory.exists() {
        return Err(format!("{}: is there already; an archive is a directory of its own", directory.display()));
    }
    let library = Library::load()?;
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
        return Err(format!("otf2: cannot make the archive {}", directory.display()));
    }
    // SAFETY: takes nothing.
    let attributes = unsafe { (library.new_attributes)() };
    let mut archive = Archive { library: &library, archive, attributes, ..Archive::new(&library) };
    let written = archive.fill(trace, problems);
    // SAFETY: both are open, and not used any more.
    let closed = unsafe {
        (library.delete_attributes)(attributes);
        (library.close)(archive.archive)
    };
    written.and_then(|()| library.check("closing the archive", closed))
}

/// A thread, as the archive has it.
struct Location {
    writer: *mut c_void,
    pe: u32,
    thread: u32,
    events: u64,
    /// Regions that are open.
    open: Vec<u32>,
    last_ns: u64,
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
        for (number, file) in trace.files.iter().enumerate() {
            let mut result = Ok(());
            file.for_each(problems, |event| {
                if result.is_ok() {
                    result = self.event(number, file.facts.pe, event);
                }
            });
            result?;
        }
        self.finish_events()?;
        self.definitions(trace)
    }

    fn event(&mut self, file: usize, pe: u32, event: &Event) -> Result<(), Failure> {
        let index = self.location(file, pe, event.thread)?;
        let region = self.region(event);
        let (library, attributes) = (self.library, self.attributes);
        let location = &mut self.locations[index];
        // Folded calls of several routines lie between the same two events: here one after another.
        let start = event.start_ns.max(location.last_ns.min(event.end_ns));
        location.last_ns = location.last_ns.max(event.end_ns);
        let values = match &event.what {
            What::Call(call) => [
                call.peer.map(u64::from),
                Some(call.bytes),
                (call.addr != 0).then_some(call.addr),
                None,
                call.context.as_ref().map(|context| context.number),
            ],
            What::Calls(calls) => [None, Some(calls.bytes), None, Some(calls.count), None],
            What::RegionBegin(_) | What::RegionEnd(_) | What::Marker(..) => [None; 5],
        };
        for (id, value) in (0..).zip(values) {
            if let Some(value) = value {
                // SAFETY: the list is ours; the library empties it when it writes the next event.
                library.check("an attribute", unsafe { (library.add_u64)(attributes, id, value) })?;
            }
        }
        match &event.what {
            What::Call(_) | What::Calls(_) => {
                location.enter(library, attributes, start, region)?;
                location.leave(library, event.end_ns)
            }
            What::RegionBegin(_) => location.enter(library, std::ptr::null_mut(), event.start_ns, region),
            What::RegionEnd(_) => {
                // What was begun within it ends with it.
                if let Some(at) = location.open.iter().rposition(|&open| open == region) {
                    while location.open.len() > at {
                        location.leave(library, event.end_ns)?;
                    }
                }
                Ok(())
            }
            // A moment: a region without duration.
            What::Marker(..) => {
                location.enter(library, std::ptr::null_mut(), event.start_ns, region)?;
                location.leave(library, event.end_ns)
            }
        }
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
        self.locations.push(Location { writer, pe, thread, events: 0, open: Vec::new(), last_ns: 0 });
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
            What::Call(call) => (role(rows::routine(call).class), PARADIGM_SHMEM),
            What::Calls(calls) => (role(rows::known(calls.op).class), PARADIGM_SHMEM),
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

    fn definitions(&self, trace: &Trace) -> Result<(), Failure> {
        let library = self.library;
        // SAFETY: the archive is open.
        let writer = unsafe { (library.global_writer)(self.archive) };
        if writer.is_null() {
            return Err("otf2: no writer for definitions".to_owned());
        }
        let facts = trace.files.first().map(|file| &file.facts);
        let start = facts.map_or(0, |facts| facts.start_realtime);
        let end = self.locations.iter().map(|location| location.last_ns).max().unwrap_or(0);
        let mut strings = Strings { library, writer, known: HashMap::new() };
        // SAFETY: the writer is the archive's; every number was defined before.
        library.check("the clock", unsafe { (library.clock)(writer, 1_000_000_000, 0, end + 1, start) })?;
        for (id, name) in (0..).zip(ATTRIBUTES) {
            let name = strings.id(name)?;
            // SAFETY: the writer is the archive's; every number was defined before.
            library.check("an attribute", unsafe { (library.attribute)(writer, id, name, name, TYPE_UINT64) })?;
        }
        let mut regions: Vec<_> = self.regions.iter().collect();
        regions.sort_by_key(|(_, (number, ..))| *number);
        for (name, &(id, role, paradigm)) in regions {
            let (name, empty) = (strings.id(name)?, strings.id("")?);
            // SAFETY: the writer is the archive's; every number was defined before.
            let code = unsafe { (library.region)(writer, id, name, name, empty, role, paradigm, 0, empty, 0, 0) };
            library.check("a region", code)?;
        }
        // The job, below it its hosts.
        let (job, machine) = (strings.id(facts.map_or("", |facts| &facts.program))?, strings.id("machine")?);
        // SAFETY: the writer is the archive's; every number was defined before.
        library.check("the job", unsafe { (library.node)(writer, 0, job, machine, UNDEFINED) })?;
        let mut hosts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut pes: BTreeMap<u32, u32> = BTreeMap::new();
        for file in &trace.files {
            let next = hosts.len() as u32 + 1;
            let host = *hosts.entry(&file.facts.host).or_insert(next);
            if host == next {
                let (name, class) = (strings.id(&file.facts.host)?, strings.id("node")?);
                // SAFETY: the writer is the archive's; every number was defined before.
                library.check("a host", unsafe { (library.node)(writer, host, name, class, 0) })?;
            }
            if pes.insert(file.facts.pe, host).is_none() {
                let name = strings.id(&format!("PE {}", file.facts.pe))?;
                // SAFETY: the writer is the archive's; every number was defined before.
                let code = unsafe { (library.group)(writer, file.facts.pe, name, GROUP_PROCESS, host, UNDEFINED) };
                library.check("a PE", code)?;
            }
        }
        for (id, location) in (0..).zip(&self.locations) {
            let name = strings.id(&format!("thread {}", location.thread))?;
            // SAFETY: the writer is the archive's; every number was defined before.
            let code = unsafe { (library.location)(writer, id, name, LOCATION_THREAD, location.events, location.pe) };
            library.check("a thread", code)?;
        }
        Ok(())
    }
}

impl Location {
    fn enter(&mut self, library: &Library, attributes: *mut c_void, ns: u64, region: u32) -> Result<(), Failure> {
        self.open.push(region);
        self.events += 1;
        // SAFETY: the writer is open; the list is null or ours.
        library.check("an event", unsafe { (library.enter)(self.writer, attributes, ns, region) })
    }

    fn leave(&mut self, library: &Library, ns: u64) -> Result<(), Failure> {
        let Some(region) = self.open.pop() else { return Ok(()) };
        self.events += 1;
        // SAFETY: the writer is open.
        library.check("an event", unsafe { (library.leave)(self.writer, std::ptr::null_mut(), ns, region) })
    }
}

/// Strings of the archive, each defined once.
struct Strings<'a> {
    library: &'a Library,
    writer: *mut c_void,
    known: HashMap<String, u32>,
}

impl Strings<'_> {
    fn id(&mut self, text: &str) -> Result<u32, Failure> {
        if let Some(&id) = self.known.get(text) {
            return Ok(id);
        }
        let id = self.known.len() as u32;
        let c_text = CString::new(text.replace('\0', " ")).map_err(|error| error.to_string())?;
        // SAFETY: the writer is the archive's, the string is NUL-terminated and copied.
        let code = unsafe { (self.library.string)(self.writer, id, c_text.as_ptr()) };
        self.library.check("a string", code)?;
        self.known.insert(text.to_owned(), id);
        Ok(id)
    }
}

fn role(class: Class) -> u8 {
    match class {
        Class::Put | Class::Get | Class::Signal => ROLE_RMA,
        Class::Amo => ROLE_ATOMIC,
        Class::Barrier => ROLE_BARRIER,
        _ => ROLE_FUNCTION,
    }
}
