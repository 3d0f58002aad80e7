//! Commands whose arguments decide: containers such as `CONFIG`, and those that another argument turns around.

use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

/// Reads a command that is not decided by its name; nothing when its name is enough.
pub(super) fn read(name: &str, arguments: &[String]) -> Option<Result<Effect, String>> {
    let first = arguments.first().map(|word| word.to_ascii_lowercase()).unwrap_or_default();
    let says = |word: &str| arguments.iter().any(|argument| argument.eq_ignore_ascii_case(word));
    let number = |at: usize| arguments.get(at).and_then(|number| number.parse::<f64>().ok());
    let made = Made { name, arguments };
    Some(Ok(match name {
        "config" => return Some(config(&made, &first, arguments)),
        "client" | "acl" | "cluster" | "debug" | "module" | "script" | "function" | "memory" | "object" | "slowlog"
        | "latency" | "xgroup" | "sentinel" | "ft.config" => return Some(container(&made, name, &first)),
        "keys" => {
            let effect = made.reads(Action::Search);
            // A pattern that begins with a star walks over every key and blocks the server meanwhile.
            if first.starts_with('*') { effect.with(Danger::Exhaustion) } else { effect }
        }
        // A time to live that is over deletes at once.
        "expire" | "pexpire" => made.lives(number(1).is_some_and(|seconds| seconds <= 0.0)),
        "expireat" => made.lives(number(1).is_some_and(|seconds| seconds < 1_000_000_000.0)),
        "pexpireat" => made.lives(number(1).is_some_and(|milliseconds| milliseconds < 1_000_000_000_000.0)),
        "sort" if says("STORE") => made.writes(Action::Overwrite),
        "sort" => made.reads(Action::Read),
        "georadius" | "georadiusbymember" if says("STORE") || says("STOREDIST") => made.writes(Action::Overwrite),
        "georadius" | "georadiusbymember" => made.reads(Action::Read),
        "copy" | "restore" if says("REPLACE") => made.writes(Action::Overwrite),
        "copy" | "restore" => made.writes(Action::Create),
        _ => return None,
    }))
}

/// Effects of one command.
struct Made<'a> {
    name: &'a str,
    arguments: &'a [String],
}

impl Made<'_> {
    fn reads(&self, action: Action) -> Effect {
        let words: Vec<&str> =
            std::iter::once(self.name).chain(self.arguments.iter().take(2).map(String::as_str)).collect();
        let target = self.arguments.first().map(|key| visible(key, 120));
        Effect::pure(action, visible(&words.join(" "), 120)).on(target)
    }

    fn writes(&self, action: Action) -> Effect {
        Effect { mutability: Mutability::Mutates, ..self.reads(action) }
    }

    fn lives(&self, over: bool) -> Effect {
        self.writes(if over { Action::Delete } else { Action::Update })
    }
}

fn config(made: &Made<'_>, first: &str, arguments: &[String]) -> Result<Effect, String> {
    let rest: Vec<String> = arguments.iter().skip(1).map(|word| word.to_ascii_lowercase()).collect();
    let secret = |word: &String| {
        word.contains('*')
            || ["requirepass", "masterauth", "masteruser", "tls-key-file-pass", "tls-client-key-file-pass"]
                .contains(&word.as_str())
    };
    match first {
        "get" if rest.iter().any(secret) => Ok(made.reads(Action::Read).with(Danger::Secret)),
        "get" | "help" => Ok(made.reads(Action::Read)),
        "set" => {
            let effect = made.writes(Action::Update).with(Danger::Privilege);
            // Where the dump is written, and what is loaded at the start.
            let file = rest.iter().step_by(2).any(|word| {
                ["dir", "dbfilename", "loadmodule", "appendfilename", "unixsocket", "logfile"].contains(&word.as_str())
            });
            Ok(if file { effect.with(Danger::Escape) } else { effect })
        }
        "rewrite" => Ok(made.writes(Action::Overwrite).with(Danger::Privilege)),
        "resetstat" => Ok(made.writes(Action::Delete)),
        other => Err(unknown("CONFIG", other)),
    }
}

fn container(made: &Made<'_>, name: &str, first: &str) -> Result<Effect, String> {
    let read = || made.reads(Action::Read);
    let write = |action: Action| made.writes(action);
    let effect = match (name, first) {
        (_, "help") => read(),
        ("client", "list" | "info" | "id" | "getname" | "getredir" | "trackinginfo") => read(),
        ("client", "kill") => write(Action::Delete).with(Danger::Privilege),
        ("client", "pause" | "unpause") => write(Action::Update).with(Danger::Exhaustion),
        ("client", _) => write(Action::Update),
        ("acl", "whoami" | "cat" | "genpass" | "dryrun" | "log") => read(),
        ("acl", "list" | "getuser" | "users") => read().with(Danger::Secret),
        ("acl", "deluser") => write(Action::Delete).with(Danger::Privilege),
        ("acl", _) => write(Action::Update).with(Danger::Privilege),
        (
            "cluster",
            "info" | "nodes" | "slots" | "shards" | "links" | "keyslot" | "countkeysinslot" | "getkeysinslot" | "myid"
            | "replicas" | "slaves" | "myshardid",
        ) => read(),
        ("cluster", "reset" | "flushslots" | "forget" | "failover") => {
            write(Action::Delete).unbounded().with(Danger::Privilege)
        }
        ("cluster", _) => write(Action::Update).unbounded().with(Danger::Privilege),
        ("debug", "object" | "digest" | "digest-value" | "listpack" | "ziplist" | "stringmatch-len") => read(),
        ("debug", "sleep") => read().with(Danger::Exhaustion),
        ("debug", _) => write(Action::Execute).unbounded().with(Danger::Privilege),
        ("module", "list") => read(),
        ("module", "unload") => write(Action::Delete).with(Danger::Code),
        ("module", _) => write(Action::Execute).unbounded().with(Danger::Code),
        ("script", "exists" | "show") => read(),
        ("script", "load") => write(Action::Create).with(Danger::Code),
        ("script", "flush" | "kill") => write(Action::Delete).unbounded(),
        ("script", "debug") => write(Action::Update),
        ("function", "list" | "stats" | "dump") => read(),
        ("function", "load" | "restore") => write(Action::Create).with(Danger::Code),
        ("function", "delete") => write(Action::Delete),
        ("function", "flush" | "kill") => write(Action::Delete).unbounded(),
        ("memory", "purge") => write(Action::Update),
        ("memory", _) => read(),
        ("object", _) => read(),
        ("slowlog", "reset") => write(Action::Delete),
        ("slowlog", _) => read(),
        ("latency", "reset") => write(Action::Delete),
        ("latency", _) => read(),
        ("xgroup", "create" | "createconsumer") => write(Action::Create),
        ("xgroup", "destroy" | "delconsumer") => write(Action::Delete),
        ("xgroup", "setid") => write(Action::Update),
        ("ft.config", "get") => read(),
        ("ft.config", _) => write(Action::Update).with(Danger::Privilege),
        (
            "sentinel",
            "masters"
            | "master"
            | "replicas"
            | "slaves"
            | "sentinels"
            | "get-master-addr-by-name"
            | "ckquorum"
            | "myid",
        ) => read(),
        ("sentinel", _) => write(Action::Update).unbounded().with(Danger::Privilege),
        (name, other) => return Err(unknown(name, other)),
    };
    Ok(effect)
}

fn unknown(name: &str, first: &str) -> String {
    format!("`{name} {}` is no command that is known here", visible(first, 40))
}
