//! The first instructions of every routine.
//!
//! `shmem_X` is weak, so that a tool's strong `shmem_X` replaces it in static and dynamic links alike. It tests one
//! byte, `ARM[op]`, and jumps to the routine, to the probe around it (or to what is in front of that), or to the dispatcher that stacked tools and callbacks stand
//! behind ([`crate::dispatcher`]); all arguments are still where the caller put them. On the way to the probe it can leave the
//! return address, which is the call site, in the second word of the thread-local variable of `src/profile/shim/slot.c`.
//! `pshmem_X` is strong and tests `PARM[op]`: set where a tool in the executable defines `shmem_X` and calls `pshmem_X` (see
//! [`crate::tool`]). It has the dispatcher find out whose call it is ([`crate::caller`]).
//!
//! Stable Rust has no weak functions. The Rust function is therefore exported as `pellucid_shmem_X`, and its first
//! instruction carries the weak symbol `shmem_X` as a second name. (Under `no_mangle` the compiler declares the name
//! global first, and the assembler warns of every `.weak` that follows.)
//!
//! The entries are in a section of their own: near each other, and recognizable by address.

/// Body of `shmem_X`.
macro_rules! weak {
    ($name:literal, $op:literal, $imp:path, $probe:path) => {
        weak!($name, $op, $imp, $probe, $probe)
    };
    ($name:literal, $op:literal, $imp:path, $brief:path, $probe:path) => {
        enter!(
            concat!(".weak ", $name, "\n.type ", $name, ", @function\n", $name, ":"),
            concat!(".size ", $name, ", . - ", $name),
            $op,
            $imp,
            $brief,
            $probe,
            pellucid_profile::arm::ARM,
            0
        )
    };
}

/// Body of `pshmem_X`.
macro_rules! strong {
    ($op:literal, $imp:path, $probe:path) => {
        strong!($op, $imp, $probe, $probe)
    };
    ($op:literal, $imp:path, $brief:path, $probe:path) => {
        enter!("", "", $op, $imp, $brief, $probe, pellucid_profile::arm::PARM, $crate::dispatcher::STRONG)
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! enter {
    ($head:expr, $tail:expr, $op:literal, $imp:path, $brief:path, $probe:path, $armed:path, $which:expr) => {
        core::arch::naked_asm!(
            $head,
            // Reached without a detour in a shared library too: a jump through the linkage table may lose r11.
            ".hidden {armed}",
            ".hidden {dispatcher}",
            "cmp byte ptr [rip + {armed} + {op}], 1",
            "jb {imp}",
            "je {brief}",
            "cmp byte ptr [rip + {armed} + {op}], 2",
            "je 2f",
            // r10 and r11 belong to nobody between a call and its target.
            "mov r11d, {entry}",
            "jmp {dispatcher}",
            // Where the call comes from, for the probe.
            "2: mov r10, qword ptr [rsp]",
            "mov r11, qword ptr [rip + pellucid_profile_thread@GOTTPOFF]",
            "mov qword ptr fs:[r11 + 8], r10",
            "jmp {probe}",
            $tail,
            ".p2align 5",
            armed = sym $armed,
            op = const $op,
            entry = const $op + $which,
            imp = sym $imp,
            brief = sym $brief,
            probe = sym $probe,
            dispatcher = sym $crate::dispatcher::dispatcher,
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! enter {
    ($head:expr, $tail:expr, $op:literal, $imp:path, $brief:path, $probe:path, $armed:path, $which:expr) => {
        core::arch::naked_asm!(
            $head,
            // Reached without a detour in a shared library too: a jump through the linkage table may lose r11.
            ".hidden {armed}",
            ".hidden {dispatcher}",
            // x16 and x17 belong to nobody between a call and its target.
            "adrp x16, {armed} + {op}",
            "add x16, x16, :lo12:{armed} + {op}",
            "ldrb w16, [x16]",
            "cbnz w16, 2f",
            "b {imp}",
            "2: cmp w16, #2",
            "b.hi 3f",
            "b.lo {brief}",
            // Where the call comes from, for the probe.
            "mrs x17, tpidr_el0",
            "adrp x16, :gottprel:pellucid_profile_thread",
            "ldr x16, [x16, :gottprel_lo12:pellucid_profile_thread]",
            "add x16, x16, x17",
            "str x30, [x16, 8]",
            "b {probe}",
            "3: movz w16, #{entry}",
            "b {dispatcher}",
            $tail,
            ".p2align 5",
            armed = sym $armed,
            op = const $op,
            entry = const $op + $which,
            imp = sym $imp,
            brief = sym $brief,
            probe = sym $probe,
            dispatcher = sym $crate::dispatcher::dispatcher,
        )
    };
}
