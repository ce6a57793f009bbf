//! `SHMEMX_PAPER_NAMES`: macros with the paper's own spelling of the extensions. They are no symbols.

use crate::expand::{Expanded, Routine};
use std::fmt::Write;

/// What the paper spells in a way of its own: its name, parameters of the macro, what that stands for.
const OTHERS: &[(&str, &str, &str)] = &[
    ("shmem_wait_request", "request", "shmemx_wait_req(request)"),
    ("shmem_test_request", "request", "shmemx_test_req(request)"),
    ("shmem_aset_delete", "aset", "shmemx_delete_aset(aset)"),
    ("shmem_aset_create_func", "start, offset, size, params", "shmemx_create_custom_aset(start, offset, size, params)"),
    (
        "create_aset_strided",
        "start, stride, size, err",
        "PELLUCID_ASET(shmemx_create_strided_aset(start, stride, size), err)",
    ),
    (
        "create_aset_log_strided",
        "start, log_stride, size, base, err",
        "PELLUCID_ASET(shmemx_create_log_strided_aset(start, log_stride, size, base), err)",
    ),
    (
        "create_aset_custom",
        "start, offset, size, params, err",
        "PELLUCID_ASET(shmemx_create_custom_aset(start, offset, size, params), err)",
    ),
    ("create_aset_generic", "list, size, err", "PELLUCID_ASET(shmemx_create_generic_aset(list, size), err)"),
];

/// Gives a set, and says in `*err` whether there is one.
const ASET: &str = "static __inline__ shmemx_aset *pellucid_aset(shmemx_aset *aset, int *err)\n{\n    \
                    *err = aset ? SHMEMX_SUCCESS : SHMEMX_ERROR_ARGUMENT;\n    return aset;\n}\n\
                    #define PELLUCID_ASET(aset, err) pellucid_aset(aset, err)\n";

/// Broadcasts with a request: the paper's example leaves the root out, which is member 0 then. C++ has overloads, since
/// before 2011 it had no macros of any number of arguments.
const OF_C_PLUS_PLUS: &str = "\
PELLUCID_INLINE void shmemx_broadcastBITS_nb(void *target, const void *source, size_t nelems, shmemx_aset *aset,
                                           long *pSync, shmemx_request_handle_t *request)
{
    shmemx_broadcastBITS_nb(target, source, nelems, 0, aset, pSync, request);
}
#define shmem_broadcastBITS_nb shmemx_broadcastBITS_nb
";

/// See [`OF_C_PLUS_PLUS`].
const OF_C: &str = r"#define PELLUCID_BROADCASTBITS_6(target, source, nelems, aset, pSync, request) \
    shmemx_broadcastBITS_nb(target, source, nelems, 0, aset, pSync, request)
#define shmem_broadcastBITS_nb(...) \
    PELLUCID_PAPER_7(__VA_ARGS__, shmemx_broadcastBITS_nb, PELLUCID_BROADCASTBITS_6, 0)(__VA_ARGS__)
";

fn broadcasts() -> String {
    let both = |text: &str| ["32", "64"].map(|bits| text.replace("BITS", bits)).concat();
    let (overloads, macros) = (both(OF_C_PLUS_PLUS), both(OF_C));
    let pick = "#define PELLUCID_PAPER_7(a1, a2, a3, a4, a5, a6, a7, name, ...) name\n";
    format!("#ifdef __cplusplus\nextern \"C++\" {{\n{overloads}}}\n#else\n{pick}{macros}#endif\n")
}

/// Whether the paper has a routine: those on teams, of the committee's draft, and our own it has not.
fn is_of_the_paper(routine: &Routine) -> bool {
    let on_team = routine.params.iter().any(|param| param.base == "shmem_team_t" || param.base == "shmemx_req_h");
    let own = ["shmemx_aset_pe", "shmemx_aset_index", "shmemx_sync_aset", "shmemx_abort_because"];
    // Its vision has no names.
    let is_vision = routine.row.section.starts_with("X.4");
    routine.row.is_extension()
        && !on_team
        && !is_vision
        && !routine.ctx
        && !own.iter().any(|name| routine.name.starts_with(name))
}

/// The macros.
pub fn text(groups: &[Expanded]) -> String {
    let mut text = String::from(ASET);
    text.push_str(&broadcasts());
    for routine in groups.iter().flat_map(|group| &group.routines).filter(|routine| is_of_the_paper(routine)) {
        let paper = routine.name.replacen("shmemx_", "shmem_", 1);
        if !paper.starts_with("shmem_broadcast") || !paper.ends_with("_nb") {
            writeln!(text, "#define {paper} {}", routine.name).expect("writing to a string");
        }
    }
    for (name, params, body) in OTHERS {
        writeln!(text, "#define {name}({params}) {body}").expect("writing to a string");
    }
    text
}
