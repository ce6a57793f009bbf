//! `src/fortran/modules/shmem.f90`: the interfaces of the Fortran routines.

use std::fmt::Write;

use super::fortran_header::{Literal, constants};
use super::{BY, File};
use crate::fortran::{Answer, Routine, groups};

/// The module `shmem`.
pub fn file() -> File {
    let mut text = format!("! {BY}\n{HEAD}");
    for (name, number) in constants() {
        let name = name.to_ascii_lowercase();
        match number {
            Literal::Integer(value) => writeln!(text, "  integer, parameter :: {name} = {value}"),
            Literal::Text(value) => {
                writeln!(text, "  character(len={}), parameter :: {name} = '{value}'", value.len())
            }
        }
        .expect("writing to a string");
    }
    for (group, routines) in groups() {
        write!(text, "\n  ! {}.\n  interface\n", group.title).expect("writing to a string");
        for routine in &routines {
            text.push_str(&interface(routine));
        }
        text.push_str("  end interface\n");
    }
    text.push_str("end module shmem\n");
    File { path: "src/fortran/modules/shmem.f90".to_owned(), text }
}

fn interface(routine: &Routine) -> String {
    let element = routine.kind.map_or("integer", |kind| kind.fortran);
    let names: Vec<_> = routine.args.iter().map(|arg| arg.official_name()).collect();
    let (kind, name) = (if routine.row.answer == Answer::Nothing { "subroutine" } else { "function" }, &routine.name);
    let mut text = format!("    {kind} {name}({})\n", names.join(", "));
    let any: Vec<_> =
        routine.args.iter().filter(|arg| arg.fortran_type(element).is_none()).map(|arg| arg.official_name()).collect();
    if !any.is_empty() {
        let any = any.join(", ");
        // Data of any type and rank; each compiler says it in its own words.
        write!(text, "!GCC$ ATTRIBUTES NO_ARG_CHECK :: {any}\n!DIR$ IGNORE_TKR {any}\n!$PRAGMA IGNORE_TKR {any}\n")
            .expect("writing to a string");
        let shaped: Vec<_> = any.split(", ").map(|name| format!("{name}(*)")).collect();
        writeln!(text, "      type(*) :: {}", shaped.join(", ")).expect("writing to a string");
    }
    for arg in &routine.args {
        if let Some(declared) = arg.fortran_type(element) {
            writeln!(text, "      {declared} :: {}", arg.official_name()).expect("writing to a string");
        }
    }
    let answer = match routine.row.answer {
        Answer::Nothing => None,
        Answer::Integer | Answer::Both => Some("integer"),
        Answer::Logical => Some("logical"),
        Answer::Pointer => Some("integer(selected_int_kind(18))"),
        Answer::Element => Some(element),
    };
    if let Some(answer) = answer {
        writeln!(text, "      {answer} :: {name}").expect("writing to a string");
    }
    writeln!(text, "    end {kind}").expect("writing to a string");
    text
}

const HEAD: &str = "\
! The Fortran interface of OpenSHMEM 1.4 with the types of its arguments. Transfers and collectives take data of any
! type.
module shmem
  implicit none

";
