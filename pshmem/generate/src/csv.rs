//! Just enough CSV to read the tables of the specification.

/// A table whose first row names its columns.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads a table; a field may be quoted, with `""` for a quote.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.is_empty()).map(fields);
        let header = lines.next().ok_or("empty table")?;
        let rows: Vec<_> = lines.collect();
        match rows.iter().position(|row| row.len() != header.len()) {
            Some(row) => Err(format!("row {}: wrong number of fields", row + 2)),
            None => Ok(Self { header, rows }),
        }
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|fields| Row { header: &self.header, fields })
    }
}

/// One row of a table.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    header: &'a [String],
    fields: &'a [String],
}

impl<'a> Row<'a> {
    /// The field in this column.
    ///
    /// # Panics
    /// On a column that the table does not have.
    pub fn get(self, column: &str) -> &'a str {
        let at = self.header.iter().position(|name| name == column);
        &self.fields[at.unwrap_or_else(|| panic!("no column {column}"))]
    }
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let last = fields.len() - 1;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                fields[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields[last].push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_commas() {
        let table = Table::parse("a,b\n1,\"x, \"\"y\"\"\"\n").unwrap();
        let rows: Vec<_> = table.rows().map(|row| (row.get("a"), row.get("b"))).collect();
        assert_eq!(rows, [("1", "x, \"y\"")]);
        assert!(Table::parse("a,b\n1\n").is_err());
    }
}
