//! Everything that is printed: results to standard output, notes and errors to standard error, colour only on a terminal.

use std::fmt;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

/// Text that is heard first.
pub(crate) const BOLD: Style = Style::new().bold();
/// Text that is heard last.
pub(crate) const DIM: Style = Style::new().dimmed();

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// Prints a line to standard output.
pub(crate) fn line(text: impl fmt::Display) -> io::Result<()> {
    writeln!(anstream::stdout().lock(), "{text}")
}

/// Prints JSON to standard output.
pub(crate) fn json(value: &Value) -> io::Result<()> {
    line(format_args!("{value:#}"))
}

/// Says something on the side.
pub(crate) fn note(text: &str) {
    to_stderr(&format!("{CYAN}note:{CYAN:#} {text}"));
}

/// Warns on the side.
pub(crate) fn warn(text: &str) {
    to_stderr(&format!("{YELLOW}warning:{YELLOW:#} {text}"));
}

/// Warns of something that is explained as an error elsewhere.
pub(crate) fn doubt(report: &str) {
    match report.strip_prefix("error") {
        Some(rest) => to_stderr(&format!("{YELLOW}warning{YELLOW:#}{rest}")),
        None => warn(report),
    }
}

/// Prints an explanation; its first word is coloured.
pub(crate) fn error(report: &str) {
    match report.strip_prefix("error") {
        Some(rest) => to_stderr(&format!("{RED}error{RED:#}{rest}")),
        None => to_stderr(report),
    }
}

/// Standard error may be closed; there is nobody left to tell.
fn to_stderr(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Whether standard output takes colour.
pub(crate) fn uses_colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// A word in a colour.
pub(crate) fn painted(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The colour of a severity.
pub(crate) fn severity(severity: Severity) -> Style {
    match severity {
        Severity::Critical | Severity::High => RED,
        Severity::Medium => YELLOW,
        Severity::Low => CYAN,
        Severity::Info => DIM,
    }
}

/// The colour of a state.
pub(crate) fn state(state: &str) -> Style {
    match state {
        "pinned" | "found" => GREEN,
        "changed" => RED,
        "new" => YELLOW,
        _ => Style::new(),
    }
}

/// A table without frames that fits the terminal, or is as wide as it needs to be where there is none.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|title| title.to_uppercase()));
    table
}

/// A stranger's text in one line of a table.
pub(crate) fn safe(text: &str) -> String {
    visible(text, 300)
}

/// A number with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
