//! `redis-cli`: its quotes, and the options that stand before a command or instead of one.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect, Reading};

/// Options that take a value and change nothing of what is done.
const VALUED: &[&str] = &[
    "-h",
    "-p",
    "-s",
    "-a",
    "-u",
    "-r",
    "-i",
    "-n",
    "-D",
    "--user",
    "--pass",
    "--host",
    "--port",
    "--socket",
    "--cacert",
    "--cert",
    "--key",
    "--sni",
    "--cacertdir",
    "--tls-ciphers",
    "--pattern",
    "--quoted-pattern",
    "--count",
    "--quoted-input",
    "--show-pushes",
    "-X",
    "-d",
    "-t",
    "--memkeys-samples",
    "--intrinsic-latency",
    "--lru-test",
];

/// Options that read by themselves, without a command.
const READS: &[&str] = &[
    "--scan",
    "--bigkeys",
    "--memkeys",
    "--hotkeys",
    "--stat",
    "--latency",
    "--latency-history",
    "--latency-dist",
    "--help",
    "--version",
];

/// Cuts a line into words, with the quotes and escapes of `redis-cli`. Nothing when a quote stays open.
pub(super) fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut characters = line.chars().peekable();
    while let Some(&next) = characters.peek() {
        if next.is_whitespace() {
            characters.next();
            continue;
        }
        let mut word = String::new();
        let mut quote = None;
        loop {
            match (characters.next(), quote) {
                (None, None) => break,
                (None, Some(_)) => return None,
                (Some(character), None) if character.is_whitespace() => break,
                (Some(character @ ('"' | '\'')), None) => quote = Some(character),
                (Some(character), Some(open)) if character == open => quote = None,
                (Some('\\'), Some(_)) => word.extend(characters.next()),
                (Some(character), _) => word.push(character),
            }
        }
        words.push(word);
    }
    Some(words)
}

/// Reads the arguments of `redis-cli`.
pub(super) fn read(arguments: &[&str]) -> Reading {
    let mut at = 0;
    while let Some(&argument) = arguments.get(at) {
        let (option, value) =
            argument.split_once('=').map_or((argument, None), |(option, value)| (option, Some(value)));
        if !argument.starts_with('-') {
            return super::read_words(arguments.get(at..).unwrap_or_default());
        }
        if READS.contains(&option) {
            let action = if option == "--scan" { Action::Search } else { Action::Read };
            return Reading::Understood(vec![Effect::pure(action, format!("redis-cli {option}"))]);
        }
        match option {
            "--pipe" => {
                return one(Effect::mutating(Action::Execute, "runs commands from its input")
                    .unbounded()
                    .with(Danger::Code));
            }
            "--eval" => {
                return one(Effect::mutating(Action::Execute, "runs a script from a file")
                    .unbounded()
                    .with(Danger::Code));
            }
            "--rdb" | "--functions-rdb" => {
                return one(
                    Effect::mutating(Action::Create, "copies the whole database into a file").with(Danger::Escape)
                );
            }
            "--replica" | "--slave" | "--cluster" => {
                return Reading::CannotTell { reason: format!("`redis-cli {option}` is not read here") };
            }
            _ => {}
        }
        at += if VALUED.contains(&option) && value.is_none() { 2 } else { 1 };
    }
    Reading::CannotTell { reason: "redis-cli without a command reads its input".into() }
}

fn one(effect: Effect) -> Reading {
    Reading::Understood(vec![effect])
}
