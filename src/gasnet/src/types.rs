//! Types and constants, as the headers have them.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// A PE, or how many.
pub type Rank = u32;
/// Number of an endpoint of a process.
pub type EpIndex = u16;
/// `gex_Flags_t`.
pub type Flags = u32;
/// `gex_DT_t`.
pub type Dt = u32;
/// `gex_OP_t`.
pub type Op = u32;
/// An event: 0 none, 1 no operation, else see [`crate::event`].
pub type EventHandle = usize;
/// A team as a program holds it: see [`crate::team`].
pub type Tm = usize;

/// `GEX_RANK_INVALID`
pub const RANK_INVALID: Rank = u32::MAX;
/// `GEX_EVENT_INVALID`
pub const EVENT_INVALID: EventHandle = 0;

/// Results of functions.
pub mod code {
    use super::c_int;
    /// `GASNET_OK`
    pub const OK: c_int = 0;
    /// `GASNET_ERR_NOT_INIT`
    pub const NOT_INIT: c_int = 10001;
    /// `GASNET_ERR_BAD_ARG`
    pub const BAD_ARG: c_int = 10002;
    /// `GASNET_ERR_RESOURCE`
    pub const RESOURCE: c_int = 10003;
    /// `GASNET_ERR_NOT_READY`
    pub const NOT_READY: c_int = 10004;
    /// `GASNET_ERR_BARRIER_MISMATCH`
    pub const BARRIER_MISMATCH: c_int = 10005;
}

/// `GEX_FLAG_*`
#[allow(missing_docs)]
pub mod flag {
    use super::Flags;
    pub const IMMEDIATE: Flags = 1;
    pub const PEER_NEVER_SELF: Flags = 1 << 1;
    pub const PEER_NEVER_NBRHD: Flags = 1 << 2;
    pub const AD_MY_RANK: Flags = 1 << 4;
    pub const AD_MY_NBRHD: Flags = 1 << 5;
    pub const AM_PREPARE_LEAST_CLIENT: Flags = 1 << 11;
    pub const AM_PREPARE_LEAST_ALLOC: Flags = 1 << 12;
    pub const RANK_IS_JOBRANK: Flags = 1 << 13;
    pub const TM_GLOBAL_SCRATCH: Flags = 1 << 14;
    pub const TM_LOCAL_SCRATCH: Flags = 1 << 15;
    pub const TM_NO_SCRATCH: Flags = 1 << 17;
    pub const TM_SCRATCH_SIZE_RECOMMENDED: Flags = 1 << 19;
    pub const TM_SCRATCH_SIZE_MIN: Flags = 1 << 20;
    pub const USES_GASNET1: Flags = 1 << 23;
    pub const DEFER_THREADS: Flags = 1 << 24;
    pub const AM_SHORT: Flags = 1;
    pub const AM_MEDIUM: Flags = 1 << 1;
    pub const AM_LONG: Flags = 1 << 2;
    pub const AM_REQUEST: Flags = 1 << 3;
    pub const AM_REPLY: Flags = 1 << 4;
}

/// `GEX_EC_*`
#[allow(missing_docs)]
pub mod category {
    pub const GET: u32 = 1;
    pub const PUT: u32 = 2;
    pub const AM: u32 = 4;
    pub const LC: u32 = 8;
    pub const RMW: u32 = 16;
    pub const ALL: u32 = 31;
}

/// `GASNET_PAGESIZE`
pub const PAGE: usize = 4096;
/// `GASNET_MAXEPS`
pub const MAX_EPS: usize = 33;
/// `GEX_AM_INDEX_BASE`
pub const AM_BASE: u8 = 128;

/// `gex_Memvec_t`
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Memvec {
    /// First byte.
    pub addr: *mut c_void,
    /// Bytes.
    pub len: usize,
}

/// `gex_EP_Location_t`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Location {
    /// The process.
    pub rank: Rank,
    /// Its endpoint.
    pub index: EpIndex,
}

/// `gex_AM_Entry_t`
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct AmEntry {
    /// Its number; 0: any.
    pub index: u8,
    /// The function.
    pub function: *const c_void,
    /// How it may be called.
    pub flags: Flags,
    /// Its arguments.
    pub nargs: c_uint,
    /// The client's.
    pub cdata: *const c_void,
    /// Its name, for messages; may be null.
    pub name: *const c_char,
}

/// `gex_Token_Info_t`
#[derive(Debug)]
#[repr(C)]
pub struct TokenInfo {
    /// Who sent the message.
    pub source: Rank,
    /// Who received it.
    pub ep: *const c_void,
    /// The handler.
    pub entry: *const AmEntry,
    /// 1: a request.
    pub is_request: c_int,
    /// 1: a long message.
    pub is_long: c_int,
}

/// `gex_RankInfo_t`
#[derive(Debug)]
#[repr(C)]
pub struct RankInfo {
    /// A PE.
    pub jobrank: Rank,
}
