//! Standard output, and how text is made fit for a terminal.

use std::borrow::Cow;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use serde::Serialize;

use crate::failure::Failure;

/// Style of errors and failed tests.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Style of warnings.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// Style of the number that matters most.
pub(crate) const STRONG: Style = Style::new().bold();
/// Style of passed tests.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// Buffered standard output. When the reader has closed the pipe, what is printed afterwards is dropped: commands go on,
/// so that their exit code stays true.
pub(crate) struct Output {
    stream: BufWriter<AutoStream<io::Stdout>>,
    is_closed: bool,
    is_terminal: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { stream: BufWriter::new(anstream::stdout()), is_closed: false, is_terminal }
    }

    /// Writes what is buffered.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.flush()?)
    }

    /// Prints one JSON document.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(document).map_err(io::Error::from)?;
        Ok(writeln!(self, "{text}")?)
    }

    /// Prints rows under a header, indented by two; columns of integers are aligned to the right. The header is
    /// underlined on a terminal only.
    pub(crate) fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> Result<(), Failure> {
        let mut table = Table::new();
        let rule = LineStyle::none().fill('─').junction('─');
        table.load_style(if self.is_terminal { TableStyle::new().header_separator(rule) } else { TableStyle::new() });
        table.set_header(header.iter().copied());
        let is_number = |cell: &String| {
            let number = cell.strip_suffix(" %").unwrap_or(cell);
            let time = number.trim_end_matches("s").trim_end_matches(['n', 'µ', 'm']).trim_end();
            cell == "-" || time.parse::<f64>().is_ok()
        };
        let numeric: Vec<bool> =
            (0..header.len()).map(|column| rows.iter().all(|row| row.get(column).is_none_or(is_number))).collect();
        table.add_rows(rows);
        for (column, _) in table.column_iter_mut().zip(numeric).filter(|(_, numeric)| *numeric) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        for line in table.lines() {
            writeln!(self, " {}", line.trim_end())?;
        }
        Ok(())
    }

    /// Turns an error into silence when it says that the reader has gone.
    fn unless_closed<T>(&mut self, result: io::Result<T>, silent: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(silent)
            }
            other => other,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Ok(bytes.len());
        }
        let result = self.stream.write(bytes);
        self.unless_closed(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let result = self.stream.flush();
        self.unless_closed(result, ())
    }
}

/// Text from a file without control characters, which could take over a terminal.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::new(), |mut safe, c| {
        if c.is_control() {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
        safe
    }))
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(escaped("plain näme"), "plain näme");
        assert_eq!(escaped("a\x1b[31mb\n"), "a\\u{1b}[31mb\\n");
    }
}
