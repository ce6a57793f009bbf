//! `include/`: shmem.h, pshmem.h, shmemx.h and their copies under mpp/.

use std::collections::HashMap;
use std::fmt::Write;

use super::extensions::SHMEMX;
use super::{BY, File, generic, other_libraries, overload, paper};
use crate::constants::{LEVELS, SECTIONS};
use crate::expand::{Expanded, Routine};

/// Every header.
pub fn files(groups: &[Expanded], prototypes: &HashMap<String, String>) -> Vec<File> {
    let mut files = vec![
        File { path: "include/shmem.h".to_owned(), text: shmem(groups, prototypes) },
        File { path: "include/pshmem.h".to_owned(), text: pshmem(groups, prototypes) },
        File { path: "include/shmemx.h".to_owned(), text: shmemx(groups, prototypes) },
    ];
    for name in ["shmem.h", "pshmem.h", "shmemx.h"] {
        files.push(File {
            path: format!("include/mpp/{name}"),
            text: format!("/* {BY} */\n/* The old place of {name} (Annex F.2.1). */\n#include \"../{name}\"\n"),
        });
    }
    files
}

fn shmem(groups: &[Expanded], prototypes: &HashMap<String, String>) -> String {
    let mut text = format!("/* {BY} */\n{HEAD}{QUIET}{TYPES}");
    for section in SECTIONS {
        writeln!(text, "\n/* {} */", section.title).expect("writing to a string");
        for constant in section.constants {
            writeln!(text, "#define {} {}", constant.name, constant.c()).expect("writing to a string");
        }
    }
    text.push_str(&python());
    text.push_str(SPEC_VERSION);
    text.push_str(OPEN);
    text.push_str(&declarations(groups, false, prototypes, |routine| &routine.name));
    text.push_str(CLOSE);
    text.push_str(GENERIC_HEAD);
    text.push_str(&generic::text(groups));
    text.push_str(OVERLOAD_HEAD);
    text.push_str(&overload::text(groups));
    text.push_str(COMPLEX_HEAD);
    text.push_str(&overload::complex_text(groups));
    write!(text, "#endif\n\n}}\n#endif\n{LOUD}\n#endif /* PELLUCID_SHMEM_H */\n").expect("writing to a string");
    text
}

/// What the Python package shmem4py asks of libraries that it does not know by name: without an answer it defines
/// static functions of these names itself.
fn python() -> String {
    let mut text =
        "\n/* For the Python package shmem4py, which would else define these itself. */\n#ifdef Py_PYTHON_H\n"
            .to_owned();
    for name in SHMEM4PY {
        writeln!(text, "#define PySHMEM_HAVE_{name} 1").expect("writing to a string");
    }
    text + "#endif\n"
}

fn pshmem(groups: &[Expanded], prototypes: &HashMap<String, String>) -> String {
    let declarations = declarations(groups, false, prototypes, |routine| &routine.profiling_name);
    format!("/* {BY} */\n{PSHMEM_HEAD}{QUIET}{OPEN}{declarations}{CLOSE}{LOUD}\n#endif /* PELLUCID_PSHMEM_H */\n")
}

fn shmemx(groups: &[Expanded], prototypes: &HashMap<String, String>) -> String {
    let mut levels = String::new();
    for level in LEVELS {
        let arguments = if level.call.is_empty() { String::new() } else { format!(", {}", level.call) };
        let call = format!("shmem_pcontrol({}{arguments})", level.name);
        write!(levels, "\n/* {call}\n * {} */\n#define {} {}\n", level.help, level.name, level.value)
            .expect("writing to a string");
    }
    let routines = declarations(groups, true, prototypes, |routine| &routine.name);
    let twins = declarations(groups, true, prototypes, |routine| &routine.profiling_name);
    let text = SHMEMX.replace("LEVELS\n", &levels).replace("ROUTINES\n", &routines).replace("TWINS\n", &twins);
    let text = text.replace("PAPER\n", &paper::text(groups)).replace("OTHERS\n", &other_libraries::text(groups));
    let text = text.replace("QUIET\n", QUIET).replace("LOUD\n", LOUD);
    format!("/* {BY} */\n{text}")
}

fn declarations(
    groups: &[Expanded],
    extensions: bool,
    prototypes: &HashMap<String, String>,
    name: impl Fn(&Routine) -> &String,
) -> String {
    let mut text = String::new();
    for group in groups {
        let wanted = |routine: &&Routine| routine.row.is_extension() == extensions;
        for (at, routine) in group.routines.iter().filter(wanted).enumerate() {
            if at == 0 {
                writeln!(text, "\n/* {} */", group.group.title).expect("writing to a string");
            }
            writeln!(text, "{}", prototypes[name(routine)]).expect("writing to a string");
        }
    }
    text
}

/// Names as shmem4py 1.0 has them, some for several routines.
const SHMEM4PY: [&str; 20] = [
    "shmem_malloc_with_hints",
    "shmem_team_t",
    "SHMEM_CTX_INVALID",
    "shmem_amo_nbi",
    "shmem_put_signal",
    "shmem_signal_fetch",
    "shmem_signal_wait_until",
    "shmem_broadcast",
    "shmem_collect",
    "shmem_fcollect",
    "shmem_alltoall",
    "shmem_alltoalls",
    "shmem_broadcastmem",
    "shmem_collectmem",
    "shmem_fcollectmem",
    "shmem_alltoallmem",
    "shmem_alltoallsmem",
    "shmem_reduce",
    "shmem_wait_test_many",
    "shmem_pcontrol",
];

const HEAD: &str = r#"/*
 * OpenSHMEM 1.6. Names that are not of the specification begin with pellucid_ or PELLUCID_.
 */
#ifndef PELLUCID_SHMEM_H
#define PELLUCID_SHMEM_H

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C++" {
#include <complex>
}
#endif
"#;

/// Ends with [`LOUD`]. What a macro becomes in the program is the program's: warnings of that stay.
const QUIET: &str = r#"
/* Before C99 and C++11 there was no long long and no _Complex: -pedantic warns of them. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#if defined(__cplusplus) ? __cplusplus < 201103L : !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC diagnostic ignored "-Wvariadic-macros"
#endif
#endif
"#;

const LOUD: &str = r#"
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
"#;

const TYPES: &str = r#"
#ifdef __cplusplus
#define PELLUCID_COMPLEX(type) std::complex<type>
#else
#define PELLUCID_COMPLEX(type) type _Complex
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
#define PELLUCID_NORETURN [[noreturn]]
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PELLUCID_NORETURN _Noreturn
#elif defined(__GNUC__)
#define PELLUCID_NORETURN __attribute__((__noreturn__))
#else
#define PELLUCID_NORETURN
#endif

/* Overloads are a part of the line that calls them, for debuggers and profiles, without optimization as well. */
#ifdef __cplusplus
#if defined(__GNUC__) && !defined(__clang__)
#define PELLUCID_INLINE inline __attribute__((__always_inline__, __artificial__))
#elif defined(__GNUC__)
#define PELLUCID_INLINE inline __attribute__((__always_inline__))
#else
#define PELLUCID_INLINE inline
#endif
#endif

/* Casts in the style of the language: what stands for nothing, the same value, the same bits. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define PELLUCID_NONE(type) (static_cast<type>(nullptr))
#elif defined(__cplusplus)
#define PELLUCID_NONE(type) (static_cast<type>(0))
#else
#define PELLUCID_NONE(type) ((type)0)
#endif
#ifdef __cplusplus
#define PELLUCID_AS(type, value) (static_cast<type>(value))
#define PELLUCID_BITS(type, value) (reinterpret_cast<type>(value))
#else
#define PELLUCID_AS(type, value) ((type)(value))
#define PELLUCID_BITS(type, value) ((type)(value))
#endif

/* Handles (9.4, 9.5) */
typedef struct pellucid_team *shmem_team_t;
typedef struct pellucid_ctx *shmem_ctx_t;

/* Configurations (9.4.3, 9.9.1) */
typedef struct {
    int num_contexts;
} shmem_team_config_t;
typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;
"#;

const SPEC_VERSION: &str = r#"
/* As one number, as programs of Open MPI's OSHMEM ask for it. */
#ifndef OSHMEM_SPEC_VERSION
#define OSHMEM_SPEC_VERSION (SHMEM_MAJOR_VERSION * 10000 + SHMEM_MINOR_VERSION * 100)
#endif
"#;

const OPEN: &str = r#"
#ifdef __cplusplus
extern "C" {
#endif
"#;

const CLOSE: &str = r#"
#ifdef __cplusplus
}
#endif
"#;

const GENERIC_HEAD: &str = r#"
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/*
 * Type-generic macros. Where a macro has several argument lists, PELLUCID_PICK_n chooses by their length. A macro that
 * has the name of a function leaves the function alone where no parenthesis follows: &shmem_sync, (shmem_sync)(...).
 */
"#;

const OVERLOAD_HEAD: &str = r#"
#endif

#ifdef __cplusplus

/* The type-generic macros of C11 as overloads. */
extern "C++" {
"#;

const COMPLEX_HEAD: &str = r#"
/* The same on the complex numbers of C, where the compiler has them. */
#ifdef __GNUC__
__extension__ typedef __complex__ double pellucid_complexd;
__extension__ typedef __complex__ float pellucid_complexf;
"#;

const PSHMEM_HEAD: &str = r#"/*
 * Profiling interface of OpenSHMEM (section 10): every routine under its shifted name, with the types and constants
 * of shmem.h.
 *
 * For tools: build a shared object, to be linked, preloaded or named with oshrun --tool, or compile the tool into the
 * executable. What it calls on its own is kept apart from what the program calls: a call of pshmem_X is the program's
 * where it comes out of the tool's shmem_X.
 */
#ifndef PELLUCID_PSHMEM_H
#define PELLUCID_PSHMEM_H

#include "shmem.h"
"#;
