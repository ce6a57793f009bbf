//! What fits into a message.
#![allow(unsafe_code)] // exported names

use super::handler::LONG_HEAD;
use super::token::Token;
use crate::fail::{need, refuse};
use crate::place;
use crate::team::{Team, pair_index};
use crate::types::{EventHandle, Flags, RANK_INVALID, Rank, Tm, flag};
use pellucid_core::am::MAX_ARGS;
use pellucid_core::runtime;
use std::ffi::c_uint;

/// Bytes of a long payload at most: beyond the caches, so that more in one message gains nothing.
pub const LONG: usize = 4 << 20;

/// Bytes of a medium payload to a PE at most.
pub fn medium(routine: &'static str, pe: i32) -> usize {
    need(routine, runtime::messages().limits(pe)).medium
}

/// The same, to any PE: those of a host have one limit, those of others another.
pub fn medium_to_any() -> usize {
    let m = runtime::map();
    let others = [0, m.npes - 1].into_iter().filter(|pe| (pe - m.first_pe) as u32 >= m.local_pes);
    others.chain([m.me]).map(|pe| medium("gex_AM_LUBRequestMedium", pe)).min().unwrap_or(512)
}

/// The same, to a PE, or to any that a team or a pair addresses.
fn medium_to(routine: &'static str, tm: Tm, rank: Rank) -> usize {
    if rank != RANK_INVALID {
        return medium(routine, place::am_peer(routine, tm, rank));
    }
    let any = medium_to_any();
    // A pair addresses all of the job; the least there is what a team has that it is for one of its members.
    if pair_index(tm).is_some() || medium(routine, runtime::map().me) == any {
        return any;
    }
    let team = Team::of(routine, tm);
    let members = (0..team.size()).filter_map(|rank| team.member(rank));
    let least = members.map(|peer| medium(routine, peer.pe)).min();
    least.unwrap_or(any)
}

/// Bytes of a long payload in one message whose buffer is the library's: what it may have to carry itself.
pub fn long_alloc(medium: usize) -> usize {
    medium - LONG_HEAD
}

fn long_to(routine: &'static str, tm: Tm, rank: Rank, flags: Flags) -> usize {
    let medium = medium_to(routine, tm, rank);
    if flags & flag::AM_PREPARE_LEAST_ALLOC != 0 { long_alloc(medium) } else { LONG }
}

/// `gex_AM_MaxArgs`
#[unsafe(no_mangle)]
pub extern "C" fn gex_AM_MaxArgs() -> c_uint {
    MAX_ARGS as c_uint
}

macro_rules! limits {
    ($($name:ident, $of:expr;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(tm: Tm, rank: Rank, _: *const EventHandle, flags: Flags, _: c_uint) -> usize {
            $of(stringify!($name), tm, rank, flags)
        }
    )* };
}

limits! {
    gex_AM_MaxRequestMedium, |routine, tm, rank, _| medium_to(routine, tm, rank);
    gex_AM_MaxReplyMedium, |routine, tm, rank, _| medium_to(routine, tm, rank);
    gex_AM_MaxRequestLong, long_to;
    gex_AM_MaxReplyLong, long_to;
}

/// Who sent the request whose handler runs.
fn of_request(routine: &'static str, token: *const Token) -> i32 {
    let token = Token::running(routine, token);
    if !token.is_request() {
        refuse(routine, format!("called {}: only requests are replied to", token.describe()))
    }
    token.source() as i32
}

/// `gex_Token_MaxReplyMedium`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Token_MaxReplyMedium(token: *const Token, _: *const EventHandle, _: Flags, _: c_uint) -> usize {
    const R: &str = "gex_Token_MaxReplyMedium";
    medium(R, of_request(R, token))
}

/// `gex_Token_MaxReplyLong`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Token_MaxReplyLong(token: *const Token, _: *const EventHandle, flags: Flags, _: c_uint) -> usize {
    const R: &str = "gex_Token_MaxReplyLong";
    let medium = medium(R, of_request(R, token));
    if flags & flag::AM_PREPARE_LEAST_ALLOC != 0 { long_alloc(medium) } else { LONG }
}

macro_rules! least_upper_bounds {
    ($($name:ident, $value:expr;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> usize {
            $value
        }
    )* };
}

least_upper_bounds! {
    gex_AM_LUBRequestMedium, medium_to_any();
    gex_AM_LUBReplyMedium, medium_to_any();
    gex_AM_LUBRequestLong, LONG;
    gex_AM_LUBReplyLong, LONG;
}
