//! The page of the library: what it is, how programs are built, run and profiled, and the environment variables, from
//! their table.

use pellucid_core::base::env::{OTHERS, TABLE};

use crate::page::{PAGES, escaped, head};

const TEXT: &str = r#".SH NAME
libsma, shmem, pellucid \- OpenSHMEM 1.6 library that shows what programs do
.SH SYNOPSIS
.nf
#include <shmem.h>

oshcc prog.c \-o prog
oshrun \-n 4 ./prog
.fi
.SH DESCRIPTION
OpenSHMEM gives the processes of a parallel program, its PEs, direct access to each other's symmetric memory: put, get,
atomic operations, signals, collectives on teams.
.B libsma
is all of OpenSHMEM 1.6, with a profiler that is on by default: every call is counted, long ones and a sample of the
short ones are timed. The routines are described in the OpenSHMEM specification.
.PP
.BR oshcc (1),
.BR oshc++ (1)
and
.BR oshfort (1)
compile and link;
.BR oshrun (1)
runs a job, as do srun, mpiexec.hydra and mpirun where their launchers offer PMI or PMIx;
.BR oshprof (1)
reads profiles and traces, and looks at jobs that run or hang.
.PP
Programs are linked with
.BR \-lsma ,
tools that wrap
.B shmem_
routines before it. Each
.BI shmem_ X
is a weak name over
.BI pshmem_ X\fR.
.SH ENVIRONMENT
Each variable is read once, by shmem_init. SHMEM_INFO=1 prints them with the values in force. Of those marked with SMA_
the old name is read where the new one is not set.
"#;

const FILES: &str = r#".SH FILES
Below the directory that Pellucid was installed to:
.TP
.I lib/libsma.so.1
the library; its number changes when programs have to be linked anew
.TP
.I include/shmem.h, pshmem.h, shmemx.h
routines of the specification, their profiling names, extensions
.TP
.I share/modulefiles/pellucid
for environment modules
.TP
.I share/pellucid
suppressions for race detectors: valgrind.supp, tsan.supp
.SH SEE ALSO
.BR oshrun (1),
.BR oshprof (1),
.BR oshcc (1)
"#;

/// The page.
pub fn text() -> String {
    let mut page = head("libsma", 7) + TEXT;
    for (prefix, var) in TABLE.iter().map(|var| ("SHMEM_", var)).chain(OTHERS.iter().map(|var| ("", var))) {
        let old = if var.sma { format!(", SMA_{}", var.name) } else { String::new() };
        page += &format!(".TP\n.B {prefix}{}{old}\n{}\n", escaped(var.name), escaped(var.help));
        if !var.default.is_empty() {
            page += &format!("(default: {})\n", escaped(var.default));
        }
    }
    page + FILES + PAGES
}
