//! What the Fortran interface (`src/fortran`) does not have from a C routine: results in two registers, locks of four
//! bytes,
//! `REAL*16`, `SHPALLOC` and its relatives, names padded with blanks.
//!
//! `libsmaf` jumps here as it jumps to `shmem_X`: the numbers are read, what returns goes to the program. Calls count
//! as those of the C routine that does the same. No tool's `shmem_X` takes these arguments, so none is asked; Fortran
//! tools define the Fortran names, which come first.
#![allow(unsafe_code)]

mod memory;
mod routines;

use pellucid_profile::op::OPS;

/// The number of an operation.
pub(crate) const fn op(name: &str) -> u16 {
    let mut id = 0;
    while id < OPS.len() {
        if is_same(OPS[id].name().as_bytes(), name.as_bytes()) {
            return id as u16;
        }
        id += 1;
    }
    panic!("no such operation")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// `entry!("symbol", through, "operation", (parameters) -> result, |m| [peer, addr, bytes] expression,
/// failed |r| condition)`
///
/// makes the function `symbol`: the expression, of type `Result<_, Fault>`, as a call of the operation at the place
/// that the symbol was called from, or `libsmaf` in its stead.
macro_rules! entry {
    ($symbol:literal, $through:ident, $op:literal, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     |$m:ident| [$peer:expr, $addr:expr, $bytes:expr] $call:expr, failed |$r:ident| $failed:expr) => {
        const _: () = {
            #[cfg(target_arch = "x86_64")]
            #[unsafe(export_name = $symbol)]
            #[unsafe(naked)]
            unsafe extern "C" fn entry($($arg: $type),*) $(-> $ret)? {
                core::arch::naked_asm!(
                    // Where the call comes from; r10 and r11 belong to nobody between a call and its target.
                    "mov r10, qword ptr [rsp]",
                    "mov r11, qword ptr [rip + pellucid_entry_thread@GOTTPOFF]",
                    "mov qword ptr fs:[r11], r10",
                    "jmp {through}",
                    through = sym $through,
                )
            }

            #[cfg(target_arch = "aarch64")]
            #[unsafe(export_name = $symbol)]
            #[unsafe(naked)]
            unsafe extern "C" fn entry($($arg: $type),*) $(-> $ret)? {
                core::arch::naked_asm!(
                    "mrs x17, tpidr_el0",
                    "adrp x16, :gottprel:pellucid_entry_thread",
                    "ldr x16, [x16, :gottprel_lo12:pellucid_entry_thread]",
                    "str x30, [x16, x17]",
                    "b {through}",
                    through = sym $through,
                )
            }
        };

        unsafe extern "C" fn $through($($arg: $type),*) $(-> $ret)? {
            const OP: u16 = crate::fortran::op($op);
            let $m = pellucid_core::runtime::world();
            let operands = move || ($peer, $addr, $bytes);
            let call = Call::new(OP, operands(), ($addr, 0, 0, 0));
            let mut result = std::mem::MaybeUninit::uninit();
            dispatcher::pass_by(&call, &mut || {
                // Waits are shown to whoever looks at a job that hangs.
                let value = or_end(OP, thread::within(OP, operands, || $call));
                result.write(value);
                let $r = value;
                $failed
            });
            // SAFETY: the dispatcher calls the closure, which writes the result, once.
            unsafe { result.assume_init() }
        }
    };
    ($symbol:literal, $through:ident, $op:literal, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     |$m:ident| [$peer:expr, $addr:expr, $bytes:expr] $call:expr) => {
        entry!($symbol, $through, $op, ($($arg: $type),*) $(-> $ret)?,
               |$m| [$peer, $addr, $bytes] $call, failed |_r| false);
    };
}
use entry;
