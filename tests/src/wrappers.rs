//! A tool with a wrapper for every routine of the API table, as generators of TAU and others write it: counts and
//! forwards.

use std::fmt::Write;

use crate::table::{self, Function};

/// How a wrapper gets to the routine, and what it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `shmem_X` calls `pshmem_X`.
    Shifted,
    /// `__wrap_shmem_X` calls `__real_shmem_X`.
    Wrapped,
    /// `shmem_X` calls what `dlsym(RTLD_NEXT, "shmem_X")` gives.
    Next,
}

/// The C text. At its end each PE prints `NAME on PE: ROUTINE CALLS, ...` for the routines that were called.
pub fn source(style: Style) -> String {
    let mut text = String::from(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <pshmem.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n\
         static long calls[2048];\nstatic const char *const names[];\nstatic void report(void);\n\n",
    );
    for (index, function) in table::functions().iter().enumerate() {
        wrapper(&mut text, index, function, style);
    }
    text.push_str("\nstatic const char *const names[] = {\n");
    for function in table::functions() {
        writeln!(text, "    \"{}\",", function.name).expect("writing to a string");
    }
    text.push_str(
        "};\n\nstatic void report(void) {\n    static char line[65536];\n    int end = snprintf(line, sizeof line, \
         \"all on %s:\", getenv(\"PMI_RANK\"));\n    \
         for (size_t k = 0; k < sizeof names / sizeof *names; k++)\n        \
         if (calls[k]) end += snprintf(line + end, sizeof line - end, \" %s %ld,\", names[k], calls[k]);\n    \
         puts(line);\n    fflush(stdout);\n}\n",
    );
    text
}

fn wrapper(text: &mut String, index: usize, function: &Function, style: Style) {
    let Function { name, returns, parameters, pshmem, .. } = function;
    // The tables write complex types as C does.
    let names: Vec<&str> = parameters
        .split(',')
        .map(str::trim)
        .filter(|parameter| !["void", "...", ""].contains(parameter))
        .map(|parameter| parameter.rsplit([' ', '*']).next().unwrap_or_default())
        .collect();
    let arguments = names.join(", ");
    let (own, target) = match style {
        Style::Shifted => (name.clone(), pshmem.clone()),
        Style::Wrapped => (format!("__wrap_{name}"), format!("__real_{name}")),
        Style::Next => (name.clone(), "next".to_owned()),
    };
    if style == Style::Wrapped {
        writeln!(text, "{returns} {target}({parameters});\n{returns} {own}({parameters});").expect("string");
    }
    // A macro of shmem.h may have the name of the function.
    write!(text, "{returns} ({own})({parameters}) {{ calls[{index}]++; ").expect("string");
    if style == Style::Next {
        write!(
            text,
            "static {returns} (*next)({parameters}); \
             if (!next) next = ({returns} (*)({parameters}))dlsym(RTLD_NEXT, \"{name}\"); "
        )
        .expect("string");
    }
    if name == "shmem_finalize" {
        text.push_str("report(); ");
    }
    let back = if returns == "void" { "" } else { "return " };
    let end = if name == "shmem_global_exit" { "abort(); " } else { "" };
    writeln!(text, "{back}{target}({arguments}); {end}}}").expect("string");
}

/// The linker's options for [`Style::Wrapped`], one a line.
pub fn wrap_options() -> String {
    table::functions().iter().map(|function| format!("-Wl,--wrap={}\n", function.name)).collect()
}
