//! `docs/environment.md` is written from the tables that the library reads.
//! `PELLUCID_BLESS=1 cargo test -p pellucid-core` writes it anew.

use pellucid_core::base::env::{self, Wrong};
use pellucid_core::collectives::table;
use pellucid_core::transport::registry::{Open, ROWS};
use std::fmt::Write;

fn page() -> String {
    let mut text = String::from(
        "# Environment variables of the library\n\n\
         Written from the tables in `src/core/src/base/env.rs`, `src/core/src/collectives/table.rs` and \
         `src/core/src/transport/registry.rs`; \
         a test compares.\n\
         A value that cannot be used ends the job at start with a message that names the variable, whether or not \
         this job would \
         use it; what names a part of the system (*) is looked up by jobs that need it. An empty value is none, \
         but where any will do. \
         A name that begins with `SHMEM_` or `SMA_` and is not known gets a warning, once a job, with the name \
         that is most like it.\n\n| variable | default | what it does |\n|---|---|---|\n",
    );
    for var in env::TABLE {
        let old = if var.sma { format!(", `SMA_{}`", var.name) } else { String::new() };
        let default = if var.default.is_empty() { "not set".into() } else { format!("`{}`", var.default) };
        let looked_up = if var.wrong == Wrong::RefusedWhereUsed { " *" } else { "" };
        writeln!(text, "| `SHMEM_{}`{old}{looked_up} | {default} | {} |", var.name, var.help).unwrap();
    }
    for var in env::OTHERS {
        let default = if var.default.is_empty() { "not set".into() } else { format!("`{}`", var.default) };
        writeln!(text, "| `{}` | {default} | {} |", var.name, var.help).unwrap();
    }
    text += "\n## Algorithms for `SHMEM_COLLECTIVES`\n\n\
             `SHMEM_COLLECTIVES=barrier:counter,reduce:tree` forces algorithms; what is not named is chosen by size \
             and PEs.\n\n| collective | algorithm | what it does |\n|---|---|---|\n";
    for row in table::rows() {
        writeln!(text, "| {} | `{}:{}` | {} |", row.collective, row.collective, row.name, row.help).unwrap();
    }
    text += "\n## Transports for `SHMEM_TRANSPORT`\n\n\
             | transport | reaches | what it is |\n|---|---|---|\n";
    for row in ROWS {
        let (name, reaches) = match row.open {
            Open::WithinHost(_) => (format!("{} (always)", row.name), "PEs of this host"),
            Open::BetweenHosts(_) => (format!("`{}`", row.name), "all PEs"),
        };
        writeln!(text, "| {name} | {reaches} | {} |", row.doc).unwrap();
    }
    text
}

#[test]
fn the_page_is_what_the_tables_say() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/environment.md");
    if std::env::var_os("PELLUCID_BLESS").is_some() {
        std::fs::write(&file, page()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), page());
}
