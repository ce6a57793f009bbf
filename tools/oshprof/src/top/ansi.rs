//! What ratatui draws, as escape sequences that every terminal knows: so that no further library is needed.

use std::io::{self, Write};

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};

use crate::colour;

/// A screen behind a stream.
pub(super) struct Ansi<W> {
    out: W,
    /// Without: bold and reversed only.
    colours: bool,
    size: fn() -> Option<(usize, usize)>,
}

impl<W: Write> Ansi<W> {
    pub(super) fn new(out: W, size: fn() -> Option<(usize, usize)>) -> Ansi<W> {
        Ansi { out, colours: !colour::is_unwanted(), size }
    }

    fn style(&self, cell: &Cell) -> String {
        let mut text = String::from("\x1b[0");
        for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::REVERSED, 7)] {
            if cell.modifier.contains(modifier) {
                text += &format!(";{code}");
            }
        }
        let colour = match cell.fg {
            Color::Red => 31,
            Color::Green => 32,
            Color::Yellow => 33,
            Color::Blue => 34,
            Color::Cyan => 36,
            _ => 39,
        };
        if self.colours && colour != 39 {
            text += &format!(";{colour}");
        }
        text + "m"
    }
}

impl<W: Write> Backend for Ansi<W> {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        let (mut next, mut style) = (None, String::new());
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                write!(self.out, "\x1b[{};{}H", y + 1, x + 1)?;
            }
            let wanted = self.style(cell);
            if wanted != style {
                self.out.write_all(wanted.as_bytes())?;
                style = wanted;
            }
            self.out.write_all(cell.symbol().as_bytes())?;
            // All that is drawn here is one column wide.
            next = Some((x + 1, y));
        }
        self.out.write_all(b"\x1b[0m")
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.out.write_all(b"\x1b[?25l")
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.out.write_all(b"\x1b[?25h")
    }

    /// Nobody asks: the cursor is hidden.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        write!(self.out, "\x1b[{};{}H", y + 1, x + 1)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.out.write_all(b"\x1b[2J")
    }

    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        let (columns, lines) = (self.size)().unwrap_or((80, 24));
        let cut = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        Ok(Size::new(cut(columns), cut(lines)))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
