//! `src/fortran/modules/shmem_c.f90`: the C routines for Fortran 2018, through `iso_c_binding`.

use std::fmt::Write;

use super::{BY, File};
use crate::constants::{SECTIONS, Value, vendor};
use crate::ctype::Param;
use crate::expand::{Expanded, Routine};

/// The module `shmem_c`.
pub fn file(groups: &[Expanded]) -> File {
    let mut text = format!("! {BY}\n{HEAD}{}\n", constants());
    // The specification's: extensions have types of their own; names of Fortran begin with a letter.
    let standard = |routine: &&Routine| !routine.name.starts_with("shmemx_") && !routine.name.starts_with('_');
    for group in groups.iter().filter(|group| group.routines.iter().any(|routine| standard(&routine))) {
        write!(text, "\n  ! {}.\n  interface\n", group.group.title).expect("writing to a string");
        for routine in group.routines.iter().filter(standard) {
            text.push_str(&interface(routine));
        }
        text.push_str("  end interface\n");
    }
    text.push_str(TAIL);
    File { path: "src/fortran/modules/shmem_c.f90".to_owned(), text }
}

fn constants() -> String {
    let mut text = String::new();
    for constant in SECTIONS.iter().flat_map(|section| section.constants) {
        // Two constants have names of routines, which Fortran does not tell apart by their case.
        let name = constant.name.to_ascii_lowercase().replace("shmem_signal_", "shmem_signal_op_");
        match constant.value {
            Value::Int(value) => writeln!(text, "  integer(c_int), parameter :: {name} = {value}"),
            Value::Long(value) => writeln!(text, "  integer(c_long), parameter :: {name} = {value}"),
            Value::Team(value) => {
                writeln!(text, "  type(shmem_team_t), parameter :: {name} = shmem_team_t({value})")
            }
            Value::Ctx(value) => writeln!(text, "  type(shmem_ctx_t), parameter :: {name} = shmem_ctx_t({value})"),
            Value::Vendor => {
                let value = vendor();
                writeln!(text, "  character(len={}), parameter :: {name} = '{value}'", value.len())
            }
            Value::Same(_) => Ok(()),
        }
        .expect("writing to a string");
    }
    text.trim_end().to_owned()
}

fn interface(routine: &Routine) -> String {
    let name = &routine.name;
    let names: Vec<_> = routine.params.iter().map(|param| param.name.to_ascii_lowercase()).collect();
    let kind = if routine.ret == "void" { "subroutine" } else { "function" };
    let mut text = String::new();
    // Variable arguments are C's only: the level alone.
    let binding =
        if routine.variadic { format!("bind(c, name='pellucid_fortran_{name}')") } else { "bind(c)".to_owned() };
    let head = format!("    {kind} {name}({}) {binding}\n", names.join(", "));
    text.push_str(&folded(&head));
    text.push_str("      import\n");
    let any: Vec<_> = routine.params.iter().filter(|param| is_any(param)).map(|param| param.name.as_str()).collect();
    if !any.is_empty() {
        let list = any.join(", ");
        write!(text, "!GCC$ ATTRIBUTES NO_ARG_CHECK :: {list}\n!DIR$ IGNORE_TKR {list}\n")
            .expect("writing to a string");
    }
    for param in &routine.params {
        writeln!(text, "      {}", declaration(routine, param)).expect("writing to a string");
    }
    if kind == "function" {
        let answer = if routine.ret == "void *" { "type(c_ptr)".to_owned() } else { scalar(&routine.ret).to_owned() };
        writeln!(text, "      {answer} :: {name}").expect("writing to a string");
    }
    writeln!(text, "    end {kind}").expect("writing to a string");
    text
}

/// Continues a line where it is longer than the 132 columns of free form.
fn folded(line: &str) -> String {
    if line.len() <= 120 {
        return line.to_owned();
    }
    let at = line[..110].rfind(", ").expect("a long line has many arguments") + 1;
    format!("{} &\n       {}", &line[..at], &line[at..])
}

/// Data of any type; but what the heap gives and takes is an address.
fn is_any(param: &Param) -> bool {
    param.pointer && param.base == "void" && param.name != "ptr"
}

fn declaration(routine: &Routine, param: &Param) -> String {
    let name = param.name.to_ascii_lowercase();
    if param.pointer && param.base == "void" && param.name == "ptr" {
        return format!("type(c_ptr), value :: {name}");
    }
    if is_any(param) {
        return format!("type(*) :: {name}(*)");
    }
    let kind = scalar(&param.base);
    if !param.pointer {
        return format!("{kind}, value :: {name}");
    }
    if param.base.ends_with("config_t") {
        return format!("{kind}, intent({}), optional :: {name}", if param.constant { "in" } else { "out" });
    }
    if name == "status" {
        // What says which variables to leave out: a null pointer is none.
        return format!("{kind}, optional :: {name}(*)");
    }
    if is_array(routine, param) { format!("{kind} :: {name}(*)") } else { format!("{kind} :: {name}") }
}

/// Whether a parameter has many elements: those of transfers, collectives and of calls on several variables.
fn is_array(routine: &Routine, param: &Param) -> bool {
    let class = routine.row.class;
    let has = |name: &str| routine.params.iter().any(|param| param.name == name);
    match param.name.as_str() {
        "ivars" | "indices" | "pSync" | "pWrk" | "name" | "cmp_values" | "target_pes" => true,
        "dest" | "source" => match class {
            "Put" | "Get" | "Signal" => ["nelems", "nblocks", "bsize", "len"].iter().any(|name| has(name)),
            "Collective" => true,
            _ => false,
        },
        _ => false,
    }
}

fn scalar(base: &str) -> &'static str {
    match base {
        "float" => "real(c_float)",
        "double" => "real(c_double)",
        "long double" => "real(c_long_double)",
        "float _Complex" => "complex(c_float_complex)",
        "double _Complex" => "complex(c_double_complex)",
        "char" => "character(kind=c_char)",
        "signed char" | "unsigned char" => "integer(c_signed_char)",
        "short" | "unsigned short" => "integer(c_short)",
        "int" | "unsigned int" => "integer(c_int)",
        "long" | "unsigned long" => "integer(c_long)",
        "long long" | "unsigned long long" => "integer(c_long_long)",
        "int8_t" | "uint8_t" => "integer(c_int8_t)",
        "int16_t" | "uint16_t" => "integer(c_int16_t)",
        "int32_t" | "uint32_t" => "integer(c_int32_t)",
        "int64_t" | "uint64_t" => "integer(c_int64_t)",
        "size_t" => "integer(c_size_t)",
        "ptrdiff_t" => "integer(c_intptr_t)",
        "shmem_team_t" => "type(shmem_team_t)",
        "shmem_ctx_t" => "type(shmem_ctx_t)",
        "shmem_team_config_t" => "type(shmem_team_config_t)",
        "shmem_ctx_session_config_t" => "type(shmem_ctx_session_config_t)",
        _ => panic!("no Fortran type for C type {base}"),
    }
}

const HEAD: &str = "\
! The C routines of OpenSHMEM 1.6 in Fortran: the arguments of shmem.h, in its order, with its types.
! Unsigned types are the signed ones of their size. Configurations, and the status of waits and tests, may be left out,
! where C takes a null pointer.
! SHMEM_SIGNAL_SET and SHMEM_SIGNAL_ADD are shmem_signal_op_set and shmem_signal_op_add, as there are routines of
! these names.
module shmem_c
  use, intrinsic :: iso_c_binding
  implicit none

  ! Handles.
  type, bind(c) :: shmem_team_t
    integer(c_intptr_t) :: handle
  end type
  type, bind(c) :: shmem_ctx_t
    integer(c_intptr_t) :: handle
  end type

  type, bind(c) :: shmem_team_config_t
    integer(c_int) :: num_contexts
  end type
  type, bind(c) :: shmem_ctx_session_config_t
    integer(c_size_t) :: total_ops
  end type

  ! In libsmaf, so that a program needs no object of this module.
  interface operator(==)
    pure logical(c_bool) function pellucid_fortran_same_team(a, b) bind(c)
      import
      type(shmem_team_t), intent(in) :: a, b
    end function
    pure logical(c_bool) function pellucid_fortran_same_ctx(a, b) bind(c)
      import
      type(shmem_ctx_t), intent(in) :: a, b
    end function
  end interface
  interface operator(/=)
    pure logical(c_bool) function pellucid_fortran_other_team(a, b) bind(c)
      import
      type(shmem_team_t), intent(in) :: a, b
    end function
    pure logical(c_bool) function pellucid_fortran_other_ctx(a, b) bind(c)
      import
      type(shmem_ctx_t), intent(in) :: a, b
    end function
  end interface

";

const TAIL: &str = "end module shmem_c\n";
