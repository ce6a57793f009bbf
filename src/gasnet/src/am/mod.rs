//! Active messages.
//!
//! | file | idea |
//! |---|---|
//! | `handler.rs` | the table of handlers, and how one is called |
//! | `request.rs`, `reply.rs` | what sends |
//! | `prepare.rs` | messages whose payload is negotiated |
//! | `token.rs` | what a handler may ask of its message |
//! | `limits.rs` | what fits into a message |

pub mod handler;
pub mod limits;
pub mod prepare;
pub mod reply;
pub mod request;
pub mod token;

/// Numbers of the core's handlers: those of clients come first, then the library's own.
pub mod number {
    /// A long message whose target the transport does not know.
    pub const LONG_AT: u16 = 256;
    /// Data of a collective.
    pub const MAIL: u16 = 257;
    /// A put into memory that only its owner reaches, its answer, a get, its data.
    pub const PUT: u16 = 258;
    /// See [`PUT`].
    pub const PUT_DONE: u16 = 259;
    /// See [`PUT`].
    pub const GET: u16 = 260;
    /// See [`PUT`].
    pub const GET_DATA: u16 = 261;
    /// A VIS put is complete.
    pub const VIS_DONE: u16 = 262;
}
