//! Flags: options that are on or off.

use serde_json::Value;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::{Argument, Manner};

/// Reads a flag that makes the call go further.
pub(super) fn read(manner: &Manner, argument: &Argument<'_>) -> Option<Effect> {
    match state(argument.value)? {
        true => on(manner, argument),
        false => off(manner, argument.name),
    }
}

fn on(manner: &Manner, argument: &Argument<'_>) -> Option<Effect> {
    let name = argument.name;
    if is_elevated(name) {
        return Some(
            Effect::pure(Action::Read, format!("`{name}` gives rights or takes a guard away")).with(Danger::Privilege),
        );
    }
    if !manner.changes {
        return None;
    }
    if destroys(name)
        || (manner.takes_away() && matches!(name, "recursive" | "recurse" | "all" | "prune" | "everything"))
    {
        let action = manner.further(Action::Delete);
        return Some(Effect::mutating(action, format!("`{name}` lets nothing be kept")).unbounded());
    }
    if replaces(name) {
        let action = manner.further(Action::Overwrite);
        return Some(Effect::mutating(action, format!("`{name}` replaces what is there")).unbounded());
    }
    // To force a new thing into being takes nothing away.
    let adds =
        matches!(manner.action, Some(Action::Create | Action::Append | Action::Send | Action::Read | Action::Search));
    if !adds && (matches!(name, "force" | "forced") || name.starts_with("force") && forces(name)) {
        let action = manner.further(Action::Overwrite);
        return Some(Effect::mutating(action, format!("`{name}` gets around what would stop it")).unbounded());
    }
    if gets_around(name) {
        let summary = format!("`{name}` gets around a guard");
        return Some(Effect::mutating(manner.further(Action::Update), summary).with(Danger::Privilege));
    }
    if is_public(name) {
        return Some(
            Effect::mutating(manner.further(Action::Create), format!("`{name}` opens it to everybody"))
                .with(Danger::Outward),
        );
    }
    if matches!(name, "isadmin" | "admin" | "issuperuser" | "superuser" | "siteadmin" | "makeadmin") {
        return Some(
            Effect::mutating(manner.further(Action::Update), format!("`{name}` gives every right"))
                .with(Danger::Privilege),
        );
    }
    marked(manner, argument)
}

fn off(manner: &Manner, name: &str) -> Option<Effect> {
    let guards = name.contains("deletionprotection")
        || name.contains("terminationprotection")
        || matches!(name, "sandbox" | "sandboxed" | "requireauth" | "requireauthentication");
    // A new thing without protection is an ordinary new thing.
    (guards && manner.changes && manner.action != Some(Action::Create)).then(|| {
        Effect::mutating(manner.further(Action::Update), format!("`{name}` takes a guard away")).with(Danger::Privilege)
    })
}

fn marked(manner: &Manner, argument: &Argument<'_>) -> Option<Effect> {
    let plain = |name: &str| {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).eq(argument.name.chars())
    };
    let (_, why) = manner.marked.iter().find(|(name, _)| argument.top && plain(name))?;
    Some(Effect::mutating(manner.further(Action::Update), format!("`{}` {why}", argument.name)).unbounded())
}

/// What a value says when it is a flag.
fn state(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::String(text) if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("yes") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") || text.eq_ignore_ascii_case("no") => Some(false),
        _ => None,
    }
}

fn destroys(name: &str) -> bool {
    matches!(
        name,
        "permanent"
            | "permanently"
            | "permanentdelete"
            | "permanentlydelete"
            | "hard"
            | "harddelete"
            | "hardreset"
            | "purge"
            | "wipe"
            | "erase"
            | "destroy"
            | "truncate"
            | "cascade"
            | "dropcascade"
            | "droptarget"
            | "dropexisting"
            | "dropifexists"
            | "droptables"
            | "removeall"
            | "clearall"
            | "skipfinalsnapshot"
            | "skiptrash"
            | "bypasstrash"
            | "nobackup"
            | "nuke"
            | "cleanall"
    ) || name.starts_with("delete") && !name.starts_with("deleted") && !name.contains("protection")
}

fn replaces(name: &str) -> bool {
    matches!(name, "clobber" | "clearexisting" | "replaceexisting" | "replaceall" | "recreate")
        || name.starts_with("overwrite")
        || name.ends_with("overwrite") && !name.starts_with("no") && !name.starts_with("prevent")
}

/// What can be forced so that something is lost. `force_reload` loses nothing.
fn forces(name: &str) -> bool {
    ["delete", "push", "remove", "replace", "update", "destroy", "stop", "kill", "merge", "drop", "unlock", "detach"]
        .iter()
        .any(|what| name.ends_with(what))
}

/// `skip_drain`, `bypassApproval`, `allow_symlink_write`: a guard that the publisher built in is left out.
fn gets_around(name: &str) -> bool {
    const GUARDS: &[&str] = &["drain", "protection", "approval", "safety", "snapshot", "backup", "sandbox", "symlink"];
    ["skip", "bypass", "disable", "allow", "without", "no"].iter().any(|word| {
        name.strip_prefix(word)
            .is_some_and(|rest| GUARDS.iter().any(|guard| rest.starts_with(guard) || rest.ends_with(guard)))
    })
}

fn is_elevated(name: &str) -> bool {
    matches!(
        name,
        "sudo"
            | "usesudo"
            | "withsudo"
            | "asroot"
            | "runasroot"
            | "runasadmin"
            | "privileged"
            | "elevated"
            | "unsafe"
            | "nosandbox"
            | "disablesandbox"
            | "skippermissions"
            | "bypasspermissions"
            | "bypassbranchprotection"
            | "bypassprotection"
            | "allowdestructive"
    ) || name.contains("dangerous")
}

fn is_public(name: &str) -> bool {
    matches!(
        name,
        "public"
            | "ispublic"
            | "makepublic"
            | "publiclyaccessible"
            | "publicaccess"
            | "publicread"
            | "allowpublicaccess"
            | "enablepublicendpoint"
            | "enablepublicaccess"
            | "publicnetworkaccess"
            | "anonymousaccess"
            | "allowanonymous"
            | "allowanonymousaccess"
    )
}
