//! What names mean in a tool, for its relocations and for its own look-ups with `dlsym`.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

use pellucid_profile::op::OPS;
use pellucid_profile::order;

use super::exports::{redefine, restore};
use super::objects::Object;
use super::{TOOLS, Tool, first, guard, load, next, own, plugins, relocate};
use crate::entry;
use crate::tool::is_own;

/// Operations by name, sorted.
fn names() -> &'static [(&'static str, usize)] {
    static NAMES: OnceLock<Vec<(&'static str, usize)>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: Vec<_> = OPS.iter().enumerate().map(|(op, row)| (row.name(), op)).collect();
        order::sort_by(&mut names, Ord::cmp);
        names
    })
}

/// The operation of a routine.
pub fn find(name: &str) -> Option<usize> {
    names().binary_search_by_key(&name, |(name, _)| name).ok().map(|at| names()[at].1)
}

/// Has what a tool refers to mean what comes next in the row.
pub fn bind(tools: &[Tool], tool: usize) {
    for object in &tools[tool].objects {
        relocate::rewrite(object, |name| reference(tools, tool, name));
    }
}

/// What a name in a tool's relocations is to mean; `None`: what it meant before.
fn reference(tools: &[Tool], tool: usize, name: &str) -> Option<usize> {
    match name {
        "dlsym" => return Some(tool_dlsym as *const () as usize),
        "dlopen" => return Some(plugins::tool_dlopen as *const () as usize),
        _ => {}
    }
    if let Some(op) = find(name) {
        return Some(own(tools, tool, op));
    }
    name.strip_prefix('p').and_then(find).map(|op| next(tools, tool, op))
}

/// What a tool finds while it is loaded.
struct Arriving<'a> {
    /// Objects that were there before it.
    before: &'a [Object],
    /// Tools behind it in the row.
    behind: &'a [Tool],
}

static ARRIVING: AtomicPtr<Arriving<'static>> = AtomicPtr::new(null_mut());

/// Loads a tool by `load`, with the names as they are to be for it already when its constructors run: they may look
/// routines up, and keep what they find.
pub fn arrive<R>(before: &[Object], behind: &[Tool], load: impl FnOnce() -> R) -> R {
    let arriving = Arriving { before, behind };
    ARRIVING.store((&raw const arriving).cast_mut().cast(), SeqCst);
    let holds = |address: usize| before.iter().find(move |object| object.contains(address));
    let mut changed = Vec::new();
    if let Some(library) = holds(entry::first()) {
        changed.push(redefine(library, |name| {
            find(name).or_else(|| name.strip_prefix('p').and_then(find)).map(|op| first(behind, op))
        }));
    }
    if let Some(loader) = holds(load::DLSYM.load(SeqCst) as usize) {
        changed.push(redefine(loader, |name| (name == "dlsym").then_some(tool_dlsym as *const () as usize)));
    }
    changed.extend(guard::observe_exit_at_once(before));
    let result = load();
    changed.into_iter().for_each(restore);
    ARRIVING.store(null_mut(), SeqCst);
    result
}

fn arriving() -> Option<&'static Arriving<'static>> {
    // SAFETY: null, or set by `arrive` to a value that lives until it is null again.
    unsafe { ARRIVING.load(SeqCst).as_ref() }
}

impl Arriving<'_> {
    /// What `dlsym` answers to it, of names that are routines'.
    fn answer(&self, name: &str, caller: usize) -> usize {
        if self.before.iter().any(|object| object.contains(caller)) {
            return 0;
        }
        let op = find(name).or_else(|| name.strip_prefix('p').and_then(find));
        op.map_or(0, |op| first(self.behind, op))
    }
}

/// What `dlsym` answers to a tool: `caller` is an address in it. 0: as usual.
///
/// `pshmem_X` from wherever, and `shmem_X` from `RTLD_NEXT`, is what comes next; `shmem_X` from `RTLD_DEFAULT` is the
/// tool's own or what comes next; from a handle it is what is found there, unless that is this library's.
extern "C" fn answer(handle: *mut c_void, name: *const c_char, caller: usize) -> usize {
    if name.is_null() {
        return 0;
    }
    // SAFETY: dlsym takes a C string.
    let Ok(name) = unsafe { CStr::from_ptr(name) }.to_str() else { return 0 };
    let arriving = arriving();
    let tools = TOOLS.get().map_or(arriving.map_or(&[][..], |arriving| arriving.behind), Vec::as_slice);
    let is_caller = |tool: &Tool| tool.objects.iter().any(|object| object.contains(caller));
    let Some(tool) = tools.iter().position(is_caller) else {
        return arriving.map_or(0, |arriving| arriving.answer(name, caller));
    };
    if let Some(op) = name.strip_prefix('p').and_then(find) {
        return next(tools, tool, op);
    }
    let Some(op) = find(name) else { return 0 };
    match handle {
        libc::RTLD_NEXT => next(tools, tool, op),
        libc::RTLD_DEFAULT => own(tools, tool, op),
        _ => match load::symbol(handle as usize, name) {
            found if found != 0 && !is_own(found as *const ()) => found,
            _ => next(tools, tool, op),
        },
    }
}

/// Stands in for `dlsym` in tools. It jumps to the C library's, which looks at where the call came from.
///
/// # Safety
/// As `dlsym`.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn tool_dlsym() {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "mov rdx, [rsp + 24]",
        "call {answer}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jne 2f",
        "jmp {usual}",
        "2: ret",
        answer = sym answer,
        usual = sym usual_dlsym,
    )
}

/// As above.
///
/// # Safety
/// As `dlsym`.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn tool_dlsym() {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "mov x2, x30",
        "bl {answer}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbz x16, 2f",
        "mov x0, x16",
        "ret",
        "2: b {usual}",
        answer = sym answer,
        usual = sym usual_dlsym,
    )
}

/// The C library's `dlsym`. A sibling call: the return address stays the tool's.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn usual_dlsym() {
    core::arch::naked_asm!("jmp [rip + {dlsym}]", dlsym = sym load::DLSYM)
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn usual_dlsym() {
    core::arch::naked_asm!(
        "adrp x16, {dlsym}",
        "ldr x16, [x16, :lo12:{dlsym}]",
        "br x16",
        dlsym = sym load::DLSYM,
    )
}
