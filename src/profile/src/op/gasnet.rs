//! The GASNet-EX interface in the operation table: its calls, and the handlers of its messages.
//!
//! The rows follow those of the OpenSHMEM table, whose entry points they have nothing to do with: `src/gasnet` records
//! its calls itself. `gex_AM_Request_waits_for_room` is the part of a request that finds its peer's queue full,
//! `gex_AM_Request_tries` are attempts of those that are not to wait, and of `gex_HSL_Lock` calls are counted that
//! found the lock taken.
//!
//! What handlers call is part of the calls that run them, as handlers are: replies, and locks that they wait for.

use super::{Class, INITIALIZES, OF_ALL, Row, STORES, TRANSFER, Timing, generated};

/// The first of the rows.
const FIRST: usize = generated::COUNT;

/// Numbers of handlers that clients register: 128 and more.
const HANDLERS_FROM: u16 = 128;

/// `rows! { ID name class timing bytes of an element, traits }`: an operation number and a row each, in this order.
macro_rules! rows {
    ($($id:ident $name:literal $class:ident $timing:ident $elem:literal $($traits:ident)?;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum At { $($id,)* END }

        $(
            #[doc = concat!("`", $name, "`")]
            pub const $id: u16 = (FIRST + At::$id as usize) as u16;
        )*

        const CALLS: usize = At::END as usize;

        const API: [Row; CALLS] = [$(
            Row {
                name: $name,
                class: Class::$class,
                section: "GASNet-EX",
                elem: $elem,
                timing: Timing::$timing,
                traits: changes(Class::$class) $(| $traits)?,
            },
        )*];
    };
}

rows! {
    CLIENT_INIT "gex_Client_Init" Setup Timed 0 INITIALIZES;
    GASNET_INIT "gasnet_init" Setup Timed 0 INITIALIZES;
    GASNET_ATTACH "gasnet_attach" Setup Timed 0 OF_ALL;
    SEGMENT_ATTACH "gex_Segment_Attach" Setup Timed 0;
    PUBLISH "gex_EP_PublishBoundSegment" Team Timed 0;
    TM_SPLIT "gex_TM_Split" Team Timed 0;
    REQUEST_SHORT "gex_AM_RequestShort" Message Sampled 0;
    REQUEST_MEDIUM "gex_AM_RequestMedium" Message Sized 0;
    REQUEST_LONG "gex_AM_RequestLong" Message Sized 0;
    REPLY_SHORT "gex_AM_ReplyShort" Handler Sampled 0 TRANSFER;
    REPLY_MEDIUM "gex_AM_ReplyMedium" Handler Sized 0 TRANSFER;
    REPLY_LONG "gex_AM_ReplyLong" Handler Sized 0 TRANSFER;
    NO_ROOM "gex_AM_Request_waits_for_room" Wait Timed 0;
    POLL "gasnet_AMPoll" Test Sampled 0;
    BLOCKUNTIL "GASNET_BLOCKUNTIL" Wait Timed 0;
    EVENT_TEST "gex_Event_Test" Test Sampled 0;
    EVENT_WAIT "gex_Event_Wait" Wait Timed 0;
    NBI_TEST "gex_NBI_Test" Test Sampled 0;
    NBI_WAIT "gex_NBI_Wait" Wait Timed 0;
    HSL_WAIT "gex_HSL_Lock" Lock Timed 0;
    PUT_BLOCKING "gex_RMA_PutBlocking" Put Sized 0;
    GET_BLOCKING "gex_RMA_GetBlocking" Get Sized 0;
    PUT_NB "gex_RMA_PutNB" Put Sized 0;
    GET_NB "gex_RMA_GetNB" Get Sized 0;
    PUT_NBI "gex_RMA_PutNBI" Put Sized 0;
    GET_NBI "gex_RMA_GetNBI" Get Sized 0;
    PUT_VAL_BLOCKING "gex_RMA_PutBlockingVal" Put Sized 0;
    PUT_VAL_NB "gex_RMA_PutNBVal" Put Sized 0;
    PUT_VAL_NBI "gex_RMA_PutNBIVal" Put Sized 0;
    GET_VAL "gex_RMA_GetBlockingVal" Get Sized 0;
    MEMSET "gasnet_memset" Put Sized 0;
    VECTOR_PUT_BLOCKING "gex_VIS_VectorPutBlocking" Put Timed 0;
    VECTOR_GET_BLOCKING "gex_VIS_VectorGetBlocking" Get Timed 0;
    VECTOR_PUT_NB "gex_VIS_VectorPutNB" Put Timed 0;
    VECTOR_GET_NB "gex_VIS_VectorGetNB" Get Timed 0;
    VECTOR_PUT_NBI "gex_VIS_VectorPutNBI" Put Timed 0;
    VECTOR_GET_NBI "gex_VIS_VectorGetNBI" Get Timed 0;
    INDEXED_PUT_BLOCKING "gex_VIS_IndexedPutBlocking" Put Timed 0;
    INDEXED_GET_BLOCKING "gex_VIS_IndexedGetBlocking" Get Timed 0;
    INDEXED_PUT_NB "gex_VIS_IndexedPutNB" Put Timed 0;
    INDEXED_GET_NB "gex_VIS_IndexedGetNB" Get Timed 0;
    INDEXED_PUT_NBI "gex_VIS_IndexedPutNBI" Put Timed 0;
    INDEXED_GET_NBI "gex_VIS_IndexedGetNBI" Get Timed 0;
    STRIDED_PUT_BLOCKING "gex_VIS_StridedPutBlocking" Put Timed 0;
    STRIDED_GET_BLOCKING "gex_VIS_StridedGetBlocking" Get Timed 0;
    STRIDED_PUT_NB "gex_VIS_StridedPutNB" Put Timed 0;
    STRIDED_GET_NB "gex_VIS_StridedGetNB" Get Timed 0;
    STRIDED_PUT_NBI "gex_VIS_StridedPutNBI" Put Timed 0;
    STRIDED_GET_NBI "gex_VIS_StridedGetNBI" Get Timed 0;
    AD_NB_I32 "gex_AD_OpNB_I32" Amo Sampled 4;
    AD_NB_U32 "gex_AD_OpNB_U32" Amo Sampled 4;
    AD_NB_I64 "gex_AD_OpNB_I64" Amo Sampled 8;
    AD_NB_U64 "gex_AD_OpNB_U64" Amo Sampled 8;
    AD_NB_FLT "gex_AD_OpNB_FLT" Amo Sampled 4;
    AD_NB_DBL "gex_AD_OpNB_DBL" Amo Sampled 8;
    AD_NBI_I32 "gex_AD_OpNBI_I32" Amo Sampled 4;
    AD_NBI_U32 "gex_AD_OpNBI_U32" Amo Sampled 4;
    AD_NBI_I64 "gex_AD_OpNBI_I64" Amo Sampled 8;
    AD_NBI_U64 "gex_AD_OpNBI_U64" Amo Sampled 8;
    AD_NBI_FLT "gex_AD_OpNBI_FLT" Amo Sampled 4;
    AD_NBI_DBL "gex_AD_OpNBI_DBL" Amo Sampled 8;
    BARRIER "gex_Coll_BarrierNB" Collective Sampled 0;
    BROADCAST "gex_Coll_BroadcastNB" Collective Sampled 0;
    REDUCE_ONE "gex_Coll_ReduceToOneNB" Collective Sampled 0;
    REDUCE_ALL "gex_Coll_ReduceToAllNB" Collective Sampled 0;
    OLD_NOTIFY "gasnet_barrier_notify" Collective Sampled 0;
    OLD_WAIT "gasnet_barrier_wait" Wait Timed 0;
    OLD_COLL "gasnet_coll" Wait Timed 0;
    REQUEST_TRIES "gex_AM_Request_tries" Test Sampled 0;
    HSL_WITHIN "gex_HSL_Lock_in_handler" Handler Timed 0;
    TM_CREATE "gex_TM_Create" Team Timed 0;
}

/// All atomics may store, since one routine is for all of them.
const fn changes(class: Class) -> u32 {
    if matches!(class, Class::Put | Class::Amo) { STORES } else { 0 }
}

/// `handlers! { numbers }`: a row for each.
macro_rules! handlers {
    ($($number:literal)*) => {
        const HANDLERS: [Row; 128] = [$(
            Row {
                name: concat!("gex_AM_handler_", stringify!($number)),
                class: Class::Handler,
                section: "GASNet-EX",
                elem: 0,
                timing: Timing::Sampled,
                traits: 0,
            },
        )*];
    };
}

handlers! {
    128 129 130 131 132 133 134 135 136 137 138 139 140 141 142 143 144 145 146 147 148 149 150 151
    152 153 154 155 156 157 158 159 160 161 162 163 164 165 166 167 168 169 170 171 172 173 174 175
    176 177 178 179 180 181 182 183 184 185 186 187 188 189 190 191 192 193 194 195 196 197 198 199
    200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 220 221 222 223
    224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 247
    248 249 250 251 252 253 254 255
}

/// Rows of this interface.
pub(super) const COUNT: usize = CALLS + HANDLERS.len();

/// A row.
pub(super) const fn row(at: usize) -> &'static Row {
    const API_ROWS: &[Row] = &API;
    const HANDLER_ROWS: &[Row] = &HANDLERS;
    if at < CALLS { &API_ROWS[at] } else { &HANDLER_ROWS[at - CALLS] }
}

/// The operation that a handler is. Those of smaller numbers are the library's own, and none.
#[inline]
pub const fn handler(number: u16) -> Option<u16> {
    if number < HANDLERS_FROM || number > u8::MAX as u16 {
        return None;
    }
    Some((FIRST + CALLS) as u16 + number - HANDLERS_FROM)
}

/// Whether an operation waits for messages or for what goes on by them: its peer is who has to do something, and its
/// address tells what ([`Awaited`]).
pub const fn waits_for_messages(op: u16) -> bool {
    let is_wait = matches!(op, NO_ROOM | POLL | BLOCKUNTIL | EVENT_WAIT | NBI_WAIT | OLD_WAIT | OLD_COLL);
    let is_setup = matches!(op, CLIENT_INIT | GASNET_INIT | GASNET_ATTACH | SEGMENT_ATTACH);
    is_wait || is_setup || matches!(op, PUBLISH | TM_SPLIT | TM_CREATE)
}

/// What a wait for messages may be for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// A request to which no reply has come.
    Request {
        /// The handler's number.
        handler: u16,
        /// It is known not to have run.
        is_pending: bool,
        /// It has replied before.
        replies: bool,
    },
    /// What a PE has to do in a collective.
    Part,
}

const REQUEST: u64 = 1 << 16;
const IS_PENDING: u64 = 1 << 17;
const REPLIES: u64 = 1 << 18;
const PART: u64 = 1 << 19;

impl Awaited {
    /// As the address of a wait.
    pub const fn address(self) -> usize {
        match self {
            Self::Request { handler, is_pending, replies } => {
                let (pending, replies) = (IS_PENDING * is_pending as u64, REPLIES * replies as u64);
                (REQUEST | pending | replies | handler as u64) as usize
            }
            Self::Part => PART as usize,
        }
    }

    /// The contrary; `None`: nothing of the kind.
    pub const fn of(addr: u64) -> Option<Self> {
        if addr == PART {
            return Some(Self::Part);
        }
        if addr >= PART || addr & REQUEST == 0 {
            return None;
        }
        let (is_pending, replies) = (addr & IS_PENDING != 0, addr & REPLIES != 0);
        Some(Self::Request { handler: addr as u16, is_pending, replies })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{find, get};
    use super::*;

    #[test]
    fn numbers_are_those_of_the_rows() {
        let named = |op: u16| get(op).map(|row| row.name());
        assert_eq!((named(CLIENT_INIT), named(OLD_COLL)), (Some("gex_Client_Init"), Some("gasnet_coll")));
        assert_eq!(named(AD_NBI_DBL), Some("gex_AD_OpNBI_DBL"));
        for number in [128, 201, 255] {
            assert_eq!(handler(number), find(&format!("gex_AM_handler_{number}")));
        }
        assert_eq!((handler(127), handler(256)), (None, None));
    }

    #[test]
    fn what_is_awaited_is_read_back() {
        let request = |handler, is_pending, replies| Awaited::Request { handler, is_pending, replies };
        for awaited in [request(201, true, false), request(128, false, true), request(255, true, true), Awaited::Part] {
            assert_eq!(Awaited::of(awaited.address() as u64), Some(awaited));
        }
        assert_eq!((Awaited::of(0), Awaited::of(0x7f00_0001_0000)), (None, None));
    }
}
