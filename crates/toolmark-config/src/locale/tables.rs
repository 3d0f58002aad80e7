//! Names in TOML: `[tools."PACK.TOOL"]`, `[packs]` and `[agents.NAME]`, `[prompts]`, `[resources]` and `[templates]`.

use toml::de::{DeTable, DeValue};
use toolmark_core::display::Kind;
use toolmark_core::text::visible;

use super::{Offered, Reader, Refused, Subject};
use crate::read::{in_order, kind};

pub(super) fn read(text: &str, reader: &mut Reader) {
    let (tree, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            reader.refuse(at, &Refused::Syntax(error.message().trim().replace('\n', "; ")));
        }
        return;
    }
    for (section, value) in in_order(tree.get_ref()) {
        let (at, name): (usize, &str) = (section.span().start, section.get_ref());
        if !matches!(name, "tools" | "packs" | "agents") && offered(name).is_none() {
            reader.refuse(at, &Refused::Unknown(visible(name, 120)));
            continue;
        }
        let DeValue::Table(table) = value.get_ref() else {
            reader.refuse(at, &Refused::Syntax(format!("`{name}` must be a table, not {}", kind(value.get_ref()))));
            continue;
        };
        for (key, value) in in_order(table) {
            subject(name, key.get_ref(), key.span().start, value.get_ref(), reader);
        }
    }
}

/// What stands in a table of this name, beside tools, packs and agents.
fn offered(section: &str) -> Option<Offered> {
    Offered::ALL.into_iter().find(|kind| kind.table() == section)
}

/// One tool, pack, agent or offer: its name, or a table of texts.
fn subject(section: &str, name: &str, at: usize, value: &DeValue<'_>, reader: &mut Reader) {
    let own = |name: &str| match (section, offered(section)) {
        (_, Some(kind)) => Subject::Offer(kind, name.to_owned()),
        ("tools", _) => Subject::Tool(name.to_owned()),
        ("packs", _) => Subject::Pack(name.to_owned()),
        _ => Subject::Agent(name.to_owned()),
    };
    let label = format!("{section}.{name}");
    match value {
        DeValue::String(text) => reader.put(at, &label, own(name), Kind::Name, text),
        DeValue::Table(table) => {
            for (key, value) in in_order(table) {
                let (at, field): (usize, &str) = (key.span().start, key.get_ref());
                let label = format!("{label}.{field}");
                let place = match (field, section) {
                    ("name", _) => Some((own(name), Kind::Name)),
                    ("spoken", "tools" | "agents") => Some((own(name), Kind::Spoken)),
                    ("category", "tools") => Some((own(name), Kind::Category)),
                    ("handoff", "agents") => Some((Subject::Handoff(name.to_owned()), Kind::Name)),
                    _ => None,
                };
                match (place, value.get_ref()) {
                    (Some((of, kind)), DeValue::String(text)) => reader.put(at, &label, of, kind, text),
                    (Some(_), other) => {
                        let found = kind(other);
                        reader.refuse(
                            at,
                            &Refused::Syntax(format!("`{}` must be a text, not {found}", visible(&label, 120))),
                        );
                    }
                    (None, _) => reader.refuse(at, &Refused::Unknown(visible(&label, 120))),
                }
            }
        }
        other => {
            let found = kind(other);
            let message = format!("`{}` must be a text or a table of texts, not {found}", visible(&label, 120));
            reader.refuse(at, &Refused::Syntax(message));
        }
    }
}
