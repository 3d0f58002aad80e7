//! Redis: what a command does, from its name and the few arguments that turn it into another one.
//!
//! `EXPIRE key 0` deletes, `SORT … STORE` overwrites, `CONFIG GET requirepass` reads a password. A command that is not in
//! the table may do anything.

mod cli;
mod subcommands;
mod table;

use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::facts::{Danger, Effect, Reading};
use toolmark_core::text::visible;

use crate::sql::secrets;

/// Longer texts are not read.
const LONGEST: usize = 256 * 1024;

/// More commands are not read.
const COMMANDS: usize = 1_000;

/// How many keys are named.
const KEYS: usize = 8;

/// What a text of commands does, one on a line, as `redis-cli` reads them.
#[must_use]
pub fn read(text: &str) -> Reading {
    if text.len() > LONGEST {
        return cannot("it is longer than 256 KiB");
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() > COMMANDS {
        return cannot("it contains more than 1,000 commands");
    }
    let mut effects = Vec::new();
    for line in lines {
        match cli::words(line).ok_or_else(|| "a quote is never closed".to_owned()).and_then(|words| command(&words)) {
            Ok(effect) => effects.push(effect),
            Err(reason) => return cannot(&reason),
        }
    }
    if effects.is_empty() { cannot("it contains no command") } else { Reading::Understood(effects) }
}

/// What one command does, given as its words: `["SET", "key", "value"]`.
#[must_use]
pub fn read_words<S: AsRef<str>>(words: &[S]) -> Reading {
    let words: Vec<String> = words.iter().map(|word| word.as_ref().to_owned()).collect();
    command(&words).map_or_else(|reason| cannot(&reason), |effect| Reading::Understood(vec![effect]))
}

/// What `redis-cli` does with these arguments, its own options included.
#[must_use]
pub fn read_cli<S: AsRef<str>>(arguments: &[S]) -> Reading {
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    cli::read(&arguments)
}

fn cannot(reason: &str) -> Reading {
    Reading::CannotTell { reason: reason.to_owned() }
}

/// Reads one command.
fn command(words: &[String]) -> Result<Effect, String> {
    let Some((name, arguments)) = words.split_first() else { return Err("it contains no command".into()) };
    let lower = name.to_ascii_lowercase();
    if let Some(effect) = subcommands::read(&lower, arguments) {
        return effect;
    }
    let known =
        table::find(&lower).ok_or_else(|| format!("`{}` is no command that is known here", visible(name, 40)))?;
    let mutability = match known.action {
        Action::Read | Action::Search => Mutability::Pure,
        _ => Mutability::Mutates,
    };
    let mut effect = Effect::pure(
        known.action,
        format!("{} {}", lower.to_uppercase(), arguments.first().map_or("", String::as_str)).trim(),
    );
    effect.summary = visible(&effect.summary, 120);
    effect.mutability = mutability;
    effect.bounded = known.bounded;
    effect.targets = keys(&lower, arguments);
    if mutability == Mutability::Pure && effect.targets.iter().any(|key| is_secret_key(key)) {
        effect = effect.with(Danger::Secret);
    }
    Ok(adjust(known.danger.into_iter().fold(effect, Effect::with), &lower, arguments))
}

/// What arguments make of a command.
fn adjust(mut effect: Effect, name: &str, arguments: &[String]) -> Effect {
    let says = |word: &str| arguments.iter().any(|argument| argument.eq_ignore_ascii_case(word));
    match name {
        // Waiting for ever holds a connection for ever.
        "blpop" | "brpop" | "bzpopmin" | "bzpopmax" if arguments.last().is_some_and(|last| last == "0") => {
            effect = effect.with(Danger::Exhaustion);
        }
        "xread" | "xreadgroup"
            if arguments
                .windows(2)
                .any(|two| matches!(two, [block, time] if block.eq_ignore_ascii_case("block") && time == "0")) =>
        {
            effect = effect.with(Danger::Exhaustion);
        }
        "getex" if arguments.len() < 2 => {
            effect.mutability = Mutability::Pure;
            effect.action = Action::Read;
        }
        "set" if says("NX") => effect.action = Action::Create,
        "set" if says("XX") => effect.action = Action::Update,
        "bitfield" if !says("SET") && !says("INCRBY") => {
            effect.mutability = Mutability::Pure;
            effect.action = Action::Read;
        }
        "xtrim" | "ltrim" if arguments.last().is_some_and(|last| last == "0") => effect = effect.unbounded(),
        "del" | "unlink" if arguments.is_empty() => effect = effect.unbounded(),
        _ => {}
    }
    effect
}

/// The keys that a command names, as far as their place is the usual one.
fn keys(name: &str, arguments: &[String]) -> Vec<String> {
    let count = match name {
        "del" | "unlink" | "mget" | "exists" | "touch" | "sunion" | "sinter" | "sdiff" | "pfcount" | "pfmerge"
        | "rename" | "renamenx" => KEYS,
        "mset" | "msetnx" => return arguments.iter().step_by(2).take(KEYS).map(|key| visible(key, 120)).collect(),
        "info" | "ping" | "echo" | "auth" | "hello" | "select" | "eval" | "evalsha" | "eval_ro" | "fcall" | "scan"
        | "command" => 0,
        _ => 1,
    };
    arguments.iter().take(count).map(|key| visible(key, 120)).collect()
}

/// `user:1:password`, `config/api_key`.
fn is_secret_key(key: &str) -> bool {
    key.split([':', '/', '.']).any(secrets::is_secret_column)
}

#[cfg(test)]
mod tests;
