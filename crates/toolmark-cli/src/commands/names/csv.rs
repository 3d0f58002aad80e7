//! Tables as text (RFC 4180), for people who open them in a spreadsheet: what looks like a formula is not one.

use std::fmt::Write as _;

/// The most cells that are read.
const MOST: usize = 2_000_000;

/// One line of cells.
pub(super) fn row(out: &mut String, cells: &[&str]) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let guarded = if is_formula(cell) || cell.strip_prefix('\'').is_some_and(is_formula) { "'" } else { "" };
        if cell.contains(['"', ',', '\n', '\r']) {
            let _ = write!(out, "\"{guarded}{}\"", cell.replace('"', "\"\""));
        } else {
            out.push_str(guarded);
            out.push_str(cell);
        }
    }
    out.push_str("\r\n");
}

/// The cells of a row, and the line that it begins at.
pub(super) type Row = (usize, Vec<String>);

/// The rows of a text with the lines they begin at, or what is wrong and where.
pub(super) fn read(text: &str) -> Result<Vec<Row>, (usize, &'static str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rows, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begun, mut quoted, mut closed, mut count) = (1_usize, 1_usize, false, false, 0_usize);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\n' {
            line += 1;
        }
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' if quoted => (quoted, closed) = (false, true),
            character if quoted => cell.push(character),
            '"' if cell.is_empty() && !closed => quoted = true,
            ',' | '\n' => {
                cells.push(opened(std::mem::take(&mut cell)));
                closed = false;
                count += 1;
                if count > MOST {
                    return Err((line, "there are more cells than anybody translates"));
                }
                if character == '\n' {
                    rows.push((begun, std::mem::take(&mut cells)));
                    begun = line;
                }
            }
            '\r' if characters.peek() == Some(&'\n') => {}
            _ if closed => return Err((line, "text follows a closing quote")),
            character => cell.push(character),
        }
    }
    if quoted {
        return Err((begun, "a quote is never closed"));
    }
    if !cell.is_empty() || !cells.is_empty() || closed {
        cells.push(opened(cell));
        rows.push((begun, cells));
    }
    rows.retain(|(_, cells)| cells.iter().any(|cell| !cell.trim().is_empty()));
    Ok(rows)
}

/// A cell without the mark that keeps a spreadsheet from reading it as a formula.
fn opened(cell: String) -> String {
    match cell.strip_prefix('\'') {
        Some(rest) if is_formula(rest) || rest.strip_prefix('\'').is_some_and(is_formula) => rest.to_owned(),
        _ => cell,
    }
}

fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        read(text).expect("a table").into_iter().map(|(_, cells)| cells).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let rows: [&[&str]; 4] =
            [&["a", "b,c", ""], &["\"q\"", "x\ny", "é"], &["=cmd()", "-1", "'=x"], &["'", "@x", "'a"]];
        let mut text = String::new();
        rows.iter().for_each(|cells| row(&mut text, cells));
        assert!(text.contains("'=cmd()"), "{text}");
        assert_eq!(cells(&text), rows);
    }

    #[test]
    fn lines_are_counted_through_quotes() {
        let rows = read("\u{feff}a,b\r\n\"x\ny\",c\n\nd,e").expect("a table");
        assert_eq!(rows.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2, 5]);
        assert_eq!(read("a\n\"b"), Err((2, "a quote is never closed")));
        assert_eq!(read("\"a\"b"), Err((1, "text follows a closing quote")));
    }
}
