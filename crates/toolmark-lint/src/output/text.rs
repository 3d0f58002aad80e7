//! The findings for people: by severity and rule, the worst first, long lists cut, and at the end what it comes to.

use std::collections::HashSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use toolmark_core::severity::Severity;

use crate::rule::RuleId;
use crate::{Finding, Lint, Suggestion};

/// How the text is laid out.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Lines are wrapped at this many characters.
    pub width: usize,
    /// Severities and names are colored with ANSI escapes.
    pub color: bool,
    /// At most this many findings of one rule and severity are shown; the rest is counted.
    pub shown: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { width: 100, color: false, shown: 5 }
    }
}

/// How many declarations are spelled out below the findings of one rule and severity.
const PASTED: usize = 2;

/// Writes the findings for a person to read.
#[must_use]
pub fn render_text(lint: &Lint, options: TextOptions) -> String {
    let mut page = Page { out: String::new(), options, pasted: HashSet::new() };
    let mut rest = lint.findings();
    while let Some(first) = rest.first() {
        let same = |finding: &&Finding| finding.severity() == first.severity() && finding.rule() == first.rule();
        let count = rest.iter().take_while(same).count();
        let (group, others) = rest.split_at(count);
        page.group(first.severity(), first.rule(), group);
        rest = others;
    }
    page.summary(lint);
    page.out
}

struct Page<'l> {
    out: String,
    /// Tools whose declaration has been spelled out.
    pasted: HashSet<&'l str>,
    options: TextOptions,
}

impl<'l> Page<'l> {
    fn group(&mut self, severity: Severity, rule: RuleId, group: &'l [Finding]) {
        let head = self.paint(style(severity), severity.as_str());
        let name = self.paint(Style::new().bold(), rule.as_str());
        let count = if group.len() == 1 { String::new() } else { format!(" ({})", group.len()) };
        let _ = writeln!(self.out, "{head} {name}{count}");
        self.wrapped("  ", rule.rule().summary());
        for finding in group.iter().take(self.options.shown) {
            self.wrapped("  - ", finding.message());
            if let Some(place) = finding.places().first() {
                let more = match finding.places().len() {
                    0 | 1 => String::new(),
                    many => format!(" (+{} more)", many - 1),
                };
                let place = self.paint(Style::new().dimmed(), &format!("{place}{more}"));
                let _ = writeln!(self.out, "    {place}");
            }
        }
        if group.len() > self.options.shown {
            let _ = writeln!(self.out, "  +{} more (see --json)", group.len() - self.options.shown);
        }
        // One help for all, or the rule's own where they differ.
        let help = match group {
            [first, others @ ..] if others.iter().all(|other| other.help() == first.help()) => first.help(),
            _ => rule.rule().fix(),
        };
        for (at, line) in help.lines().enumerate() {
            self.wrapped(if at == 0 { "  fix: " } else { "       " }, line);
        }
        self.suggestions(rule, group);
        self.out.push('\n');
    }

    /// The first declarations to paste, unwrapped; the rest on request.
    fn suggestions(&mut self, rule: RuleId, group: &'l [Finding]) {
        let mut seen = HashSet::new();
        let all: Vec<&'l Suggestion> =
            group.iter().flat_map(Finding::suggestions).filter(|one| seen.insert(one.tool().as_str())).collect();
        let any = !all.is_empty();
        let all: Vec<_> = all.into_iter().filter(|one| !self.pasted.contains(one.tool().as_str())).collect();
        let Some(first) = all.first() else {
            if any {
                let _ = writeln!(self.out, "       as declared above");
            }
            return;
        };
        let written: Vec<String> = all.iter().filter_map(|one| one.toml()).collect();
        if !written.is_empty() {
            let _ = writeln!(self.out, "       in toolmark.toml:");
        }
        self.pasted.extend(all.iter().take(PASTED).map(|one| one.tool().as_str()));
        for line in written.iter().take(PASTED).flat_map(|one| one.lines()) {
            let _ = writeln!(self.out, "         {line}");
        }
        if written.len() > PASTED {
            let left = written.len() - PASTED;
            let _ = writeln!(self.out, "         # {left} more: toolmark lint --rule {rule} --suggest operator");
        }
        if all.len() > 1 {
            let _ = writeln!(self.out, "       or on the server: toolmark lint --rule {rule} --suggest publisher");
            return;
        }
        let _ = writeln!(self.out, "       or on the server, in its definition:");
        if let Some(fields) = first.definition().as_object() {
            for (field, value) in fields {
                let _ = writeln!(self.out, "         \"{field}\": {value}");
            }
        }
    }

    fn summary(&mut self, lint: &Lint) {
        let counts: Vec<String> = Severity::ALL
            .iter()
            .rev()
            .map(|&severity| (severity, lint.count(severity)))
            .filter(|(_, count)| *count > 0)
            .map(|(severity, count)| self.paint(style(severity), &format!("{count} {severity}")))
            .collect();
        let found = if counts.is_empty() { "nothing found".to_owned() } else { counts.join(", ") };
        let _ = writeln!(self.out, "{} in {}: {found}", plural(lint.tools(), "tool"), plural(lint.packs(), "pack"));
    }

    /// Writes a text behind `indent`; further lines stand under its first word.
    fn wrapped(&mut self, indent: &str, text: &str) {
        let width = self.options.width.max(40);
        let mut line = indent.to_owned();
        let mut empty = true;
        for word in text.split(' ') {
            if !empty && line.chars().count() + 1 + word.chars().count() > width {
                let _ = writeln!(self.out, "{line}");
                line = " ".repeat(indent.len().max(4));
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        let _ = writeln!(self.out, "{line}");
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.options.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Critical => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
        Severity::High => Style::new().fg_color(Some(AnsiColor::Red.into())),
        Severity::Medium => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        Severity::Low => Style::new().fg_color(Some(AnsiColor::Cyan.into())),
        Severity::Info => Style::new().dimmed(),
    }
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
