//! Signals by which a program ends by its own mistake: noted, before they end it as ever.
//!
//! A launcher of others says at best which process ended by which signal. So the handler of these notes the signal
//! where the PEs of the host look, wakes a thread that says what is known, gives it a moment, and lets the signal do
//! what it would have done. A signal for which the program (or a tool, or a sanitizer) has a handler already is left to
//! that; one that it sets up later takes the place of this one.
#![allow(unsafe_code)]

use super::wakeup::Wakeup;
use super::{depth, futex, own_code, process, readable, remains, signal_stack, stack, thread};
use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The signals.
const CRASHES: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGSYS];
/// How long a program that crashes waits for whoever is to say what is known of it: a lock that the program held when
/// it crashed may keep that one from it.
const MOMENT: Duration = Duration::from_secs(1);
/// How long it waits for one who was kept by nothing, and looks for the source line on a machine that has much to do.
const LINE: Duration = Duration::from_secs(5);
/// [`Note::said`]: somebody is at it, and was kept by nothing.
const BEGUN: u32 = 1;
/// All is said.
const SAID: u32 = 2;

/// Calls that led to a crash that are kept.
const CALLS: usize = 12;

/// Where a process crashed, for others to read.
#[repr(C)]
#[derive(Debug)]
pub struct CrashRecord {
    /// How many of `calls` there are.
    count: AtomicU32,
    /// 0, or what `address` is: a [`Use`].
    used_for: AtomicU32,
    /// What could not be read, written or run.
    address: AtomicU64,
    /// The instruction (plus 1), then the addresses that it and its callers return to.
    calls: [AtomicU64; CALLS],
    /// Bits of those that are of this library, where it is part of the executable: [`own_code::calls`].
    own: AtomicU32,
}

/// What a program did with an address that it could not use.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
enum Use {
    /// Read or written.
    Data = 1,
    /// The same, beyond the end of the main thread's stack, which had no room left.
    Stack,
    /// Beyond that of another thread.
    ThreadStack,
    /// Called.
    Code,
}

impl Use {
    const ALL: [Self; 4] = [Self::Data, Self::Stack, Self::ThreadStack, Self::Code];

    fn describe(self, address: u64) -> String {
        match self {
            Self::Data => format!("address {address:#x}"),
            Self::Stack => "beyond the end of the stack (ulimit -s)".to_owned(),
            Self::ThreadStack => {
                "beyond the end of the thread's stack (OMP_STACKSIZE, pthread_attr_setstacksize)".to_owned()
            }
            Self::Code => format!("which called address {address:#x}, where no code is"),
        }
    }
}

/// Of a crash: words for the address that could not be used, and the calls that were under way, innermost first. Each
/// is an address that something returns to, or the one behind what crashed, and whether it is known to be of this
/// library.
pub type Crashed = (Option<String>, Vec<(u64, bool)>);

impl CrashRecord {
    /// `None`: nobody has noted a crash.
    pub fn read(&self) -> Option<Crashed> {
        let count = self.count.load(Ordering::Acquire) as usize;
        let used_for = self.used_for.load(Ordering::Relaxed);
        let own = self.own.load(Ordering::Relaxed);
        let calls = self.calls.iter().take(count).enumerate();
        let calls = calls.map(|(at, call)| (call.load(Ordering::Relaxed), own >> at & 1 != 0)).collect();
        let used_for = Use::ALL.into_iter().find(|it| *it as u32 == used_for);
        let address = used_for.map(|it| it.describe(self.address.load(Ordering::Relaxed)));
        (count > 0).then_some((address, calls))
    }

    fn add(&self, call: u64) -> bool {
        let count = self.count.load(Ordering::Relaxed) as usize;
        let Some(place) = self.calls.get(count) else { return false };
        place.store(call, Ordering::Relaxed);
        self.count.store(count as u32 + 1, Ordering::Release);
        true
    }

    /// Once all are added; `interrupted` has the bits of those that a signal has interrupted.
    fn note_own(&self, interrupted: u32) {
        let calls = self.calls.each_ref().map(|call| call.load(Ordering::Relaxed) as usize);
        let count = self.count.load(Ordering::Relaxed) as usize;
        self.own.store(own_code::calls(&calls[..count], interrupted), Ordering::Relaxed);
    }
}

/// What a crash is told to.
pub struct Note {
    /// Gets the signal.
    pub signal: &'static AtomicU32,
    /// Gets where it was.
    place: &'static CrashRecord,
    /// Who is to say what is known; `None`: nobody here has anything to say, the launcher does.
    wake: Option<&'static Wakeup>,
    /// How far whoever was woken is.
    said: AtomicU32,
    /// The thread whose crash it is: the first that crashes; 0: none has.
    thread: AtomicI32,
    owner: i32,
}

static NOTE: OnceLock<Note> = OnceLock::new();

/// Notes crashes of this process from here on; once.
pub fn install(
    signal: &'static AtomicU32,
    place: &'static CrashRecord,
    wake: Option<&'static Wakeup>,
) -> &'static Note {
    let owner = process::id();
    own_code::prepare();
    signal_stack::reserve();
    // What the unwinder calls by name is looked up at the first call, which takes kilobytes of stack: not in a handler.
    stack::walk(&mut |_, _| true);
    let note =
        NOTE.get_or_init(|| Note { signal, place, wake, said: AtomicU32::new(0), thread: AtomicI32::new(0), owner });
    for number in CRASHES {
        // SAFETY: the structures are valid, and the handler is async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            if libc::sigaction(number, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_DFL {
                action.sa_sigaction = crashed as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                libc::sigaction(number, &raw const action, std::ptr::null_mut());
            }
        }
    }
    note
}

/// Has crashes of the calling thread noted as well where they are those of a stack without room. The main thread has
/// that from [`install`] on. Makes system calls only.
pub fn cover_thread() {
    if NOTE.get().is_some() {
        signal_stack::cover_thread();
    }
}

impl Note {
    /// What can be said without the source line is known.
    pub fn begun(&self) {
        self.said.store(BEGUN, Ordering::Release);
        futex::wake_all(&self.said);
    }

    /// All is said: the crash may go on.
    pub fn done(&self) {
        self.said.store(SAID, Ordering::Release);
        futex::wake_all(&self.said);
    }

    /// Notes the first crash, and waits until it is said.
    ///
    /// # Safety
    /// `info` and `context` are those of a signal handler that runs, or null.
    unsafe fn tell(&self, number: c_int, info: *const libc::siginfo_t, context: *mut c_void) {
        if self.signal.compare_exchange(0, number as u32, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return;
        }
        // SAFETY: so says the caller.
        unsafe { record_crash(self.place, number, info, context) };
        remains::remove();
        // Where the program has closed the descriptors, the PEs next to this one say what they see.
        if self.wake.is_some_and(Wakeup::signal) {
            self.wait();
        } else {
            self.done();
        }
    }

    /// Lets another thread, which has crashed before this one, end the process by its crash. That one may come to go
    /// on, or to wait for this one.
    fn wait_for_first(&self) {
        self.wait();
        futex::wait(&self.said, self.said.load(Ordering::Acquire), MOMENT);
    }

    /// Waits until all is said, or nobody is there to say it. Makes system calls only.
    fn wait(&self) {
        let begin = Instant::now();
        loop {
            let said = self.said.load(Ordering::Acquire);
            let patience = if said == BEGUN { LINE } else { MOMENT };
            if said == SAID || begin.elapsed() >= patience {
                return;
            }
            futex::wait(&self.said, said, MOMENT / 20);
        }
    }
}

/// The handler. Once the crash is told, it gives the signal its default back, and has it come once more.
extern "C" fn crashed(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: system calls on valid structures, and a walk of the stack; errno is kept, since the program goes on after
    // this for a moment. The walk takes no lock with glibc from 2.35 on; with older ones it waits for a thread that is
    // loading a library.
    unsafe {
        let errno = *libc::__errno_location();
        if let Some(note) = NOTE.get()
            && note.owner == libc::getpid()
        {
            match note.thread.compare_exchange(0, thread::id(), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => note.tell(number, info, context),
                // In this handler, which is not to look any further.
                Err(first) if first == thread::id() => {}
                Err(_) => note.wait_for_first(),
            }
        }
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(number, &raw const action, std::ptr::null_mut());
        // An instruction that faults is carried out once more, so that a core file shows it. All else is sent once
        // more; what a process sends has no positive code.
        if info.is_null() || (*info).si_code <= 0 || !BY_INSTRUCTION.contains(&number) {
            libc::raise(number);
        }
        *libc::__errno_location() = errno;
    }
}

/// Signals that an instruction of the program has caused, and that have an address.
const BY_INSTRUCTION: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];

/// Notes the instruction first: a stack that is damaged may end the process while it is looked through.
///
/// # Safety
/// `info` and `context` are those of a signal handler that runs, or null.
unsafe fn record_crash(place: &CrashRecord, number: c_int, info: *const libc::siginfo_t, context: *mut c_void) {
    // SAFETY: so says the caller.
    let (Some(info), Some(context)) =
        (unsafe { info.as_ref() }, unsafe { context.cast::<libc::ucontext_t>().as_mut() })
    else {
        return;
    };
    let mut undo = None;
    if info.si_code > 0 && [libc::SIGSEGV, libc::SIGBUS].contains(&number) {
        // SAFETY: these signals have an address.
        let address = unsafe { info.si_addr() } as usize;
        place.address.store(address as u64, Ordering::Relaxed);
        let used_for = match info.si_code {
            // What is no address of any process comes without one.
            libc::SI_KERNEL => 0,
            _ if address as u64 == instruction(context) => {
                undo = step_back(context);
                Use::Code as u32
            }
            _ if !overflows_stack(address, stack_pointer(context)) => Use::Data as u32,
            _ if process::is_main_thread() => Use::Stack as u32,
            _ => Use::ThreadStack as u32,
        };
        place.used_for.store(used_for, Ordering::Relaxed);
    }
    record_calls(place, instruction(context));
    if let Some(as_it_was) = undo {
        set_registers(context, as_it_was);
    }
}

fn record_calls(place: &CrashRecord, at: u64) {
    place.add(at + 1);
    let (mut is_below, mut all_interrupted) = (false, 1);
    stack::walk(&mut |call, interrupted| {
        // Those of this handler come first.
        if is_below {
            all_interrupted |= u32::from(interrupted) << place.count.load(Ordering::Relaxed);
            return place.add(call as u64 + 1);
        }
        is_below = interrupted || call as u64 == at;
        true
    });
    place.note_own(all_interrupted);
}

/// Bytes from the end of a stack in which it has no room left.
const END: usize = 64 << 10;

/// Whether an address that the calling thread could not use is one of a stack that has no room left. Its handler runs
/// on another stack then.
fn overflows_stack(address: usize, pointer: usize) -> bool {
    let is_near = address.abs_diff(pointer) <= END;
    signal_stack::current().is_some()
        && match depth::of_main_thread() {
            Some(own) => address < own.end && (is_near || pointer < own.start.saturating_add(END)),
            // What is below a stack cannot be used.
            None => is_near && (address < pointer || readable::word(pointer).is_none()),
        }
}

/// Puts a context back to the call that went to an address where no code is: only so can its callers be found. Gives
/// what undoes that; `None`: the stack cannot be read.
fn step_back(context: &mut libc::ucontext_t) -> Option<(u64, u64)> {
    let as_it_was = (instruction(context), stack_pointer(context) as u64);
    let returns_to = readable::word(stack_pointer(context)).filter(|returns_to| *returns_to != 0)? as u64;
    set_registers(context, (returns_to - 1, as_it_was.1 + 8));
    Some(as_it_was)
}

/// Sets the instruction and the stack pointer.
#[cfg(target_arch = "x86_64")]
fn set_registers(context: &mut libc::ucontext_t, (instruction, pointer): (u64, u64)) {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] = instruction as i64;
    context.uc_mcontext.gregs[libc::REG_RSP as usize] = pointer as i64;
}

#[cfg(not(target_arch = "x86_64"))]
fn set_registers(_: &mut libc::ucontext_t, _: (u64, u64)) {}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(not(target_arch = "x86_64"))]
fn stack_pointer(_: &libc::ucontext_t) -> usize {
    usize::MAX
}

#[cfg(target_arch = "x86_64")]
fn instruction(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64
}

#[cfg(not(target_arch = "x86_64"))]
fn instruction(_: &libc::ucontext_t) -> u64 {
    0
}
