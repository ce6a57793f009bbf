//! Atomics domains. All operations on a word exclude each other, since they go where those of OpenSHMEM go: the CPU of
//! the word's host, or the network card where `SHMEM_ATOMICS=nic` says so. What these cannot do is done by comparing
//! and swapping.
#![allow(unsafe_code)]

use crate::event::{Counted, Slot};
use crate::fail::{is_unrestricted, need, refuse, unrestricted};
use crate::place::{self, Place};
use crate::rma::with_slot;
use crate::start;
use crate::team::Team;
use crate::types::{Dt, EVENT_INVALID, EventHandle, Flags, Op, Rank, Tm, category, flag};
use crate::{nbi, op as row, record};
use pellucid_core::runtime;
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion, RemoteAddress, Transport};
use pellucid_profile::op::Operation;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// `GEX_OP_*`: what does not fetch; what does is 16 places further on.
#[allow(missing_docs)]
mod op {
    use super::Op;
    pub const AND: Op = 1;
    pub const OR: Op = 1 << 1;
    pub const XOR: Op = 1 << 2;
    pub const ADD: Op = 1 << 3;
    pub const SUB: Op = 1 << 4;
    pub const MULT: Op = 1 << 5;
    pub const MIN: Op = 1 << 6;
    pub const MAX: Op = 1 << 7;
    pub const INC: Op = 1 << 8;
    pub const DEC: Op = 1 << 9;
    pub const SET: Op = 1 << 10;
    pub const CAS: Op = 1 << 11;
    pub const GET: Op = 1 << 14;
    pub const BITS: Op = AND | OR | XOR;
    pub const PLAIN: Op = 0xfff;
    pub const ALL: Op = PLAIN | GET | PLAIN << 16;
}

/// A domain.
#[derive(Debug)]
pub struct Domain {
    tm: Tm,
    team: &'static Team,
    dt: Dt,
    ops: Op,
    flags: Flags,
    cdata: AtomicPtr<c_void>,
    near: Near,
}

/// What [`at_once`] takes: members that are a run of PEs, and flags that say nothing which it would have to check.
#[derive(Debug)]
struct Near {
    first: u32,
    stride: u32,
    /// Members; none where they are no such run.
    size: u32,
    /// Flags that it does not take.
    others: Flags,
}

impl Near {
    fn of(team: &Team) -> Self {
        let (first, stride, size) = team.run().unwrap_or((0, 1, 0));
        // Ranks are those of the job; and what is mapped is in the neighbourhood.
        let is_job = (first, stride) == (0, 1);
        Self { first, stride, size, others: flag::AD_MY_RANK | if is_job { 0 } else { flag::RANK_IS_JOBRANK } }
    }
}

impl Domain {
    #[inline(always)]
    fn of(routine: &'static str, handle: *const Self) -> &'static Self {
        // SAFETY: a handle that the library made, says the caller, or null.
        unsafe { handle.as_ref() }.unwrap_or_else(|| refuse(routine, "ad is GEX_AD_INVALID"))
    }
}

/// `gex_AD_Create`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_AD_Create(ad_p: *mut *const Domain, tm: Tm, dt: Dt, ops: Op, flags: Flags) {
    const R: &str = "gex_AD_Create";
    unrestricted(R);
    let team = Team::of(R, tm);
    if !dt.is_power_of_two() || dt > 1 << 5 {
        refuse(R, format!("dt = {dt:#x}: expected one type that atomics have"))
    }
    let of_integers = op::BITS | op::BITS << 16;
    if ops == 0 || ops & !op::ALL != 0 || (dt >= 1 << 4 && ops & of_integers != 0) {
        refuse(R, format!("ops = {ops:#x} has operations that atomics on dt = {dt:#x} do not have"))
    }
    let domain = Box::new(Domain { tm, team, dt, ops, flags, cdata: AtomicPtr::default(), near: Near::of(team) });
    // SAFETY: a place for the handle, says the caller.
    unsafe { ad_p.write(Box::into_raw(domain)) };
}

/// `gex_AD_Destroy`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_AD_Destroy(ad: *mut Domain) {
    const R: &str = "gex_AD_Destroy";
    unrestricted(R);
    Domain::of(R, ad);
    // SAFETY: made by `gex_AD_Create`, and used no more, says the caller.
    drop(unsafe { Box::from_raw(ad) });
}

macro_rules! queries {
    ($($name:ident, $field:ident, $type:ty;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(ad: *const Domain) -> $type {
            Domain::of(stringify!($name), ad).$field
        }
    )* };
}

queries! {
    gex_AD_QueryFlags, flags, Flags;
    gex_AD_QueryTM, tm, Tm;
    gex_AD_QueryDT, dt, Dt;
    gex_AD_QueryOps, ops, Op;
}

/// `gex_AD_SetCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_AD_SetCData(ad: *const Domain, value: *const c_void) {
    Domain::of("gex_AD_SetCData", ad).cdata.store(value.cast_mut(), Ordering::Release);
}

/// `gex_AD_QueryCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_AD_QueryCData(ad: *const Domain) -> *mut c_void {
    Domain::of("gex_AD_QueryCData", ad).cdata.load(Ordering::Acquire)
}

/// A type of operands.
trait Operand: Copy {
    const DT: Dt;
    const IS_INTEGER: bool;
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
    /// What an operation leaves of a value.
    fn after(self, op: Op, operand: Self) -> Self;
}

macro_rules! operands {
    ($($t:ty, $dt:expr, $is_integer:literal, $unsigned:ty, $to:expr, $from:expr,
       $add:expr, $sub:expr, $mult:expr, $and:expr, $or:expr, $xor:expr;)*) => { $(
        impl Operand for $t {
            const DT: Dt = $dt;
            const IS_INTEGER: bool = $is_integer;
            #[inline(always)]
            fn bits(self) -> u64 {
                let bits: $unsigned = $to(self);
                bits.into()
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                $from(bits as $unsigned)
            }
            fn after(self, op: Op, operand: Self) -> Self {
                match op {
                    op::ADD => $add(self, operand),
                    op::SUB => $sub(self, operand),
                    op::MULT => $mult(self, operand),
                    op::MIN => if self < operand { self } else { operand },
                    op::MAX => if self > operand { self } else { operand },
                    op::INC => $add(self, 1 as $t),
                    op::DEC => $sub(self, 1 as $t),
                    op::AND => $and(self, operand),
                    op::OR => $or(self, operand),
                    op::XOR => $xor(self, operand),
                    _ => operand,
                }
            }
        }
    )* };
}

macro_rules! integers {
    ($($t:ident, $dt:expr, $unsigned:ident;)*) => {
        operands! { $(
            $t, $dt, true, $unsigned, |v: $t| v as $unsigned, |v: $unsigned| v as $t,
            $t::wrapping_add, $t::wrapping_sub, $t::wrapping_mul,
            |a: $t, b: $t| a & b, |a: $t, b: $t| a | b, |a: $t, b: $t| a ^ b;
        )* }
    };
}

integers! {
    i32, 1, u32;
    u32, 1 << 1, u32;
    i64, 1 << 2, u64;
    u64, 1 << 3, u64;
}

operands! {
    f32, 1 << 4, false, u32, f32::to_bits, f32::from_bits,
        |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, _| a, |a, _| a, |a, _| a;
    f64, 1 << 5, false, u64, f64::to_bits, f64::from_bits,
        |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, _| a, |a, _| a, |a, _| a;
}

/// Where the word of an operation is.
enum Word {
    Here(*mut u8),
    Network(&'static dyn Transport, RemoteAddress),
}

#[inline(always)]
fn word(routine: &'static str, pe: i32, addr: *mut u8, width: usize) -> Word {
    if !(addr as usize).is_multiple_of(width) {
        refuse(routine, format!("tgt_addr = {addr:p} is not aligned to {width} bytes"))
    }
    match place::locate(routine, pe, addr, width) {
        Place::Here(at) => {
            let m = runtime::map();
            // Where the network card does the atomics, it does all of them.
            if m.atomic_pes == m.local_pes { Word::Here(at) } else { through_the_network(routine, pe, addr, width, at) }
        }
        Place::Network(transport, at) => Word::Network(transport, at),
        Place::Owner { .. } => {
            refuse(routine, format!("tgt_addr = {addr:p} of PE {pe} is not in a segment of the library's memory"))
        }
    }
}

#[cold]
fn through_the_network(routine: &'static str, pe: i32, addr: *mut u8, width: usize, at: *mut u8) -> Word {
    match (runtime::map().transport, place::in_heap(pe, addr as usize, width)) {
        (Some(transport), Some(address)) => Word::Network(transport, address),
        (None, _) => Word::Here(at),
        _ => refuse(routine, format!("tgt_addr = {addr:p} of PE {pe} is out of the network card's reach")),
    }
}

/// An operation on an atomic word of the processor's, with its operands as bits of that width; the bits before.
macro_rules! operate_on {
    ($word:ident, $op:expr, $operands:expr, $operand:ty, $after:expr) => {{
        let (x, y) = $operands;
        match $op {
            op::GET => $word.load(Ordering::Acquire),
            op::SET => $word.swap(x, Ordering::AcqRel),
            op::CAS => match $word.compare_exchange(x, y, Ordering::AcqRel, Ordering::Acquire) {
                Ok(old) | Err(old) => old,
            },
            op::ADD if <$operand>::IS_INTEGER => $word.fetch_add(x, Ordering::AcqRel),
            op::SUB if <$operand>::IS_INTEGER => $word.fetch_sub(x, Ordering::AcqRel),
            op::INC if <$operand>::IS_INTEGER => $word.fetch_add(1, Ordering::AcqRel),
            op::DEC if <$operand>::IS_INTEGER => $word.fetch_sub(1, Ordering::AcqRel),
            op::AND => $word.fetch_and(x, Ordering::AcqRel),
            op::OR => $word.fetch_or(x, Ordering::AcqRel),
            op::XOR => $word.fetch_xor(x, Ordering::AcqRel),
            _ => $word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| Some($after(old))).unwrap_or_default(),
        }
    }};
}

/// Carries an operation out on a word here; the bits before.
///
/// # Safety
/// The word is mapped and aligned.
#[inline(always)]
unsafe fn apply<T: Operand>(at: *mut u8, op: Op, a: T, b: T) -> u64 {
    let after = |old: u64| T::from_bits(old).after(op, a).bits();
    if size_of::<T>() == 4 {
        // SAFETY: the caller's.
        let word = unsafe { AtomicU32::from_ptr(at.cast()) };
        let operands = (a.bits() as u32, b.bits() as u32);
        return u64::from(operate_on!(word, op, operands, T, |old: u32| after(old.into()) as u32));
    }
    // SAFETY: the caller's.
    let word = unsafe { AtomicU64::from_ptr(at.cast()) };
    // What most programs do, in front of a choice of many.
    if op == op::ADD && T::IS_INTEGER {
        return word.fetch_add(a.bits(), Ordering::AcqRel);
    }
    operate_on!(word, op, (a.bits(), b.bits()), T, after)
}

/// An operation as networks have it: operation, operand, what is compared with.
fn native<T: Operand>(op: Op, a: T, b: T, fetches: bool) -> Option<(AmoOp, u64, u64)> {
    let mask = if size_of::<T>() == 4 { u64::from(u32::MAX) } else { u64::MAX };
    let negative = |bits: u64| bits.wrapping_neg() & mask;
    Some(match op {
        op::GET => (AmoOp::Fetch, 0, 0),
        op::SET if fetches => (AmoOp::Swap, a.bits(), 0),
        op::SET => (AmoOp::Set, a.bits(), 0),
        op::CAS => (AmoOp::CompareSwap, b.bits(), a.bits()),
        op::ADD if T::IS_INTEGER => (AmoOp::Add, a.bits(), 0),
        op::SUB if T::IS_INTEGER => (AmoOp::Add, negative(a.bits()), 0),
        op::INC if T::IS_INTEGER => (AmoOp::Add, 1, 0),
        op::DEC if T::IS_INTEGER => (AmoOp::Add, negative(1), 0),
        op::AND => (AmoOp::And, a.bits(), 0),
        op::OR => (AmoOp::Or, a.bits(), 0),
        op::XOR => (AmoOp::Xor, a.bits(), 0),
        _ => return None,
    })
}

/// An operation on a word behind the network; whether it is complete.
#[cold]
#[inline(never)]
unsafe fn away<T: Operand>(
    routine: &'static str,
    (transport, at): (&'static dyn Transport, RemoteAddress),
    (op, a, b): (Op, T, T),
    result: *mut T,
    counted: &mut dyn FnMut() -> &'static Counted,
) -> bool {
    let width = size_of::<T>() as u8;
    // SAFETY: the results live until their operations are complete, here or with the caller.
    let atomic = |op, operand, compare, result: *mut u8, completion| unsafe {
        let atomic = Atomic { op, width, operand, compare, result };
        need(routine, transport.atomic(Channel::DEFAULT, at, atomic, completion));
    };
    if let Some((op, operand, compare)) = native(op, a, b, !result.is_null()) {
        // A compare and swap has a result in any case, which nobody may want.
        if result.is_null() && matches!(op, AmoOp::CompareSwap) {
            let mut unwanted = 0u64;
            atomic(op, operand, compare, (&raw mut unwanted).cast(), Completion::Local);
            return true;
        }
        atomic(op, operand, compare, result.cast(), Completion::Event(counted().slot()));
        return false;
    }
    let mut seen = 0u64;
    atomic(AmoOp::Fetch, 0, 0, (&raw mut seen).cast(), Completion::Local);
    loop {
        let mut found = 0u64;
        let wanted = T::from_bits(seen).after(op, a).bits();
        atomic(AmoOp::CompareSwap, wanted, seen, (&raw mut found).cast(), Completion::Local);
        if found == seen {
            break;
        }
        seen = found;
    }
    if !result.is_null() {
        // SAFETY: a place for the result, says the caller.
        unsafe { result.write_unaligned(T::from_bits(seen)) };
    }
    true
}

/// A call.
#[derive(Clone, Copy)]
struct Call<T> {
    ad: *const Domain,
    result: *mut T,
    rank: Rank,
    addr: *mut u8,
    opcode: Op,
    a: T,
    b: T,
    flags: Flags,
}

impl<T> Call<T> {
    /// The operation, whether it fetches or not.
    #[inline(always)]
    fn plain(&self) -> Op {
        if self.opcode > 1 << 15 { self.opcode >> 16 } else { self.opcode }
    }

    #[inline(always)]
    fn fetches(&self) -> bool {
        self.opcode & (op::PLAIN << 16 | op::GET) != 0
    }
}

/// Most calls: an operation on a word that is mapped here, of which nothing is to be recorded but that there was one.
/// False where anything is not so or not allowed, and then nothing has been done: [`operate`] does it, or says what is
/// wrong. What only that needs is no business of this one, which keeps all in registers.
///
/// # Safety
/// As [`operate`].
#[inline(always)]
unsafe fn at_once<T: Operand>(recorded: impl Operation, call: Call<T>) -> bool {
    // SAFETY: a handle that the library made, says the caller, or null.
    let Some(domain) = (unsafe { call.ad.as_ref() }) else { return false };
    let near = &domain.near;
    if !is_unrestricted()
        || call.opcode & domain.ops == 0
        || !call.opcode.is_power_of_two()
        || domain.dt != T::DT
        || call.flags & near.others != 0
        || call.rank >= near.size
        || start::heap_bases().is_some()
    {
        return false;
    }
    let (m, pe) = (runtime::map(), (near.first + call.rank * near.stride) as i32);
    let offset = (call.addr as usize).wrapping_sub(m.heap_base);
    let Some(at) = m.local_mapping_atomic(call.addr.cast::<T>(), pe) else { return false };
    if offset >= m.heap_len || !record::is_only_counted(recorded, pe, call.addr as usize, size_of::<T>()) {
        return false;
    }
    // SAFETY: mapped and aligned; the result's place is the caller's word.
    unsafe {
        let before = apply(at.cast(), call.plain(), call.a, call.b);
        if call.fetches() {
            call.result.write_unaligned(T::from_bits(before));
        }
    }
    true
}

/// Any call; whether it is complete.
///
/// # Safety
/// A place for the result, of an operation that fetches.
#[inline(always)]
unsafe fn operate<T: Operand>(
    routine: &'static str,
    recorded: impl Operation,
    call: Call<T>,
    counted: &mut dyn FnMut() -> &'static Counted,
) -> bool {
    unrestricted(routine);
    let Call { opcode, rank, addr, a, b, flags, .. } = call;
    let domain = Domain::of(routine, call.ad);
    if opcode & domain.ops == 0 || !opcode.is_power_of_two() || domain.dt != T::DT {
        not_of_domain(routine, domain, opcode, T::DT)
    }
    let team = if flags & flag::RANK_IS_JOBRANK != 0 { start::client().team } else { domain.team };
    let Some(place::Peer { pe, .. }) = team.member(rank) else { place::bad_rank(routine, rank, team.size()) };
    if flags & (flag::AD_MY_RANK | flag::AD_MY_NBRHD | flag::RANK_IS_JOBRANK) != 0 {
        check_flags(routine, domain, pe, flags);
    }
    let result = if call.fetches() { call.result } else { std::ptr::null_mut() };
    record::sampled(recorded, pe, addr as usize, size_of::<T>(), || {
        match word(routine, pe, addr, size_of::<T>()) {
            Word::Here(at) => {
                // SAFETY: mapped and aligned; the result's place is the caller's word.
                unsafe {
                    let before = apply(at, call.plain(), a, b);
                    if !result.is_null() {
                        result.write_unaligned(T::from_bits(before));
                    }
                }
                true
            }
            // SAFETY: the caller's.
            Word::Network(transport, at) => unsafe {
                away(routine, (transport, at), (call.plain(), a, b), result, counted)
            },
        }
    })
}

/// Checks what flags assert of the target.
fn check_flags(routine: &'static str, domain: &Domain, pe: i32, flags: Flags) {
    let m = runtime::map();
    let is_near = ((pe - m.first_pe) as u32) < m.local_pes;
    if domain.team.rank_of(pe as Rank).is_none() {
        refuse(routine, format!("jobrank {pe} is not in the team of the domain"))
    }
    if flags & flag::AD_MY_RANK != 0 && pe != m.me {
        refuse(routine, format!("the target is of rank {pe}, and GEX_FLAG_AD_MY_RANK says that it is of this process"))
    }
    if flags & flag::AD_MY_NBRHD != 0 && !is_near {
        refuse(routine, format!("the target, of rank {pe}, is not of this neighbourhood, as GEX_FLAG_AD_MY_NBRHD says"))
    }
}

#[cold]
fn not_of_domain(routine: &'static str, domain: &Domain, opcode: Op, dt: Dt) -> ! {
    refuse(
        routine,
        format!(
            "opcode = {opcode:#x} on type {dt:#x}: the domain, of {} members, was made for {:#x} on type {:#x}",
            domain.team.size(),
            domain.ops,
            domain.dt
        ),
    )
}

/// The category of an operation that has no event of its own.
fn category_of(opcode: Op) -> u32 {
    match opcode {
        op::SET => category::PUT,
        op::GET => category::GET,
        _ => category::RMW,
    }
}

// What is not done at once is jumped to, with the arguments where they are.
macro_rules! entries {
    ($($t:ty, $nb:ident $nb_row:ident $nb_other:ident, $nbi:ident $nbi_row:ident $nbi_other:ident;)*) => { $(
        entries! { $t, $nb $nb_row $nb_other EventHandle, EVENT_INVALID, |call| {
            // SAFETY: the caller's.
            let slot = with_slot(|slot| unsafe { operate(stringify!($nb), row!($nb_row), call, slot) });
            slot.map_or(EVENT_INVALID, Slot::root)
        } }
        entries! { $t, $nbi $nbi_row $nbi_other c_int, 0, |call| {
            let counted = &mut || nbi::counted(category_of(call.opcode));
            // SAFETY: the caller's.
            unsafe { operate(stringify!($nbi), row!($nbi_row), call, counted) };
            0
        } }
    )* };
    ($t:ty, $name:ident $row:ident $other:ident $result:ty, $done:expr, |$call:ident| $any:expr) => {
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            ad: *const Domain,
            result: *mut $t,
            rank: Rank,
            addr: *mut c_void,
            opcode: Op,
            a: $t,
            b: $t,
            flags: Flags,
        ) -> $result {
            let call = Call { ad, result, rank, addr: addr.cast(), opcode, a, b, flags };
            // SAFETY: the caller's.
            unsafe {
                if at_once(row!($row), call) { $done } else { $other(ad, result, rank, addr, opcode, a, b, flags) }
            }
        }

        #[cold]
        #[inline(never)]
        unsafe extern "C" fn $other(
            ad: *const Domain,
            result: *mut $t,
            rank: Rank,
            addr: *mut c_void,
            opcode: Op,
            a: $t,
            b: $t,
            flags: Flags,
        ) -> $result {
            let $call = Call { ad, result, rank, addr: addr.cast(), opcode, a, b, flags };
            $any
        }
    };
}

entries! {
    i32, gex_AD_OpNB_I32 AD_NB_I32 any_nb_i32, gex_AD_OpNBI_I32 AD_NBI_I32 any_nbi_i32;
    u32, gex_AD_OpNB_U32 AD_NB_U32 any_nb_u32, gex_AD_OpNBI_U32 AD_NBI_U32 any_nbi_u32;
    i64, gex_AD_OpNB_I64 AD_NB_I64 any_nb_i64, gex_AD_OpNBI_I64 AD_NBI_I64 any_nbi_i64;
    u64, gex_AD_OpNB_U64 AD_NB_U64 any_nb_u64, gex_AD_OpNBI_U64 AD_NBI_U64 any_nbi_u64;
    f32, gex_AD_OpNB_FLT AD_NB_FLT any_nb_flt, gex_AD_OpNBI_FLT AD_NBI_FLT any_nbi_flt;
    f64, gex_AD_OpNB_DBL AD_NB_DBL any_nb_dbl, gex_AD_OpNBI_DBL AD_NBI_DBL any_nbi_dbl;
}
