//! How it is shown: PEs with bars above, routines below, a line of keys.

use pellucid_profile::report::{shown_bytes, shown_time};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::look::{Page, PeRow, RoutineRow, Shares};
use super::screen::Key;

/// Lines of the page that are neither table's.
const FIXED: u16 = 3;
/// From this width on PEs have their process and heap shown.
const WIDE: u16 = 120;

/// Columns that tables are sorted by.
const PE_COLUMNS: [&str; 7] = ["PE", "comp", "wait", "xfer", "state", "pid", "heap"];
const ROUTINE_COLUMNS: [&str; 4] = ["routine", "calls/s", "bytes/s", "time"];

/// A table, as it is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Table {
    sorted_by: usize,
    reversed: bool,
    /// Rows above the first one that is shown.
    above: usize,
    /// Rows that were shown last.
    room: usize,
}

/// What the user has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    tables: [Table; 2],
    /// Which one keys are for: 0 PEs, 1 routines.
    chosen: usize,
    help: bool,
}

impl Default for View {
    fn default() -> View {
        let routines = Table { sorted_by: 1, reversed: true, ..Table::default() };
        View { tables: [Table::default(), routines], chosen: 0, help: false }
    }
}

impl View {
    /// Does what a key says.
    pub(super) fn key(&mut self, key: Key) {
        let columns = [PE_COLUMNS.len(), ROUTINE_COLUMNS.len()][self.chosen];
        let table = &mut self.tables[self.chosen];
        match key {
            Key::Char('h' | '?') => self.help = !self.help,
            Key::Char('\t') => self.chosen = 1 - self.chosen,
            Key::Char('r') => table.reversed = !table.reversed,
            Key::Right | Key::Char('>' | 's') => table.sort_by((table.sorted_by + 1) % columns),
            Key::Left | Key::Char('<') => table.sort_by((table.sorted_by + columns - 1) % columns),
            Key::Up | Key::Char('k') => table.above = table.above.saturating_sub(1),
            Key::Down | Key::Char('j') => table.above += 1,
            Key::PageUp => table.above = table.above.saturating_sub(table.room.max(1)),
            Key::PageDown | Key::Char(' ') => table.above += table.room.max(1),
            Key::Home | Key::Char('g') => table.above = 0,
            Key::End | Key::Char('G') => table.above = usize::MAX,
            Key::Char(_) | Key::Quit | Key::Other => {}
        }
    }

    /// Draws the page.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, page: &Page) {
        let lines = frame.area().height.saturating_sub(FIXED);
        // Half for the routines, but no more than they need, and all that the PEs leave.
        let routines = u16::try_from(page.routines.len().max(1) + 1).unwrap_or(u16::MAX);
        let pes = u16::try_from(page.pes.len() + 1).unwrap_or(u16::MAX);
        let below = routines.min((lines / 2).max(lines.saturating_sub(pes)));
        let [title, mean, above, under, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(below),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(Paragraph::new(head(page)).style(bold()), title);
        frame.render_widget(Paragraph::new(summary(page)), mean);
        self.draw_pes(frame, above, page);
        self.draw_routines(frame, under, page);
        let text = "q quit  h help  Tab other table  left/right sort  r reverse  up/down PgUp PgDn";
        frame.render_widget(Paragraph::new(text).style(Style::new().add_modifier(Modifier::REVERSED)), keys);
        if self.help {
            help(frame);
        }
    }

    fn draw_pes(&mut self, frame: &mut Frame<'_>, area: Rect, page: &Page) {
        let chosen = self.chosen == 0;
        let table = &mut self.tables[0];
        let is_wide = area.width >= WIDE;
        let bar = if is_wide { 24 } else { 10 };
        let mut rows: Vec<&PeRow> = page.pes.iter().collect();
        rows.sort_by(|a, b| {
            let order = match table.sorted_by {
                1 => a.shares.computing.total_cmp(&b.shares.computing),
                2 => a.shares.waiting.total_cmp(&b.shares.waiting),
                3 => a.shares.transferring.total_cmp(&b.shares.transferring),
                4 => a.state.cmp(&b.state),
                5 => a.pid.cmp(&b.pid),
                6 => a.heap.cmp(&b.heap),
                _ => a.pe.cmp(&b.pe),
            };
            let order = if table.reversed { order.reverse() } else { order };
            order.then(a.pe.cmp(&b.pe))
        });
        let titles = |name: usize| table.title(PE_COLUMNS[name], name);
        let mut head = format!("{:>5} {:<bar$} {:>5} {:>5} {:>5}", titles(0), "", titles(1), titles(2), titles(3));
        if is_wide || table.sorted_by > 4 {
            head += &format!(" {:>8} {:>10}", titles(5), titles(6));
        }
        let details = is_wide || table.sorted_by > 4;
        head += &format!("  {}", titles(4));
        let line = |row: &PeRow| {
            let mut line = vec![Span::raw(format!("{:>5} ", row.pe))];
            line.extend(bars(row.shares, bar));
            let Shares { computing, waiting, transferring, .. } = row.shares;
            let shares = [computing, waiting, transferring].map(percent);
            line.push(Span::raw(format!(" {:>5} {:>5} {:>5}", shares[0], shares[1], shares[2])));
            if details {
                line.push(Span::raw(format!(" {:>8} {:>10}", row.pid, shown_bytes(row.heap))));
            }
            line.push(Span::raw(format!("  {}", row.state)));
            Line::from(line)
        };
        let lines = rows.into_iter().map(line).collect();
        table.draw(frame, area, head, lines, chosen);
    }

    fn draw_routines(&mut self, frame: &mut Frame<'_>, area: Rect, page: &Page) {
        let chosen = self.chosen == 1;
        let table = &mut self.tables[1];
        let mut rows: Vec<&RoutineRow> = page.routines.iter().collect();
        rows.sort_by(|a, b| {
            let order = match table.sorted_by {
                1 => a.calls.total_cmp(&b.calls),
                2 => a.bytes.total_cmp(&b.bytes),
                3 => a.share.total_cmp(&b.share),
                _ => a.name.cmp(&b.name),
            };
            let order = if table.reversed { order.reverse() } else { order };
            order.then_with(|| a.name.cmp(&b.name))
        });
        let titles = |name: usize| table.title(ROUTINE_COLUMNS[name], name);
        let head = format!("{:<36} {:>12} {:>12} {:>8}", titles(0), titles(1), titles(2), titles(3));
        let mut lines: Vec<Line<'_>> = rows.into_iter().map(|row| Line::from(routine(row))).collect();
        if lines.is_empty() {
            lines.push(Line::from("(no calls)"));
        }
        table.draw(frame, area, head, lines, chosen);
    }
}

impl Table {
    fn sort_by(&mut self, column: usize) {
        // Of numbers the greatest first; names, and PEs by number, from the begin.
        (self.sorted_by, self.reversed, self.above) = (column, column != 0 && column != 4, 0);
    }

    fn title(&self, name: &str, column: usize) -> String {
        match (self.sorted_by == column, self.reversed) {
            (false, _) => name.to_owned(),
            (true, true) => format!("{name}v"),
            (true, false) => format!("{name}^"),
        }
    }

    /// The title, and as many lines as there is room for.
    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, head: String, lines: Vec<Line<'_>>, chosen: bool) {
        self.room = usize::from(area.height.saturating_sub(1));
        self.above = self.above.min(lines.len().saturating_sub(self.room));
        let last = (self.above + self.room).min(lines.len());
        let hidden = lines.len() - (last - self.above);
        let mut head = head;
        if hidden > 0 {
            head += &format!("   {} to {last} of {}", self.above + 1, lines.len());
        }
        let style = if chosen { bold().add_modifier(Modifier::REVERSED) } else { bold() };
        let shown = lines.into_iter().skip(self.above).take(self.room);
        let text: Vec<Line<'_>> = std::iter::once(Line::styled(head, style)).chain(shown).collect();
        frame.render_widget(Paragraph::new(text), area);
    }
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// `62 %`
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A line of the table of routines.
pub(super) fn routine(row: &RoutineRow) -> String {
    let bytes = if row.bytes > 0.0 { shown_bytes(row.bytes as u64) } else { "-".to_owned() };
    let share = format!("{:.1} %", row.share * 100.0);
    format!("{:<36} {:>12} {bytes:>12} {share:>8}", row.name, rate(row.calls))
}

/// A number a second with few digits: `12.3 k`.
pub(super) fn rate(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")];
    match UNITS.iter().find(|(unit, _)| value >= *unit) {
        Some((1e4, name)) => format!("{:.1}{name}", value / 1e3),
        Some((unit, name)) => format!("{:.1}{name}", value / unit),
        None => format!("{value:.0}"),
    }
}

/// A bar of so many columns: `####====--------`, in colours.
fn bars(shares: Shares, width: usize) -> [Span<'static>; 4] {
    let colours = [Color::Green, Color::Red, Color::Blue, Color::Gray];
    let mut parts = bar(shares, width).into_iter().zip(colours);
    std::array::from_fn(|_| parts.next().map(|(text, of)| Span::styled(text, Style::new().fg(of))).unwrap_or_default())
}

/// The letters of each part, in so many columns.
pub(super) fn bar(shares: Shares, width: usize) -> [String; 4] {
    let mut left = width;
    let mut columns = |share: f64| {
        let columns = ((share * width as f64).round() as usize).min(left);
        left -= columns;
        columns
    };
    let [waiting, transferring] = [shares.waiting, shares.transferring].map(&mut columns);
    // What is left by rounding is of the larger one of these.
    let smaller = columns(shares.unrecorded.min(shares.computing));
    let [computing, unrecorded] = if shares.unrecorded > shares.computing { [smaller, left] } else { [left, smaller] };
    ["#".repeat(computing), ".".repeat(waiting), "=".repeat(transferring), "?".repeat(unrecorded)]
}

/// The job, and since when it runs.
pub(super) fn head(page: &Page) -> String {
    format!("{}, since {}", page.title, shown_time(page.since_ns as f64))
}

/// All PEs, in words.
pub(super) fn summary(page: &Page) -> String {
    let mean = page.mean();
    let sum = |of: fn(&RoutineRow) -> f64| page.routines.iter().map(of).fold(0.0, |sum, value| sum + value);
    let (calls, bytes) = (sum(|row| row.calls), sum(|row| row.bytes));
    let unrecorded = match mean.unrecorded > 0.0 {
        true => format!("  ? not recorded {}", percent(mean.unrecorded)),
        false => String::new(),
    };
    format!(
        "# computing {}  . waiting {}  = transferring {}{unrecorded}  {} calls/s  {}/s",
        percent(mean.computing),
        percent(mean.waiting),
        percent(mean.transferring),
        rate(calls),
        shown_bytes(bytes as u64)
    )
}

const HELP: [&str; 17] = [
    "Bars show what each PE did in the last interval:",
    "  #  computing: outside of the library",
    "  .  waiting: waits, locks, barriers, collectives",
    "  =  transferring: all other calls",
    "  ?  not recorded: the level of the profile was 0",
    "A PE with much # for which others wait is slow.",
    "",
    "q, Ctrl-C         leave",
    "h, ?              this text, and away",
    "Tab               keys are for the other table",
    "right, left, > <  sort by the next or last column",
    "r                 the other way round",
    "up, down, j k     scroll by a line",
    "PgUp, PgDn, space by a page",
    "Home, End, g G    to the begin, to the end",
    "",
    "state: call site, routine, PE, time in the call",
];

fn help(frame: &mut Frame<'_>) {
    let all = frame.area();
    let (width, height) = (54.min(all.width), 19.min(all.height));
    let area = Rect::new((all.width - width) / 2, (all.height - height) / 2, width, height);
    frame.render_widget(Clear, area);
    let text: Vec<Line<'_>> = HELP.iter().map(|line| Line::from(*line)).collect();
    frame.render_widget(Paragraph::new(text).block(Block::bordered().title(" oshprof top ")), area);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn page(pes: u32) -> Page {
        let row = |pe: u32| PeRow {
            pe,
            pid: 1000 + pe,
            shares: Shares { computing: 0.5, waiting: 0.25, transferring: 0.25, unrecorded: 0.0 },
            heap: 1 << 20,
            heap_most: 1 << 20,
            state: format!("halo_exchange.c:{} signal_wait_until 2.00 s", 200 + pe),
        };
        let routine = |number: u32| RoutineRow {
            name: format!("shmem_routine_{number:02}"),
            calls: f64::from(number) * 1e4,
            bytes: 0.0,
            share: 0.01,
        };
        let (pes, routines) = ((0..pes).map(row).collect(), (1..6).map(routine).collect());
        Page { title: "job 71: ./halo 300, 8 PEs on node".into(), since_ns: 12_300_000_000, pes, routines }
    }

    fn shown(view: &mut View, page: &Page, columns: u16, lines: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        terminal.draw(|frame| view.draw(frame, page)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let line = |y| (0..columns).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
        (0..lines).map(line).collect()
    }

    #[test]
    fn all_is_there_in_80_by_24() {
        let text = shown(&mut View::default(), &page(4), 80, 24);
        assert!(text[0].starts_with("job 71: ./halo 300, 8 PEs on node, since 12.3 s"), "{text:#?}");
        assert_eq!(text[1].trim_end(), "# computing 50 %  . waiting 25 %  = transferring 25 %  150.0 k calls/s  0 B/s");
        assert!(text[2].starts_with("  PE^") && text[2].contains("state"), "{text:#?}");
        // The state is not cut.
        assert!(text[6].trim_end().ends_with("halo_exchange.c:203 signal_wait_until 2.00 s"), "{text:#?}");
        assert!(text[3].contains(" ####...=== "), "{text:#?}");
        let at = text.iter().position(|line| line.starts_with("routine")).unwrap();
        assert!(text[at].contains("calls/sv") && text[at + 1].starts_with("shmem_routine_05"), "{text:#?}");
        assert!(text[23].starts_with("q quit  h help"), "{text:#?}");
    }

    #[test]
    fn hundreds_of_pes_are_scrolled_and_sorted() {
        let (mut view, page) = (View::default(), page(300));
        let first = |view: &mut View| shown(view, &page, 80, 24)[3].trim_start().split(' ').next().unwrap().to_owned();
        assert_eq!(first(&mut view), "0");
        assert!(shown(&mut view, &page, 80, 24)[2].contains("1 to 14 of 300"));
        view.key(Key::PageDown);
        assert_eq!(first(&mut view), "14");
        view.key(Key::End);
        assert_eq!(first(&mut view), "286");
        view.key(Key::Char('r'));
        view.key(Key::Home);
        assert_eq!(first(&mut view), "299");
        // By each column, and back to the first.
        for _ in PE_COLUMNS {
            view.key(Key::Right);
            first(&mut view);
        }
        assert_eq!(first(&mut view), "0");
        // The other table.
        view.key(Key::Char('\t'));
        view.key(Key::Left);
        let text = shown(&mut view, &page, 80, 24);
        assert!(text.iter().any(|line| line.starts_with("shmem_routine_01")), "{text:#?}");
    }

    #[test]
    fn help_is_shown_over_it_and_the_whole_screen_is_used() {
        let mut view = View::default();
        view.key(Key::Char('h'));
        let text = shown(&mut view, &page(4), 80, 24).join("\n");
        assert!(text.contains("waiting: waits, locks, barriers") && text.contains("oshprof top"), "{text}");
        view.key(Key::Char('h'));
        let text = shown(&mut view, &page(100), 200, 60);
        assert!(text[2].contains("pid") && text[2].contains("heap") && text[3].contains("1 MiB"), "{text:#?}");
        assert!(text[50].contains("halo_exchange.c"), "{text:#?}");
        // However small.
        for (columns, lines) in [(1, 1), (10, 3), (40, 8)] {
            view.help = true;
            shown(&mut view, &page(100), columns, lines);
        }
    }

    #[test]
    fn what_is_not_recorded_is_not_computed() {
        let mut page = page(2);
        assert!(!summary(&page).contains("recorded"), "{}", summary(&page));
        for pe in &mut page.pes {
            pe.shares = Shares { computing: 0.5, unrecorded: 0.5, ..Shares::default() };
        }
        let expected = "# computing 50 %  . waiting 0 %  = transferring 0 %  ? not recorded 50 %  ";
        assert!(summary(&page).starts_with(expected), "{}", summary(&page));
    }

    #[test]
    fn bars_fill_their_width() {
        for (parts, text) in [
            ([0.5, 0.5, 0.0, 0.0], "######......."),
            ([0.04, 0.96, 0.0, 0.0], "#............"),
            ([0.0, 0.5, 0.5, 0.0], ".......======"),
            ([1.0, 0.0, 0.0, 0.0], "#############"),
            ([0.0, 0.0, 0.0, 1.0], "?????????????"),
            ([0.2, 0.0, 0.2, 0.6], "###===???????"),
            ([0.6, 0.2, 0.0, 0.2], "#######...???"),
        ] {
            let [computing, waiting, transferring, unrecorded] = parts;
            assert_eq!(bar(Shares { computing, waiting, transferring, unrecorded }, 13).concat(), text);
        }
        for (value, text) in [(0.0, "0"), (9999.0, "9999"), (12_345.0, "12.3 k"), (2.5e6, "2.5 M"), (3e13, "30.0 T")] {
            assert_eq!(rate(value), text);
        }
    }
}
