//! Tables with aligned columns.

/// A table of headings and rows. Words are left-aligned, numbers are right-aligned.
pub struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Left, for words.
    Left,
    /// Right, for numbers.
    Right,
}

impl Table {
    /// Creates a table with the given columns.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let headings = columns.iter().map(|(name, _)| name.to_string()).collect();
        Self { columns: columns.iter().map(|&(_, align)| align).collect(), rows: vec![headings] }
    }

    /// Adds a row. Missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the text, without blanks at the ends of lines.
    pub fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), align) in row.iter().zip(&widths).zip(&self.columns) {
                let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
                let (before, after) = match align {
                    Align::Left => ("", padding.as_str()),
                    Align::Right => (padding.as_str(), ""),
                };
                line.push_str(before);
                line.push_str(cell);
                line.push_str(after);
                line.push_str("  ");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Align, Table};

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[("pass", Align::Left), ("runs", Align::Right), ("why", Align::Left)]);
        table.row(["dce".to_string(), "1".to_string()]);
        table.row(["é".to_string(), "12345".to_string(), "so".to_string()]);
        assert_eq!(table.text(), "pass   runs  why\ndce       1\né     12345  so\n");
    }
}
