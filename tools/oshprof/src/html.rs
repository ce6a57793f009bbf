//! All views of a profile in one file for a browser: no network, no other files, light and dark, printable.

mod chart;
pub mod style;

use std::fmt::Write as _;

use pellucid_profile::merge::Merged;
use pellucid_profile::op;
use pellucid_profile::report::grid::{Cell, Grid, Kind};
use pellucid_profile::report::{self, Options, Symbols, View, shown_count, shown_time};

use pellucid_profile::advice::{self, Finding};

/// Rows of a table; the rest is in the CSV form.
const ROWS: usize = 200;

/// The page.
pub fn page(profile: &Merged, options: &Options, problems: &[String], symbols: &dyn Symbols) -> String {
    let job = &profile.job;
    let title = if job.program.is_empty() { "profile" } else { &job.program };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{} - Pellucid profile</title><style>{}</style></head><body>\n",
        escape(title),
        style::CSS
    );
    header(&mut out, profile, problems, symbols);
    let found = advice::findings(profile, symbols);
    out.push_str("<nav><a href=\"#advice\">Advice</a>");
    for view in report::whole_views() {
        let _ = write!(out, "<a href=\"#{}\">{}</a>", view.name, escape(short(view.title)));
    }
    out.push_str("</nav>\n<main>\n");
    advice(&mut out, profile, &found);
    for view in report::whole_views() {
        let _ = writeln!(out, "<section id=\"{}\"><h2>{}</h2>", view.name, escape(view.title));
        let _ = writeln!(out, "<p class=\"hint\">{}</p>", escape(view.hint));
        let grids = report::grids(view, profile, options, symbols);
        out.push_str(&chart::of(&view.chart, profile, &grids));
        for grid in &grids {
            table(&mut out, grid, grids.len() > 1, &all_rows(view, grid, &grids));
        }
        out.push_str("</section>\n");
    }
    let _ = write!(
        out,
        "</main>\n<footer>Counts and bytes are exact, unless a note says otherwise. Times marked estimated come from \
         samples; +- is their standard error. Made by oshprof (Pellucid {}).</footer>\n<script>{}</script>\
         </body></html>\n",
        env!("CARGO_PKG_VERSION"),
        style::SCRIPT
    );
    out
}

fn header(out: &mut String, profile: &Merged, problems: &[String], symbols: &dyn Symbols) {
    let job = &profile.job;
    let hosts = report::hosts(profile);
    let mut place: Vec<String> = Vec::new();
    if job.start_realtime_ns > 0 {
        place.push(format!("started {}", report::shown_date(job.start_realtime_ns)));
    }
    if let [first, ..] = hosts.as_slice() {
        let more = if hosts.len() > 1 { format!(" and {} more", hosts.len() - 1) } else { String::new() };
        place.push(format!("on {first}{more}"));
    }
    place.extend((!job.directory.is_empty()).then(|| format!("in {}", job.directory)));
    place.extend((!job.library.is_empty()).then(|| job.library.clone()));
    let host = if hosts.len() == 1 { hosts[0].to_owned() } else { format!("{} hosts", hosts.len()) };
    let _ = writeln!(
        out,
        "<header><p class=\"brand\">Pellucid profile</p><h1>{} <small>{}</small></h1><p class=\"where\">{}</p>",
        escape(&job.program),
        escape(&job.arguments),
        escape(&place.join(", "))
    );
    let ends = report::ends(profile);
    list(out, "notes ends", report::broke_off(profile).into_iter().chain(ends.iter().map(String::as_str)));
    cards(out, profile, &host);
    let notes = report::other_notes(profile, symbols);
    list(out, "notes", problems.iter().chain(&notes).map(String::as_str));
    out.push_str("</header>\n");
}

/// Remarks below each other, where there are any.
fn list<'a>(out: &mut String, class: &str, texts: impl Iterator<Item = &'a str>) {
    let items: String = texts.map(|text| format!("<li>{}</li>", escape(text))).collect();
    if !items.is_empty() {
        let _ = writeln!(out, "<ul class=\"{class}\">{items}</ul>");
    }
}

fn cards(out: &mut String, profile: &Merged, host: &str) {
    let job = &profile.job;
    let calls = profile.routines.iter().map(|r| r.all_calls()).fold(0, u64::saturating_add);
    let bytes = profile.routines.iter().map(|r| r.traffic_bytes()).fold(0, u64::saturating_add);
    let run: u64 = profile.pes.iter().map(|pe| pe.main_ns()).fold(0, u64::saturating_add);
    let library: u64 = profile.pes.iter().map(|pe| pe.library_ns().min(pe.main_ns())).fold(0, u64::saturating_add);
    let waiting = waiting_ns(profile).min(library);
    let own: u64 = profile.pes.iter().map(|pe| pe.overhead_ns).fold(0, u64::saturating_add);
    let percent =
        |part: u64| if run == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / run as f64) };
    let balance = report::balance(&profile.pes);
    let imbalance = balance.iter().find(|b| b.what == "outside the library").filter(|_| profile.pes.len() > 1);
    let imbalance = imbalance.map_or("-".to_owned(), |b| format!("{:.1} %", b.imbalance_percent()));
    let status = job.exit_status.map_or("running".to_owned(), |status| format!("exit status {status}"));
    let cards = [
        ("PEs", job.npes.to_string(), host.to_owned()),
        ("wall time", shown_time(job.wall_ns as f64), status),
        ("calls", shown_count(calls), report::shown_bytes(bytes)),
        ("in the library", percent(library), "of the PEs' run time".to_owned()),
        ("waiting", percent(waiting), "barriers, collectives, waits, locks; allocations, for late PEs".to_owned()),
        ("imbalance", imbalance, "of the time outside the library".to_owned()),
        ("profiling", percent(own), format!("{} in all", shown_time(own as f64))),
    ];
    out.push_str("<div class=\"cards\">");
    for (name, value, below) in cards {
        let (name, value, below) = (escape(name), escape(&value), escape(&below));
        let _ = write!(out, "<div class=\"card\"><span>{name}</span><b>{value}</b><i>{below}</i></div>");
    }
    out.push_str("</div>\n");
}

/// Time of all PEs in calls that wait; of allocations and the like, what they wait for PEs that come late.
fn waiting_ns(profile: &Merged) -> u64 {
    let waits: u64 = profile.pes.iter().map(|pe| pe.time_ns(|c| c.waits())).fold(0, u64::saturating_add);
    let is_other = |routine: &str| op::class_of(routine).is_some_and(|class| !class.waits());
    waits.saturating_add(profile.lost_to_late_ns(is_other))
}

/// What `oshprof advise` says.
fn advice(out: &mut String, profile: &Merged, found: &[(&str, Finding)]) {
    out.push_str("<section id=\"advice\"><h2>Advice</h2>");
    if profile.pes.is_empty() {
        out.push_str("<p class=\"empty\">The numbers of no PE could be read.</p>");
    } else if found.is_empty() {
        out.push_str(
            "<p class=\"empty\">Less than a fifth of the time is in the library, and no rule of oshprof \
            advise sees a reason for it to be slow.</p>",
        );
    }
    for (rule, f) in found {
        let _ = write!(
            out,
            "<div class=\"finding\"><b>{}</b> <span>{rule}, up to {:.0} % of the run</span><p>Seen: {}</p><p>Try: \
             {}</p></div>",
            escape(&f.what),
            100.0 * f.share,
            escape(&f.evidence),
            escape(f.try_this)
        );
    }
    out.push_str("</section>\n");
}

/// What writes all rows of a table: as CSV there is one of each view.
fn all_rows(view: &View, grid: &Grid, grids: &[Grid]) -> String {
    let of_view = grids.iter().find(|grid| grid.name == view.name).or(grids.first());
    let is_it = of_view.is_some_and(|first| first.name == grid.name);
    format!("oshprof report --view {} {}", view.name, if is_it { "--csv" } else { "--json" })
}

/// `all`: the command that writes all rows.
fn table(out: &mut String, grid: &Grid, has_title: bool, all: &str) {
    if grid.rows.is_empty() {
        if !grid.empty.is_empty() {
            let _ = writeln!(out, "<p class=\"empty\">{}.</p>", escape(grid.empty));
        }
        return;
    }
    if has_title {
        let _ = writeln!(out, "<h3>{}</h3>", escape(&grid.title));
    }
    out.push_str("<div class=\"scroll\"><table><thead><tr>");
    let shown: Vec<bool> = (0..grid.columns.len()).map(|at| is_shown(grid, at)).collect();
    for (column, _) in grid.columns.iter().zip(&shown).filter(|(_, is_shown)| **is_shown) {
        let title = if column.title.is_empty() {
            column.name.trim_end_matches("_ns").replace('_', " ")
        } else {
            column.title.to_owned()
        };
        let class = if column.kind == Kind::Text { "" } else { " class=\"n\"" };
        let _ = write!(out, "<th{class} tabindex=\"0\" title=\"{}\">{}</th>", escape(column.name), escape(&title));
    }
    out.push_str("</tr></thead><tbody>\n");
    // Bars behind the first column of times, as shares of the longest.
    let most = |at: usize| grid.rows.iter().map(|row| row[at].number()).fold(0.0, f64::max);
    let first = grid.columns.iter().position(|column| column.kind == Kind::Time);
    let mosts: Vec<f64> = (0..grid.columns.len()).map(|at| if Some(at) == first { most(at) } else { 0.0 }).collect();
    for row in grid.rows.iter().take(ROWS) {
        out.push_str("<tr>");
        for (at, (cell, column)) in row.iter().zip(&grid.columns).enumerate().filter(|(at, _)| shown[*at]) {
            cell_html(out, cell, column.kind, (at, mosts[at]));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    if grid.rows.len() > ROWS {
        let left_out = grid.rows.len() - ROWS;
        let _ = write!(out, "<p class=\"note\">{left_out} more rows: {all} has them all.</p>");
    }
    for note in &grid.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
    }
}

/// Whether a column says anything: not where it is nothing in every row, nor where it is a text without a title, which
/// says again what another column says, for programs.
fn is_shown(grid: &Grid, at: usize) -> bool {
    let column = &grid.columns[at];
    let is_something = |cell: &Cell| match cell {
        Cell::None | Cell::Absent(_) => false,
        Cell::Text(_) | Cell::Pe(_) => true,
        cell => cell.number() != 0.0,
    };
    at == 0
        || !(column.title.is_empty() && column.kind == Kind::Text) && grid.rows.iter().any(|row| is_something(&row[at]))
}

/// A cell of the column with this place, and the most that a bar in it stands for.
fn cell_html(out: &mut String, cell: &Cell, kind: Kind, (at, most): (usize, f64)) {
    let shown = escape(&cell.shown(kind));
    if kind == Kind::Text {
        // Names in the first column may be broken where they have joints: that takes what room there is.
        let shown = if at == 0 { shown.replace('_', "_<wbr>") } else { shown };
        let _ = write!(out, "<td>{shown}</td>");
        return;
    }
    let value = cell.number();
    let share = if most > 0.0 && kind == Kind::Time { 100.0 * value / most } else { 0.0 };
    let bar = if share >= 0.5 { format!(" style=\"--bar:{share:.1}%\"") } else { String::new() };
    let class = if value == 0.0 { "n z" } else { "n" };
    let _ = write!(out, "<td class=\"{class}\" data-v=\"{value}\"{bar}>{shown}</td>");
}

fn short(title: &str) -> &str {
    title.split([':', ',']).next().unwrap_or(title)
}

/// Text as HTML has it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_profile::model::{End, Job, Pe, Profile, Progress};
    use pellucid_profile::report::NoSymbols;

    #[test]
    fn how_a_job_broke_off_stands_above_its_numbers() {
        let job = Job { program: "crash".into(), npes: 2, exit_status: Some(139), ..Job::default() };
        let pe = |pe, end| Pe { pe, end, progress: Progress::Initialized, ..Pe::default() };
        let profile = Profile { job, pes: vec![pe(0, End::Stopped), pe(1, End::Killed(11))] };
        let page = page(&(&profile).into(), &Options::default(), &[], &NoSymbols);
        let at = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is not in the page"));
        assert!(at("did not come to its end") < at("PE 1: killed by SIGSEGV"));
        assert!(at("PE 1: killed by SIGSEGV") < at("PE 0: ended by the launcher"));
        assert!(at("PE 0: ended by the launcher") < at("<div class=\"cards\">"));
    }

    #[test]
    fn only_names_in_the_first_column_are_broken() {
        let made = |at| {
            let mut out = String::new();
            cell_html(&mut out, &"shmem_my_pe".into(), Kind::Text, (at, 0.0));
            out
        };
        assert_eq!((made(0).as_str(), made(1).as_str()), ("<td>shmem_<wbr>my_<wbr>pe</td>", "<td>shmem_my_pe</td>"));
    }

    #[test]
    fn columns_of_nothing_leave_room_for_names() {
        let columns = [("name", Kind::Text), ("errors", Kind::Count), ("pe", Kind::Text), ("ns", Kind::Time)];
        let columns = columns.map(|(name, kind)| report::grid::column(name, name, kind));
        let mut grid = Grid::new("things", "Things", &columns, "nothing");
        let row = |errors: u64, ns| [Cell::from("shmem_a"), errors.into(), Cell::Pe(0), Cell::Real(ns)];
        grid.row(row(0, 1.0));
        grid.row(row(0, 0.0));
        let made = |grid: &Grid| {
            let mut out = String::new();
            table(&mut out, grid, false, "");
            out
        };
        assert_eq!(made(&grid).matches("<th").count() - made(&grid).matches("<thead").count(), 3, "{}", made(&grid));
        assert!(!made(&grid).contains("errors"));
        grid.row(row(1, 0.0));
        assert!(made(&grid).contains("errors"));
    }

    #[test]
    fn rows_that_are_left_out_are_in_what_is_named() {
        let columns = [report::grid::column("name", "name", Kind::Text)];
        let mut grids = ["contexts", "teams"].map(|name| Grid::new(name, name, &columns, ""));
        grids.iter_mut().for_each(|grid| (0..=ROWS).for_each(|at| grid.row([Cell::from(format!("{at}").as_str())])));
        let view = report::whole_views().find(|view| view.name == "contexts").unwrap();
        let made = |grid: &Grid| {
            let mut out = String::new();
            table(&mut out, grid, false, &all_rows(view, grid, &grids));
            out
        };
        let [first, other] = grids.each_ref().map(made);
        assert!(first.contains("1 more rows: oshprof report --view contexts --csv has them all."), "{first}");
        assert!(other.contains("1 more rows: oshprof report --view contexts --json has them all."), "{other}");
    }

    #[test]
    fn nothing_of_the_program_becomes_markup_and_nothing_comes_from_elsewhere() {
        let job = Job { program: "<script>alert(1)</script>&".into(), npes: 1, ..Job::default() };
        let profile = Profile { job, pes: vec![Pe::default()] };
        let page = page(&(&profile).into(), &Options::default(), &["<b>".into()], &NoSymbols);
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            let plain = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!plain.contains(outside), "{outside}");
        }
        for view in report::whole_views() {
            assert!(page.contains(&format!("<section id=\"{}\">", view.name)));
        }
    }
}
