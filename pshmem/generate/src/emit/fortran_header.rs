//! `include/shmem.fh` and its copy under mpp/: valid in fixed and in free form.

use std::fmt::Write;

use super::{BY, File};
use crate::constants::{SECTIONS, Value, vendor};

/// Longest line of fixed form.
const COLUMNS: usize = 72;

/// A constant of the Fortran interface.
pub enum Literal {
    /// `INTEGER`.
    Integer(i64),
    /// `CHARACTER`.
    Text(String),
}

/// Constants that programs have use for. Work arrays have elements of 4 bytes where C's have 8, and may begin between
/// two of these: twice as many, and one.
pub fn constants() -> Vec<(&'static str, Literal)> {
    let mut found = Vec::new();
    let sections = SECTIONS.iter().filter(|section| {
        ["Version", "Comparison", "Work arrays", "Thread levels"].iter().any(|title| section.title.starts_with(title))
    });
    for constant in sections.flat_map(|section| section.constants) {
        let number = match constant.value {
            Value::Int(value) if constant.name.ends_with("SYNC_SIZE") => Literal::Integer(i64::from(value) * 2 + 1),
            Value::Int(value) => Literal::Integer(value.into()),
            Value::Long(value) => Literal::Integer(value),
            Value::Vendor => Literal::Text(vendor()),
            _ => continue,
        };
        found.push((constant.name, number));
    }
    found
}

/// Both headers. One does not include the other, since compilers differ in where they look for it.
pub fn files() -> Vec<File> {
    let text = text();
    let paths = ["include/shmem.fh", "include/mpp/shmem.fh"];
    paths.map(|path| File { path: path.to_owned(), text: text.clone() }).into()
}

fn text() -> String {
    let mut text = format!("! {BY}\n{HEAD}");
    for (name, number) in constants() {
        match number {
            Literal::Integer(value) => {
                write!(text, "      INTEGER {name}\n      PARAMETER ({name} = {value})\n")
                    .expect("writing to a string");
            }
            Literal::Text(value) => {
                let length = value.len();
                writeln!(text, "      CHARACTER(LEN={length}) {name}").expect("writing to a string");
                writeln!(text, "      PARAMETER ({name} = '{value}')").expect("writing to a string");
            }
        }
    }
    text.push_str(FUNCTIONS);
    assert!(
        text.lines().all(|line| line.starts_with('!') || line.len() <= COLUMNS),
        "a line is too long for fixed form"
    );
    text
}

const HEAD: &str = "\
! The Fortran interface of OpenSHMEM 1.4, in fixed and in free form. The
! module shmem has the interfaces of the routines as well.
";

const FUNCTIONS: &str = "\
! Programs declare other functions themselves, as the module does.
      LOGICAL SHMEM_PE_ACCESSIBLE
      LOGICAL SHMEM_ADDR_ACCESSIBLE
      INTEGER(KIND=SELECTED_INT_KIND(18)) SHMEM_PTR
";
