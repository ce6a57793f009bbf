//! `docs/metrics.md`: the part that is the table.

use std::fmt::Write;

use super::table::TABLE;

/// A table of all metrics in Markdown.
pub fn markdown() -> String {
    let mut text =
        String::from("| name | type | unit | labels | in OpenTelemetry | what it says |\n|---|---|---|---|---|---|\n");
    for row in TABLE {
        let labels: Vec<String> = row.labels.iter().map(|label| format!("`{label}`")).collect();
        let unit = if row.unit.is_empty() { "-" } else { row.unit };
        let (name, kind, otel) = (row.name, row.kind.name(), row.otel);
        let _ = writeln!(
            text,
            "| `{name}` | {kind} | {unit} | {} | `{otel}` ({}) | {} |",
            labels.join(" "),
            row.ucum,
            row.help
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::markdown;

    const BEGIN: &str = "<!-- begin of the generated table -->\n";
    const END: &str = "<!-- end of the generated table -->";

    /// `UPDATE_GOLDEN=1` rewrites it.
    #[test]
    fn the_page_has_the_table() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(BEGIN).expect("docs/metrics.md has the mark of the begin");
        let (found, after) = rest.split_once(END).expect("docs/metrics.md has the mark of the end");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", markdown())).unwrap();
        } else {
            assert!(found == markdown(), "docs/metrics.md: UPDATE_GOLDEN=1 cargo test -p oshserve rewrites its table");
        }
    }
}
