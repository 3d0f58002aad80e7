//! Choices: options whose text decides how far the call goes, and places for a name where `*` means all of them.

use serde_json::Value;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::{Argument, Manner};

/// Reads a choice that makes the call go further.
pub(super) fn read(manner: &Manner, argument: &Argument<'_>) -> Option<Effect> {
    if !manner.changes {
        return None;
    }
    match argument.value {
        Value::String(text) => one(manner, argument.name, text.trim()).or_else(|| nothing(manner, argument)),
        Value::Array(items) if !items.is_empty() => {
            items.iter().take(256).filter_map(Value::as_str).find_map(|text| one(manner, argument.name, text.trim()))
        }
        Value::Array(_) => nothing(manner, argument),
        Value::Object(fields) => nothing(manner, argument).or_else(|| {
            let all = fields.get("query").unwrap_or(argument.value);
            (manner.takes_away() && all.get("match_all").is_some()).then(|| unlimited(manner, "it selects everything"))
        }),
        _ => None,
    }
}

fn one(manner: &Manner, name: &str, text: &str) -> Option<Effect> {
    // Longer texts are no choice.
    if text.is_empty() || text.len() > 64 {
        return None;
    }
    let is = |any: &[&str]| any.iter().any(|one| text.eq_ignore_ascii_case(one));
    if is(&["approve", "approved", "approve_all"]) && (decides(name) || manner.reviews && is_state(name)) {
        return Some(
            Effect::mutating(Action::Update, "approves what somebody else has to answer for").with(Danger::Privilege),
        );
    }
    if is_mode(name) && is(HARD)
        || is_conflict(name) && is(&["replace", "overwrite", "delete", "drop", "truncate", "force"])
    {
        let action = manner.further(Action::Overwrite);
        return Some(
            Effect::mutating(action, format!("`{name}` is `{}`: nothing is kept", visible(text, 40))).unbounded(),
        );
    }
    let shares_link =
        name.contains("linksharing") && !is(&["off", "none", "restricted", "private", "disabled", "false"]);
    if is_audience(name) && is(EVERYBODY) || name.ends_with("type") && is(&["anyone"]) || shares_link {
        return Some(Effect::mutating(manner.further(Action::Update), "opens it to everybody").with(Danger::Outward));
    }
    if is_role(name) && is(MIGHTY) {
        let summary = format!("gives the rights of `{}`", visible(text, 40));
        return Some(Effect::mutating(manner.further(Action::Update), summary).with(Danger::Privilege));
    }
    if is(&["*"]) && (name.contains("principal") || name.contains("account")) {
        return Some(
            Effect::mutating(manner.further(Action::Update), "gives rights to everybody").with(Danger::Privilege),
        );
    }
    if manner.takes_away()
        && names_a_thing(name)
        && (is(&["*", "**", "_all", "%", ".*"]) || names_one(name) && is(&["all"]))
    {
        return Some(unlimited(manner, "it names all of them"));
    }
    None
}

/// A filter that lets everything through.
fn nothing(manner: &Manner, argument: &Argument<'_>) -> Option<Effect> {
    let empty = match argument.value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let filters = matches!(
        argument.name,
        "filter"
            | "where"
            | "wheredocument"
            | "conditions"
            | "condition"
            | "criteria"
            | "selector"
            | "predicate"
            | "query"
    );
    (empty && filters && matches!(manner.action, Some(Action::Delete | Action::Update | Action::Overwrite)))
        .then(|| unlimited(manner, "its filter is empty"))
}

fn unlimited(manner: &Manner, why: &str) -> Effect {
    Effect::mutating(manner.further(Action::Update), why).unbounded()
}

const HARD: &[&str] = &[
    "hard",
    "force",
    "forced",
    "overwrite",
    "overwrite_all",
    "truncate",
    "purge",
    "permanent",
    "permanently",
    "permanent_delete",
    "hard_delete",
    "cascade",
    "destroy",
    "wipe",
    "recreate",
    "drop",
    "drop_and_create",
    "--hard",
];
const EVERYBODY: &[&str] = &[
    "public",
    "public-read",
    "public-read-write",
    "public_read",
    "publicread",
    "anyone",
    "anyone_with_link",
    "anyonewithlink",
    "everyone",
    "world",
    "anonymous",
    "allusers",
    "allauthenticatedusers",
];
const MIGHTY: &[&str] = &[
    "admin",
    "administrator",
    "administrators",
    "owner",
    "root",
    "superuser",
    "superadmin",
    "super_admin",
    "sysadmin",
    "org_admin",
    "org:admin",
    "organization_admin",
    "global_admin",
    "global administrator",
    "full_control",
    "fullcontrol",
    "roles/owner",
    "roles/editor",
    "cluster-admin",
    "*",
];

fn decides(name: &str) -> bool {
    matches!(
        name,
        "event"
            | "reviewevent"
            | "decision"
            | "verdict"
            | "vote"
            | "review"
            | "reviewaction"
            | "reviewdecision"
            | "reviewstate"
    ) || name.starts_with("approval")
}

fn is_state(name: &str) -> bool {
    matches!(name, "state" | "status" | "action" | "response" | "resolution")
}

fn is_mode(name: &str) -> bool {
    name.ends_with("mode")
        || name.ends_with("strategy")
        || name.ends_with("behavior")
        || matches!(name, "resettype" | "deletiontype" | "deletetype" | "reset")
}

fn is_conflict(name: &str) -> bool {
    name.contains("conflict") || matches!(name, "ifexists" | "onexists" | "existing" | "onduplicate")
}

fn is_audience(name: &str) -> bool {
    matches!(
        name,
        "visibility"
            | "access"
            | "acl"
            | "aclmode"
            | "cannedacl"
            | "privacy"
            | "privacysetting"
            | "sharing"
            | "share"
            | "audience"
            | "sharewith"
            | "accesslevel"
            | "linkaccess"
    )
}

fn is_role(name: &str) -> bool {
    name.ends_with("role")
        || name.ends_with("roles")
        || matches!(
            name,
            "permission" | "permissions" | "accesslevel" | "privilege" | "privileges" | "rolename" | "grant"
        )
}

fn names_one(name: &str) -> bool {
    ["id", "ids", "target", "targets", "entities"].iter().any(|end| name.ends_with(end))
}

fn names_a_thing(name: &str) -> bool {
    const ENDS: &[&str] = &[
        "id",
        "ids",
        "name",
        "names",
        "index",
        "indices",
        "key",
        "keys",
        "pattern",
        "target",
        "targets",
        "entity",
        "entities",
        "resource",
        "resources",
        "path",
        "paths",
        "table",
        "tables",
        "collection",
        "user",
        "users",
        "selector",
        "topic",
        "queue",
        "stream",
        "tag",
        "group",
        "arn",
        "prefix",
    ];
    ENDS.iter().any(|end| name.ends_with(end)) && !name.contains("fields") && !name.contains("column")
}
