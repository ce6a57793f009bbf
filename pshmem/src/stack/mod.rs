//! Tools in a row: `SHMEM_TOOLS=a.so:b.so`, each an ordinary PSHMEM tool, known only as a binary.
//!
//! Before the program's own code runs, each tool is loaded for itself (`load`), so that none takes the other's names:
//! the last in the row first, so that each finds what comes behind it. Then the references in each tool are rewritten
//! (`relocate`): its `pshmem_X` becomes the `shmem_X` of the next tool that has one, the last one's the routine itself;
//! its `shmem_X` becomes its own, or else the next one's, since a tool's own calls are not the program's. What it looks
//! up with `dlsym` is answered alike (`lookup`). The program's calls come to `shmem_X` of this library as ever, and the
//! dispatcher hands them to the first tool.
//!
//! Preloaded tools, and shared ones that the program is linked to, are taken in at the front of the row (`adopt`).
//! Their names, too, then lead to this library (`exports`), for whatever the program loads later.
//!
//! Tools keep what they have otherwise: one C library, their constructors, their threads, their own dependencies.
#![allow(unsafe_code)]

mod adopt;
pub mod copies;
mod exports;
mod guard;
mod load;
mod lookup;
pub mod objects;
pub mod plugins;
mod relocate;

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

use pellucid_profile::op::{COUNT, OPS};

use crate::callbacks;
use crate::dispatcher;
use crate::entry;
use crate::tool;
use objects::Object;

/// A tool that was loaded.
struct Tool {
    /// What `dlopen` gave.
    handle: usize,
    /// The shared object, and those that came with it.
    objects: Vec<Object>,
    /// Its `shmem_X`, by operation; 0 where it has none.
    functions: Vec<usize>,
    /// What an adopted one needs and this library does not: that may call routines, too.
    needs: Vec<Object>,
    /// Whether it was in the process before this library looked.
    adopted: bool,
}

static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
/// Whether all that are in the row are known.
static ARE_KNOWN: AtomicBool = AtomicBool::new(false);

/// See [`ARE_KNOWN`].
pub fn are_known() -> bool {
    ARE_KNOWN.load(Acquire)
}

/// Tools in the row that were loaded for it.
pub fn count() -> usize {
    TOOLS.get().map_or(0, |tools| tools.iter().filter(|tool| !tool.adopted).count())
}

/// The first of these tools' `shmem_X`, or the routine.
fn first(tools: &[Tool], op: usize) -> usize {
    let found = tools.iter().map(|tool| tool.functions[op]).find(|&function| function != 0);
    found.unwrap_or_else(|| entry::strong(op))
}

/// What the `pshmem_X` of a tool means: the next tool's `shmem_X`, or the routine.
fn next(tools: &[Tool], tool: usize, op: usize) -> usize {
    first(&tools[tool + 1..], op)
}

/// What `shmem_X` means in a tool: its own, or what comes next.
fn own(tools: &[Tool], tool: usize, op: usize) -> usize {
    match tools[tool].functions[op] {
        0 => next(tools, tool, op),
        function => function,
    }
}

/// Puts the tools that there are in a row. Called once, by a constructor of this library.
#[unsafe(no_mangle)]
extern "C" fn pellucid_stack_start(_argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    let mut tools = adopt::all();
    tools.extend(load::all(argv, envp));
    if tools.is_empty() {
        return known();
    }
    load::prepare();
    let tools = TOOLS.get_or_init(|| tools);
    // Others have been bound as they were loaded.
    (0..tools.len()).filter(|tool| tools[*tool].adopted).for_each(|tool| lookup::bind(tools, tool));
    for op in 0..COUNT {
        if let Some(first) = tools.iter().find(|tool| tool.functions[op] != 0) {
            dispatcher::set_tool(op as u16, first.functions[op] as *const ());
        }
    }
    if tools.iter().any(|tool| tool.adopted) {
        adopt::redirect(tools);
    }
    known();
    // The row sees the initialization, too, where the executable has a tool before it.
    tool::find();
}

/// The row is what it will be. Another library's constructor may have registered a callback before.
fn known() {
    ARE_KNOWN.store(true, Release);
    if callbacks::are_registered() {
        tool::find();
    }
}

/// Whether an address lies in a tool that was in the process before and is in the row.
pub fn has_adopted(address: *const ()) -> bool {
    let adopted = TOOLS.get().into_iter().flatten().filter(|tool| tool.adopted);
    adopted.flat_map(|tool| &tool.objects).any(|object| object.contains(address as usize))
}

/// Whether an address lies in a tool of the row, or in what it has brought along or loaded itself.
pub fn has(address: usize) -> bool {
    let tools = TOOLS.get().into_iter().flatten();
    tools.flat_map(|tool| tool.objects.iter().chain(&tool.needs)).any(|object| object.contains(address))
        || plugins::has(address)
}

/// Operations whose `pshmem_X` the executable calls. Not those of one that this library is part of.
pub fn called_by_program() -> Vec<usize> {
    let found = RefCell::new(Vec::new());
    if let Some(program) = objects::all().first().filter(|program| !program.contains(entry::first())) {
        relocate::rewrite(program, |name| {
            found.borrow_mut().extend(name.strip_prefix('p').and_then(lookup::find));
            None
        });
    }
    found.into_inner()
}

/// The functions of a tool, by operation.
fn functions(handle: usize, objects: &[Object]) -> Vec<usize> {
    let find = |op: &pellucid_profile::op::Op| {
        let address = load::symbol(handle, op.name());
        // What it finds in its dependencies may be this library's.
        if objects.iter().any(|object| object.contains(address)) { address } else { 0 }
    };
    OPS.iter().map(find).collect()
}
