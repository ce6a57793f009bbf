//! The generator of the OpenSHMEM interface: one table in, entry points, headers and lists out.
//!
//! | module | what it is |
//! |---|---|
//! | [`table`] | rows: every routine of the specification, for all its types |
//! | [`types`], [`ctype`] | data types, and C declarations taken apart |
//! | [`constants`] | constants, handles and types of the headers |
//! | [`expand`] | rows times types times forms |
//! | [`body`] | which routines share their code |
//! | [`fortran`] | the Fortran interface: its rows, and the routines that they stand for |
//! | [`emit`] | the texts that are written and committed |
//! | [`coverage`] | how much of the specification is there |
#![deny(unsafe_code)]

pub mod body;
pub mod constants;
pub mod coverage;
pub mod csv;
pub mod ctype;
pub mod emit;
pub mod expand;
pub mod fortran;
pub mod table;
pub mod types;
