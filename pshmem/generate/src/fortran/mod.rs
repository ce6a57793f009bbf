//! The Fortran interface of OpenSHMEM 1.4: rows, and the routines that they stand for.
//!
//! Every argument is passed by reference. A routine reads its numbers and goes on to a C function with the same
//! arguments in the same order, so a row needs no more than both names. Where no C function does what Fortran asks
//! for (locks of 4 bytes,
//! `REAL*16`, `SHPALLOC` ...), it goes on to one of `pshmem/src/fortran`, whose name begins with `pellucid_fortran_`.

mod argument;
mod rows;

pub use argument::{Argument, Sort, argument};

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// In a Fortran name: `real8`, `integer`, `64`, `mem`.
    pub word: &'static str,
    /// Which C functions it goes on to.
    pub twin: Twin,
    /// In Fortran; empty where the routine takes any type.
    pub fortran: &'static str,
    /// The end of its values' names: `value_i4`.
    pub value: &'static str,
}

/// The C functions of a [`Kind`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Twin {
    /// Those of a type: `shmem_int_put`.
    Typed(&'static str),
    /// Those of a size in bits, or `mem`: `shmem_put32`.
    Sized(&'static str),
}

/// What a function gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// It is a subroutine.
    Nothing,
    /// `INTEGER`.
    Integer,
    /// `INTEGER`, in the register for `REAL` results as well.
    Both,
    /// `LOGICAL`.
    Logical,
    /// `INTEGER` as wide as an address.
    Pointer,
    /// The type of the element.
    Element,
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// In Fortran: `shmem_KIND_sum_to_all`, or `shmem_{put}`, which stands for `shmem_integer_put` and `shmem_put64`
    /// alike.
    pub name: &'static str,
    /// The C function, written in the same way.
    pub c: &'static str,
    /// Names of the arguments, which tell their types ([`argument()`]); `VALUE` is `value_i4` and its like.
    pub args: &'static str,
    /// What it gives.
    pub answer: Answer,
    /// The types that it comes in; none for a routine that is there once.
    pub kinds: &'static [Kind],
    /// Not in OpenSHMEM 1.4, but called by programs.
    pub extension: bool,
}

/// One group of routines, one generated source file.
#[derive(Debug)]
pub struct Group {
    /// Name of the file.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Rows.
    pub rows: &'static [Row],
}

/// One routine.
#[derive(Debug)]
pub struct Routine {
    /// Its row.
    pub row: &'static Row,
    /// Its element, if it has one.
    pub kind: Option<&'static Kind>,
    /// In Fortran, lower case: `shmem_real8_put`.
    pub name: String,
    /// The C function that it goes on to.
    pub c: String,
    /// Its arguments.
    pub args: Vec<Argument>,
}

/// Every routine, by group.
pub fn groups() -> Vec<(&'static Group, Vec<Routine>)> {
    rows::GROUPS.iter().map(|group| (group, group.rows.iter().flat_map(expand).collect())).collect()
}

fn expand(row: &'static Row) -> Vec<Routine> {
    if row.kinds.is_empty() {
        return vec![routine(row, None)];
    }
    row.kinds.iter().map(|kind| routine(row, Some(kind))).collect()
}

fn routine(row: &'static Row, kind: Option<&'static Kind>) -> Routine {
    let value = kind.map_or(String::new(), |kind| format!("value_{}", kind.value));
    let cond = kind.map_or(String::new(), |kind| format!("cond_{}", kind.value));
    let args = row.args.replace("VALUE", &value).replace("COND", &cond);
    Routine {
        row,
        kind,
        name: fortran_name(row.name, kind),
        c: c_name(row.c, kind),
        args: args.split_whitespace().map(|name| argument(name, kind)).collect(),
    }
}

/// `shmem_{put_nbi}` with `integer`: `shmem_integer_put_nbi`; with `64`: `shmem_put64_nbi`.
fn fortran_name(template: &str, kind: Option<&Kind>) -> String {
    let Some(kind) = kind else { return template.to_owned() };
    let is_sized = kind.word == "mem" || kind.word.bytes().all(|byte| byte.is_ascii_digit());
    spell(template, kind.word, is_sized)
}

fn c_name(template: &str, kind: Option<&Kind>) -> String {
    match kind.map(|kind| kind.twin) {
        None => template.to_owned(),
        Some(Twin::Typed(word)) => spell(template, word, false),
        Some(Twin::Sized(word)) => spell(template, word, true),
    }
}

fn spell(template: &str, word: &str, is_sized: bool) -> String {
    let Some((before, rest)) = template.split_once('{') else {
        return template.replace("KIND", word);
    };
    let (operation, after) = rest.split_once('}').expect("a closed brace in the table");
    if !is_sized {
        return format!("{before}{word}_{operation}{after}");
    }
    let (verb, end) = operation.find('_').map_or((operation, ""), |at| operation.split_at(at));
    format!("{before}{verb}{word}{end}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_as_the_specification_does() {
        for (template, word, sized, name) in [
            ("shmem_{put_nbi}", "integer", false, "shmem_integer_put_nbi"),
            ("shmem_{put_nbi}", "64", true, "shmem_put64_nbi"),
            ("shmem_{get}", "mem", true, "shmem_getmem"),
            ("shmem_KIND_sum_to_all", "real8", false, "shmem_real8_sum_to_all"),
            ("shmem_broadcastKIND", "32", true, "shmem_broadcast32"),
        ] {
            assert_eq!(spell(template, word, sized), name);
        }
    }
}
