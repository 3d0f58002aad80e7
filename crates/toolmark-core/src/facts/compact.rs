//! Facts as they are kept beside a call, so that it can be judged again when its arguments are gone: everything a rule can look at, and
//! no text of the arguments themselves.

use serde_json::{Map, Value, json};

use super::{Danger, Effect, Facts, Part, Reading};

/// What arguments can be written in. A word that is not among them was written by a newer program, and is not guessed at.
const LANGUAGES: &[&str] =
    &["sql", "mongo", "redis", "cypher", "graphql", "shell", "code", "http", "url", "path", "kubernetes", "option"];

/// What stands where the reason was why something could not be understood: it may quote the arguments.
const NOT_UNDERSTOOD: &str = "it was not understood when the call was made";

impl Facts {
    /// The facts as compact JSON. Summaries and reasons are left out, and addresses lose what may be a credential: they quote arguments.
    #[must_use]
    pub fn to_compact(&self) -> Value {
        self.parts.iter().map(part_to).collect()
    }

    /// Reads them back. `None` for what this program does not understand, which must not be taken for harmless.
    #[must_use]
    pub fn from_compact(value: &Value) -> Option<Self> {
        Some(Self::new(value.as_array()?.iter().map(part_from).collect::<Option<_>>()?))
    }
}

fn part_to(part: &Part) -> Value {
    match &part.reading {
        Reading::Understood(effects) => {
            json!({"p": part.pointer, "l": part.language, "e": effects.iter().map(effect_to).collect::<Vec<_>>()})
        }
        Reading::CannotTell { .. } => json!({"p": part.pointer, "l": part.language}),
    }
}

fn effect_to(effect: &Effect) -> Value {
    let mut all = Map::new();
    all.insert("m".into(), json!(effect.mutability));
    all.insert("a".into(), json!(effect.action));
    if !effect.targets.is_empty() {
        all.insert("t".into(), effect.targets.iter().map(|target| without_credentials(target)).collect());
    }
    if !effect.bounded {
        all.insert("b".into(), false.into());
    }
    if !effect.dangers.is_empty() {
        all.insert("d".into(), effect.dangers.iter().map(|danger| danger.as_str()).collect());
    }
    Value::Object(all)
}

/// An address without the part before `@` and without what follows `?`; everything else as it is.
fn without_credentials(target: &str) -> String {
    let Some((scheme, rest)) = target.split_once("://") else { return target.to_owned() };
    let rest = rest.split_once(['?', '#']).map_or(rest, |(rest, _)| rest);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn part_from(value: &Value) -> Option<Part> {
    let word = value.get("l")?.as_str()?;
    let language = LANGUAGES.iter().copied().find(|known| *known == word)?;
    let reading = match value.get("e") {
        Some(effects) => {
            Reading::Understood(effects.as_array()?.iter().map(effect_from).collect::<Option<Vec<Effect>>>()?)
        }
        None => Reading::CannotTell { reason: NOT_UNDERSTOOD.into() },
    };
    Some(Part { pointer: value.get("p")?.as_str()?.to_owned(), language, reading })
}

fn effect_from(value: &Value) -> Option<Effect> {
    let texts = |key: &str| value.get(key).map_or(Some(&[][..]), |list| list.as_array().map(Vec::as_slice));
    let danger = |word: &Value| Danger::ALL.iter().copied().find(|danger| Some(danger.as_str()) == word.as_str());
    let targets: Vec<String> = texts("t")?.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    Some(Effect {
        mutability: value.get("m")?.as_str()?.parse().ok()?,
        action: value.get("a")?.as_str()?.parse().ok()?,
        summary: targets.join(", "),
        targets,
        bounded: value.get("b").is_none_or(|bounded| bounded == &Value::Bool(true)),
        dangers: texts("d")?.iter().map(danger).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behavior::Action;

    fn facts() -> Facts {
        let sweep = Effect::mutating(Action::Delete, "DELETE FROM users").on(["users".to_owned()]).unbounded();
        let fetch = Effect::pure(Action::Read, "GET https://me:pw@host/a?key=1")
            .on(["https://me:pw@host/a?key=1".to_owned()])
            .with(Danger::Secret)
            .with(Danger::Outward);
        Facts::new(vec![
            Part { pointer: "/query".into(), language: "sql", reading: Reading::Understood(vec![sweep]) },
            Part { pointer: "/url".into(), language: "http", reading: Reading::Understood(vec![fetch]) },
            Part {
                pointer: "/x".into(),
                language: "shell",
                reading: Reading::CannotTell { reason: "my secret".into() },
            },
        ])
    }

    #[test]
    fn everything_that_a_rule_can_look_at_comes_back() {
        let kept = facts().to_compact();
        let back = Facts::from_compact(&kept).unwrap();
        assert_eq!(back.to_compact(), kept);
        assert_eq!(back.parts().len(), 3);
        let effects: Vec<&Effect> = back.effects().collect();
        assert_eq!(
            (effects[0].action, effects[0].bounded, &*effects[0].targets),
            (Action::Delete, false, &["users".to_owned()][..])
        );
        assert_eq!(effects[1].dangers, [Danger::Secret, Danger::Outward]);
        assert_eq!(back.unclear().count(), 1);
    }

    #[test]
    fn no_text_of_the_arguments_and_no_credential_is_kept() {
        let text = facts().to_compact().to_string();
        for secret in ["my secret", "pw", "key=1", "DELETE FROM"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("https://host/a"), "{text}");
    }

    #[test]
    fn what_is_not_understood_is_not_taken_for_harmless() {
        for odd in
            [json!({}), json!([{"p": "/a", "l": "klingon"}]), json!([{"p": "/a", "l": "sql", "e": [{"m": "PURE"}]}])]
        {
            assert_eq!(Facts::from_compact(&odd), None, "{odd}");
        }
        assert_eq!(Facts::from_compact(&json!([])), Some(Facts::default()));
    }
}
