//! From the bytes that one PE writes to whole lines.

/// A line longer than this is passed on in pieces, so that memory stays bounded.
const LONGEST: usize = 16 << 20;

/// One output stream of one PE.
pub struct Lines {
    /// What every line begins with; empty for nothing.
    label: Vec<u8>,
    /// The beginning of a line whose end has not come.
    carry: Vec<u8>,
    /// Whether the part of the line before `carry` has been passed on.
    begun: bool,
}

impl Lines {
    /// A stream whose lines begin with `label`.
    pub fn new(label: &str) -> Self {
        Self { label: label.as_bytes().to_vec(), carry: Vec::new(), begun: false }
    }

    /// Takes what the PE wrote and appends the lines that are whole now.
    pub fn feed(&mut self, data: &[u8], out: &mut Vec<u8>) {
        let whole = data.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        if whole > 0 {
            let carry = std::mem::take(&mut self.carry);
            if self.label.is_empty() {
                out.extend_from_slice(&carry);
                out.extend_from_slice(&data[..whole]);
            } else {
                let mut rest = &data[..whole];
                let mut head = carry.as_slice();
                while !rest.is_empty() {
                    let end = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |at| at + 1);
                    self.begin(out);
                    out.extend_from_slice(head);
                    out.extend_from_slice(&rest[..end]);
                    (head, rest) = (&[], &rest[end..]);
                    self.begun = false;
                }
            }
            self.begun = false;
        }
        self.carry.extend_from_slice(&data[whole..]);
        if self.carry.len() >= LONGEST {
            self.pass_on(out);
        }
    }

    /// Appends the beginning of a line, for a person who is asked something.
    pub fn prompt(&mut self, out: &mut Vec<u8>) {
        if !self.carry.is_empty() {
            self.pass_on(out);
        }
    }

    /// Appends the line that was begun but not ended. With a label it is ended here: the next label belongs on a new
    /// line.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.carry.is_empty() && !self.begun {
            return;
        }
        self.pass_on(out);
        if !self.label.is_empty() {
            out.push(b'\n');
        }
        self.begun = false;
    }

    fn pass_on(&mut self, out: &mut Vec<u8>) {
        self.begin(out);
        out.append(&mut self.carry);
        self.begun = true;
    }

    fn begin(&self, out: &mut Vec<u8>) {
        if !self.begun {
            out.extend_from_slice(&self.label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out after each piece, and at the end.
    fn pieces(label: &str, pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(label);
        let mut result: Vec<String> = Vec::new();
        for piece in pieces {
            let mut out = Vec::new();
            lines.feed(piece, &mut out);
            result.push(String::from_utf8(out).unwrap());
        }
        let mut out = Vec::new();
        lines.finish(&mut out);
        result.push(String::from_utf8(out).unwrap());
        result
    }

    #[test]
    fn only_whole_lines_pass() {
        assert_eq!(pieces("", &[b"a", b"b\nc", b"\n\nd"]), ["", "ab\n", "c\n\n", "d"]);
        assert_eq!(pieces("", &[]), [""]);
    }

    #[test]
    fn every_line_has_its_label_once() {
        assert_eq!(pieces("[3] ", &[b"a", b"b\nc", b"\n\nd"]), ["", "[3] ab\n", "[3] c\n[3] \n", "[3] d\n"]);
    }

    #[test]
    fn a_long_line_passes_in_parts_with_one_label() {
        let long = vec![b'x'; LONGEST + 5];
        let out = pieces("[0] ", &[&long, b"yy", b"\nz\n"]);
        assert_eq!(out[0].len(), 4 + LONGEST + 5);
        assert_eq!(&out[1..], ["", "yy\n[0] z\n", ""]);
        let out = pieces("[0] ", &[&long]);
        assert_eq!(out[1], "\n");
    }

    #[test]
    fn any_byte_passes() {
        let mut lines = Lines::new("");
        let mut out = Vec::new();
        lines.feed(&[0, 255, b'\n', 128], &mut out);
        lines.finish(&mut out);
        assert_eq!(out, [0, 255, b'\n', 128]);
    }
}
