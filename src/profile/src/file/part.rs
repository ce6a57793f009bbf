//! One PE on its way from host to host: in the form of its file.

use std::path::Path;

use super::{decode, encode};
use crate::model::Pe;

/// The bytes of the PE's file.
pub fn encode_pe(pe: &Pe) -> Vec<u8> {
    encode::pe_file(pe, "")
}

/// What the bytes of a PE's file say. Error: what is wrong with them, in words.
///
/// # Errors
/// As for a file of [`super::read`].
pub fn decode_pe(bytes: &[u8], pe: u32) -> Result<Pe, String> {
    match decode::pe_file(Path::new(&format!("PE {pe}")), bytes, pe) {
        (Some(pe), None) => Ok(pe),
        (_, problem) => Err(problem.map_or_else(String::new, |problem| problem.to_string())),
    }
}
