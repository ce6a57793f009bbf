//! What the archive defines, once all events are known: strings, routines, hosts, PEs, threads, the window.
#![allow(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, c_void};

use pellucid_profile::trace::read::Trace;

use super::super::rows;
use super::library::Library;
use super::{ATTRIBUTES, Archive, Failure, PARADIGM_SHMEM, SITE, WINDOW, collectives};

// Values of OTF2_Definitions.h and OTF2_GeneralDefinitions.h.
const UNDEFINED: u32 = u32::MAX;
const TYPE_UINT64: u8 = 4;
const TYPE_STRING: u8 = 11;
const GROUP_PROCESS: u8 = 1;
const GROUP_LOCATIONS: u8 = 4;
const GROUP_MEMBERS: u8 = 5;
const LOCATION_THREAD: u8 = 1;
/// The window has events of its creation and its end.
const HAS_EVENTS: u32 = 1;

impl Archive<'_> {
    pub(super) fn definitions(&self, trace: &Trace) -> Result<(), Failure> {
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
        // Events have their numbers.
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_by_key(|(_, number)| **number);
        for (place, _) in places {
            strings.id(place)?;
        }
        for (id, name) in (0..).zip(ATTRIBUTES) {
            let (name, kind) = (strings.id(name)?, if id == SITE { TYPE_STRING } else { TYPE_UINT64 });
            // SAFETY: the writer is the archive's; every number was defined before.
            library.check("an attribute", unsafe { (library.attribute)(writer, id, name, name, kind) })?;
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
        self.locations_of(&mut strings)?;
        self.windows(&mut strings)
    }

    fn locations_of(&self, strings: &mut Strings) -> Result<(), Failure> {
        let (library, writer) = (self.library, strings.writer);
        for (id, location) in (0..).zip(&self.locations) {
            let name = strings.id(&format!("thread {}", location.thread))?;
            // SAFETY: the writer is the archive's; every number was defined before.
            let code = unsafe { (library.location)(writer, id, name, LOCATION_THREAD, location.events, location.pe) };
            library.check("a thread", code)?;
        }
        Ok(())
    }

    /// The windows of symmetric memory: over a communicator of all PEs, each of which its first thread stands for, and
    /// over one of each team that collectives are on.
    fn windows(&self, strings: &mut Strings) -> Result<(), Failure> {
        let (library, writer) = (self.library, strings.writer);
        let first = |pe: &u32| self.locations.iter().position(|location| location.pe == *pe && location.is_first);
        let locations: Vec<u64> = self.ranks.keys().filter_map(first).map(|index| index as u64).collect();
        let (name, count) = (strings.id("PEs")?, locations.len() as u32);
        // SAFETY: the writer is the archive's; there are so many members, and they are copied.
        library.check("a group", unsafe {
            (library.members)(writer, 0, name, GROUP_LOCATIONS, PARADIGM_SHMEM, 0, count, locations.as_ptr())
        })?;
        let world: Vec<u64> = (0..u64::from(count)).collect();
        self.window(strings, WINDOW, ["SHMEM_TEAM_WORLD", "symmetric memory"], &world)?;
        for (&team, &window) in &self.windows {
            let rank = |pe: u32| self.ranks.get(&pe).copied().map(u64::from);
            let ranks: Vec<u64> = collectives::members(team).filter_map(rank).collect();
            let name = rows::team_words(team, self.npes);
            self.window(strings, window, [&name, &format!("symmetric memory of {name}")], &ranks)?;
        }
        Ok(())
    }

    /// A window with the group and the communicator of its PEs, by their numbers in the world's.
    fn window(&self, strings: &mut Strings, id: u32, names: [&str; 2], ranks: &[u64]) -> Result<(), Failure> {
        let (library, writer) = (self.library, strings.writer);
        let [name, memory] = [strings.id(names[0])?, strings.id(names[1])?];
        // Group 0 says where PEs are.
        let (group, count) = (id + 1, ranks.len() as u32);
        // SAFETY: the writer is the archive's; there are so many members, and they are copied.
        let code =
            unsafe { (library.members)(writer, group, name, GROUP_MEMBERS, PARADIGM_SHMEM, 0, count, ranks.as_ptr()) };
        library.check("a group", code)?;
        // SAFETY: the writer is the archive's; every number was defined before.
        library.check("the PEs", unsafe { (library.communicator)(writer, id, name, group, UNDEFINED, 0) })?;
        // SAFETY: as above.
        library.check("the window", unsafe { (library.window)(writer, id, memory, id, HAS_EVENTS) })
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
