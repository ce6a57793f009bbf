//! With `SHMEM_DEBUG`: what is checked of calls before they are made, where that would cost too much otherwise. They
//! take the longer way ([`crate::dispatcher`]), so that those of other jobs have no test for it.

mod objects;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use pellucid_core::base::{Cause, Fault, threads};
use pellucid_core::context;
use pellucid_core::request::uses::{self, Use};
use pellucid_core::runtime::{self, memory};
use pellucid_profile::arm::{self, Interceptor};
use pellucid_profile::op::{BY_REQUEST, Class, OPS, Op, traits};

use self::objects::{Named, Operand, OperandSet};
use crate::dispatcher::Call;
use crate::fault_site;
use crate::frame::Frame;
use crate::thread;

static ON: AtomicBool = AtomicBool::new(false);
/// The thread that has initialized the library.
static MAIN: AtomicU64 = AtomicU64::new(0);

/// A routine that gives a handle, which the library keeps with the place of the call.
fn has_handle(op: u16) -> bool {
    traits(op) & BY_REQUEST != 0
}

fn is_transfer(op: &Op) -> bool {
    matches!(op.class, Class::Put | Class::Get | Class::Amo | Class::Signal)
}

/// Whether it is for the thread of a context, or for that of the library, alone to call.
fn has_thread(op: &Op) -> bool {
    matches!(op.class, Class::Order | Class::Barrier | Class::Memory)
}

fn is_checked(op: &Op, id: u16) -> bool {
    let uses_memory = is_transfer(op) || objects::words(op, id, None).is_some() || op.class == Class::Collective;
    uses_memory || has_handle(id) || has_thread(op)
}

/// From now on calls are checked. The calling thread initializes the library.
pub fn begin() {
    MAIN.store(threads::number(), Relaxed);
    ON.store(true, Relaxed);
    uses::keep();
    let checked = (0..).zip(OPS.iter()).filter(|(id, op)| is_checked(op, *id));
    checked.for_each(|(id, _)| arm::set_interceptor(id, Interceptor::Check, true));
}

/// Words for a call, by its routine and where it returns to.
pub fn call_name(op: u16, site: usize) -> String {
    format!("{} ({})", OPS[usize::from(op)].name(), fault_site::name_of(site))
}

/// Checks a call, whose arguments the frame has, if any; one that is wrong ends the job.
#[inline]
pub fn call(call: &Call, frame: Option<&Frame>) {
    if ON.load(Relaxed) {
        uses::in_call(call.op, thread::get().site.get());
        if let Err(fault) = check(call, frame) {
            runtime::fail(OPS[usize::from(call.op)].name(), fault);
        }
    }
}

fn check(call: &Call, frame: Option<&Frame>) -> Result<(), Fault> {
    let op = &OPS[usize::from(call.op)];
    if !runtime::query_initialized() {
        return Ok(());
    }
    check_thread()?;
    context::check_private(call.ctx)?;
    let named = frame.map(|frame| Named::of(call.op, frame));
    if let Some((arg, bytes)) = objects::words(op, call.op, named.as_ref()).filter(|(_, bytes)| *bytes > 0)
        && call.addr != 0
    {
        memory::check_object(arg, call.addr, bytes)?;
    }
    if call.bytes == 0 || !is_transfer(op) && op.class != Class::Collective {
        return Ok(());
    }
    check_objects(call.op, &objects::of(op, call, named.as_ref())?)
}

fn check_objects(id: u16, objects: &OperandSet) -> Result<(), Fault> {
    let op = &OPS[usize::from(id)];
    for Operand { arg, shape, .. } in objects.iter() {
        memory::check_object(arg, shape.addr, shape.bytes())?;
    }
    // Those with a handle are checked where their own memory is known.
    if is_transfer(op) && !has_handle(id) {
        let used = |object: &Operand| Use {
            arg: object.arg,
            pe: object.pe,
            addr: object.shape.addr,
            // What is between the blocks of a strided object is not used.
            bytes: object.shape.block,
            access: object.access,
        };
        uses::check(objects.iter().map(used))?;
    }
    // Other collectives compare their own, some of which may be one.
    if is_transfer(op) || op.name().contains("alltoalls") { objects::check_overlaps(objects) } else { Ok(()) }
}

/// Up to `SHMEM_THREAD_FUNNELED` calls are for the thread alone that has initialized the library.
fn check_thread() -> Result<(), Fault> {
    let level = match runtime::query_thread() {
        0 => "SHMEM_THREAD_SINGLE",
        1 => "SHMEM_THREAD_FUNNELED",
        _ => return Ok(()),
    };
    let is_main = threads::number() == MAIN.load(Relaxed);
    if is_main { Ok(()) } else { Err(Fault::from(Cause::OtherThread { level })) }
}
