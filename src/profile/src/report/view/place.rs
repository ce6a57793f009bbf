//! What tables say of places of the program: call sites, symmetric objects, regions; and what is summed over PEs.

use crate::merge::{Merged, Symbol};
use crate::report::grid::Cell;
use crate::report::symbols::{Frame, Symbols};

/// `Calls and bytes are sums over 4 PEs.` Nothing where there is one PE.
pub(crate) fn are_sums(what: &str, profile: &Merged) -> Option<String> {
    let npes = profile.pes.len();
    (npes > 1).then(|| format!("{what} are sums over {npes} PEs."))
}

/// A region: what is outside of all has no name.
pub(super) fn region_cell(name: &str) -> Cell {
    if name.is_empty() { Cell::None } else { name.into() }
}

/// As [`place`], in a table.
pub(super) fn place_cell(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> Cell {
    file.map_or(Cell::Absent(NOT_KNOWN), |_| place(file, symbols).into())
}

/// As [`line()`], in a table.
pub(super) fn line_cell(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> Cell {
    file.map_or(Cell::Absent(NOT_KNOWN), |_| line(file, symbols).into())
}

/// What stands for a place that is not known.
pub(super) const NOT_KNOWN: &str = "(not known)";

/// A symmetric object, (0 heap, 1 static; offset), for people: `table`, `table+0x18`, `heap+0x40`.
pub(super) fn object((kind, offset): (u8, u64), symbol: Option<&Symbol>, symbols: &dyn Symbols) -> String {
    match symbol.and_then(|symbol| symbols.object(&symbol.path, symbol.address)) {
        Some((name, 0)) => name,
        Some((name, within)) => format!("{name}+{within:#x}"),
        None if kind == 0 => format!("heap+{offset:#x}"),
        None => format!("static+{offset:#x}"),
    }
}

/// As [`place`], lines alone: `isx.c:477`; of a function that is inlined, where it ends up as well.
pub fn line(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> String {
    let Some((path, address)) = file else { return NOT_KNOWN.to_owned() };
    let frames = symbols.frames(path, address.saturating_sub(1));
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let shown = |frame: &Frame| format!("{}:{}", name(&frame.file), frame.line);
    let mut known = frames.iter().filter(|frame| !frame.file.is_empty());
    match (known.next(), known.next_back()) {
        (None, _) => format!("{}+{address:#x}", name(path)),
        (Some(frame), None) => shown(frame),
        (Some(inner), Some(outer)) => format!("{} (inlined at {})", shown(inner), shown(outer)),
    }
}

/// Where something is, as words after it: `in main at isx.c:477`, `at isx+0x1234`.
pub(crate) fn located(place: &str) -> String {
    if place.contains(" at ") { format!("in {place}") } else { format!("at {place}") }
}

/// A call site for people. A return address is behind its call: the line is that of the byte before.
pub fn place(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> String {
    let Some((path, address)) = file else { return NOT_KNOWN.to_owned() };
    let frames = symbols.frames(path, address.saturating_sub(1));
    let shown: Vec<String> = frames.iter().map(Frame::shown).filter(|text| !text.is_empty()).collect();
    if shown.is_empty() {
        let name = path.rsplit('/').next().unwrap_or(path);
        return format!("{name}+{address:#x}");
    }
    shown.join(", inlined in ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::NoSymbols;

    /// As many frames as the address says, an inlined one before the one that it is in.
    struct Inlined;

    impl Symbols for Inlined {
        fn frames(&self, _: &str, address: u64) -> Vec<Frame> {
            let frame = |line| Frame { function: format!("f{line}"), file: "/src/a.cc".to_owned(), line };
            (0..=address as u32).map(frame).collect()
        }
    }

    #[test]
    fn lines_of_inlined_functions_say_where_these_are() {
        assert_eq!(line(Some(("/bin/a", 1)), &Inlined), "a.cc:0");
        assert_eq!(line(Some(("/bin/a", 2)), &Inlined), "a.cc:0 (inlined at a.cc:1)");
        assert_eq!(line(Some(("/bin/a", 3)), &Inlined), "a.cc:0 (inlined at a.cc:2)");
        assert_eq!(line(Some(("/bin/a", 3)), &NoSymbols), "a+0x3");
        assert_eq!(line(None, &Inlined), NOT_KNOWN);
    }
}
