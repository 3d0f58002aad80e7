//! Rights that are written down: policies that allow everything, addresses that mean everybody.

use serde_json::Value;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::{Argument, Manner};

/// The longest text that is read as a policy.
const MAX_POLICY: usize = 64 * 1024;

/// Reads a policy, or a range of addresses that has no end.
pub(super) fn read(manner: &Manner, argument: &Argument<'_>) -> Option<Effect> {
    if !manner.changes {
        return None;
    }
    let holds =
        argument.name.contains("polic") || argument.name.contains("permission") || argument.name.contains("statement");
    let grants = |summary: &str| Effect::mutating(manner.further(Action::Update), summary).with(Danger::Privilege);
    match argument.value {
        Value::String(text) => {
            let text = text.trim();
            if is_everywhere(text) {
                return Some(grants("lets every address in"));
            }
            if holds && is_mighty(text) {
                return Some(grants("gives every right"));
            }
            if !(holds || argument.name.ends_with("value") || argument.name.ends_with("document"))
                || !text.starts_with('{')
                || text.len() > MAX_POLICY
            {
                return None;
            }
            let policy: Value = serde_json::from_str(text).ok()?;
            allows_everything(&policy).then(|| grants("a policy that allows everything"))
        }
        Value::Array(items) => {
            let texts = || items.iter().take(256).filter_map(Value::as_str).map(str::trim);
            if texts().any(is_everywhere) {
                return Some(grants("lets every address in"));
            }
            (holds && texts().any(is_mighty)).then(|| grants("gives every right"))
        }
        Value::Object(_) if holds => {
            allows_everything(argument.value).then(|| grants("a policy that allows everything"))
        }
        _ => None,
    }
}

fn is_everywhere(text: &str) -> bool {
    matches!(text, "0.0.0.0/0" | "::/0" | "0.0.0.0/0,::/0")
}

/// Policies of services by their well-known names.
fn is_mighty(text: &str) -> bool {
    ["AdministratorAccess", "IAMFullAccess", "PowerUserAccess"]
        .iter()
        .any(|name| text == *name || text.ends_with(&format!("/{name}")))
}

/// True when a statement allows all actions, or allows something to everybody.
fn allows_everything(policy: &Value) -> bool {
    let get = |value: &Value, name: &str| {
        value
            .as_object()
            .and_then(|fields| fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value.clone())
    };
    let statements = match get(policy, "Statement") {
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
        None => vec![policy.clone()],
    };
    statements.iter().take(256).any(|statement| {
        let allows = get(statement, "Effect")
            .is_some_and(|effect| effect.as_str().is_some_and(|text| text.eq_ignore_ascii_case("allow")));
        let any = |value: &Value, found: &dyn Fn(&str) -> bool| match value {
            Value::String(text) => found(text),
            Value::Array(items) => items.iter().filter_map(Value::as_str).any(found),
            Value::Object(fields) => fields.values().any(|value| value.as_str().is_some_and(found)),
            _ => false,
        };
        let actions =
            get(statement, "Action").is_some_and(|action| any(&action, &|text| matches!(text, "*" | "*:*" | "iam:*")));
        let principals = get(statement, "Principal").is_some_and(|principal| any(&principal, &|text| text == "*"));
        allows && (actions || principals || get(statement, "NotAction").is_some())
    })
}
