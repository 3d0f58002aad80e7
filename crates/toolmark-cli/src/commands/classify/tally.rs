//! Do the models agree with each other, and with what is declared? Fields are counted one by one; nobody's silence counts as a yes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolmark_core::behavior::{Annotations, Behavior, BehaviorSource};
use toolmark_core::tool::Tool;

use super::opinion::{FIELDS, Opinion};

/// What one model said about one tool.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Opinion {
        opinion: Opinion,
        kept: bool,
    },
    /// It answered, and the answer is no opinion.
    Nonsense(String),
    /// It did not answer.
    Silent(String),
}

/// What is declared about a tool, and by whom.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) source: BehaviorSource,
    pub(super) behavior: Option<Behavior>,
    /// The words, by field; hints say only the first.
    words: Vec<(&'static str, &'static str)>,
}

/// How a declaration stands after the models spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Most models say the same in every field that is declared.
    Corroborated,
    /// Most models say something else in a field.
    Disputed,
    /// They do not agree enough to say either.
    Undecided,
    /// Nothing is declared.
    Undeclared,
}

/// All that was said about one tool.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub(super) said: Vec<Said>,
    pub(super) declared: Option<Declared>,
}

impl Declared {
    pub(super) fn of(tool: &Tool, operator: Option<Behavior>) -> Option<Self> {
        let whole = |source, behavior: Behavior| {
            let mut words = vec![
                ("mutability", behavior.mutability().as_str()),
                ("action", behavior.action().as_str()),
                ("output_domain", behavior.output_domain().as_str()),
            ];
            words.extend(behavior.content_type().map(|content| ("content_type", content.as_str())));
            Self { source, behavior: Some(behavior), words }
        };
        let hinted = || {
            let mutability = Annotations::of(&tool.definition().reading()).mutability()?;
            let words = vec![("mutability", mutability.as_str())];
            Some(Self { source: BehaviorSource::Annotations, behavior: None, words })
        };
        operator
            .map(|behavior| whole(BehaviorSource::Operator, behavior))
            .or_else(|| tool.definition().declared().map(|behavior| whole(BehaviorSource::Publisher, behavior)))
            .or_else(hinted)
    }

    /// For people.
    pub(super) fn short(&self) -> String {
        match self.behavior {
            Some(behavior) => behavior.short(),
            None => self.words.iter().map(|(_, word)| *word).collect::<Vec<_>>().join("|"),
        }
    }
}

impl Standing {
    pub(super) const ALL: [Self; 4] = [Self::Corroborated, Self::Disputed, Self::Undecided, Self::Undeclared];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Corroborated => "corroborated",
            Self::Disputed => "disputed",
            Self::Undecided => "undecided",
            Self::Undeclared => "undeclared",
        }
    }
}

impl Tally {
    fn opinions(&self) -> impl Iterator<Item = &Opinion> {
        self.said.iter().filter_map(|said| match said {
            Said::Opinion { opinion, .. } => Some(opinion),
            Said::Nonsense(_) | Said::Silent(_) => None,
        })
    }

    /// What more than half of all models that were to be asked say about a field.
    pub(super) fn majority_of(&self, field: &str) -> Option<&'static str> {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for word in self.opinions().filter_map(|opinion| opinion.says(field)) {
            *counts.entry(word).or_default() += 1;
        }
        counts.into_iter().find(|(_, count)| count * 2 > self.said.len()).map(|(word, _)| word)
    }

    /// The behavior that more than half of them say, in the three fields of the paper.
    pub(super) fn majority(&self) -> Option<Behavior> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for behavior in self.opinions().filter_map(Opinion::behavior) {
            *counts.entry(behavior.short()).or_default() += 1;
        }
        let (short, _) = counts.into_iter().find(|(_, count)| count * 2 > self.said.len())?;
        let behavior: Behavior = short.parse().ok()?;
        Some(match self.majority_of("content_type").and_then(|word| word.parse().ok()) {
            Some(content) => behavior.with_content_type(content),
            None => behavior,
        })
    }

    /// True when every model says the same in the three fields of the paper.
    pub(super) fn is_strict(&self) -> bool {
        let mut behaviors = self.said.iter().map(|said| match said {
            Said::Opinion { opinion, .. } => opinion.behavior().map(|behavior| behavior.short()),
            Said::Nonsense(_) | Said::Silent(_) => None,
        });
        let Some(Some(first)) = behaviors.next() else { return false };
        behaviors.all(|other| other.as_ref() == Some(&first))
    }

    /// The fields in which most models say something else than what is declared: field, declared, said.
    pub(super) fn disputes(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let words = self.declared.iter().flat_map(|declared| declared.words.iter());
        let against = |(field, claimed): &(&'static str, &'static str)| {
            let found = self.majority_of(field).filter(|found| found != claimed)?;
            Some((*field, *claimed, found))
        };
        words.filter_map(against).collect()
    }

    pub(super) fn standing(&self) -> Standing {
        let Some(declared) = &self.declared else { return Standing::Undeclared };
        // The fourth field is not the paper's, and few declare it: it corroborates nothing, but contradicts.
        if !self.disputes().is_empty() {
            return Standing::Disputed;
        }
        let mut paper = declared.words.iter().filter(|(field, _)| *field != "content_type");
        match paper.all(|(field, claimed)| self.majority_of(field) == Some(claimed)) {
            true => Standing::Corroborated,
            false => Standing::Undecided,
        }
    }

    /// What to declare: the opinion of the majority, or what guards more where it contradicts a declaration, with the other one.
    pub(super) fn suggestion(&self) -> Option<(Behavior, Option<Behavior>)> {
        let majority = self.majority()?;
        let declared = self.declared.as_ref();
        match (self.standing(), declared.and_then(|declared| declared.behavior)) {
            (Standing::Undeclared, _) | (Standing::Corroborated, None) => Some((majority, None)),
            (Standing::Disputed, Some(declared)) => match declared.mutability() > majority.mutability() {
                true => Some((declared, Some(majority))),
                false => Some((majority, Some(declared).filter(|own| own.mutability() < majority.mutability()))),
            },
            (Standing::Disputed, None) => {
                // Hints say MUTATES and models PURE: what guards more has no words of its own but these.
                let guarded = declared.is_some_and(|own| own.words.contains(&("mutability", "MUTATES")));
                if guarded { None } else { Some((majority, None)) }
            }
            (Standing::Corroborated, Some(_)) | (Standing::Undecided, _) => None,
        }
    }

    pub(super) fn to_json(&self, models: &[String]) -> Value {
        let said = models.iter().zip(&self.said).map(|(model, said)| match said {
            Said::Opinion { opinion, kept } => {
                let mut all = opinion.to_json();
                all.insert("model".into(), model.as_str().into());
                all.insert("kept".into(), (*kept).into());
                all.insert("behavior".into(), json!(opinion.behavior()));
                Value::Object(all)
            }
            Said::Nonsense(problem) => json!({"model": model, "nonsense": problem}),
            Said::Silent(problem) => json!({"model": model, "silent": problem}),
        });
        let fields = FIELDS.iter().map(|field| ((*field).to_owned(), json!(self.majority_of(field))));
        let disputes = self
            .disputes()
            .into_iter()
            .map(|(field, declared, found)| json!({"field": field, "declared": declared, "found": found}));
        json!({
            "opinions": said.collect::<Vec<_>>(),
            "strict": self.is_strict(),
            "majority": self.majority(),
            "fields": Value::Object(fields.collect()),
            "declared": self.declared.as_ref().map(|declared| json!({
                "source": declared.source.as_str(),
                "behavior": declared.behavior,
                "says": declared.short(),
            })),
            "standing": self.standing().as_str(),
            "disputes": disputes.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Said {
        let mut words = text.split('|');
        let mut next = || words.next().unwrap_or("NONE");
        let text = format!(
            r#"{{"mutability":"{}","action":"{}","output_domain":"{}","content_type":"{}"}}"#,
            next(),
            next(),
            next(),
            next(),
        );
        Said::Opinion { opinion: Opinion::read(&text).unwrap(), kept: false }
    }

    fn tally(said: Vec<Said>, declared: Option<&str>) -> Tally {
        let declared = declared.map(|text| {
            let behavior: Behavior = text.parse().unwrap();
            let words = vec![
                ("mutability", behavior.mutability().as_str()),
                ("action", behavior.action().as_str()),
                ("output_domain", behavior.output_domain().as_str()),
            ];
            Declared { source: BehaviorSource::Publisher, behavior: Some(behavior), words }
        });
        Tally { said, declared }
    }

    #[test]
    fn all_three_are_strict_two_are_a_majority_and_silence_is_neither() {
        let three = tally(vec![said("PURE|READ|DATA"); 3], None);
        assert!(three.is_strict());
        let two = tally(vec![said("PURE|READ|DATA"), said("PURE|READ|DATA"), said("PURE|SEARCH|DATA")], None);
        assert!(!two.is_strict());
        assert_eq!(two.majority().unwrap().short(), "PURE|READ|DATA");
        let one = tally(vec![said("PURE|READ|DATA"), Said::Nonsense("x".into()), Said::Silent("y".into())], None);
        assert_eq!((one.is_strict(), one.majority()), (false, None));
        let half = tally(vec![said("PURE|READ|DATA"), said("MUTATES|UPDATE|DATA")], None);
        assert_eq!((half.majority(), half.majority_of("output_domain")), (None, Some("DATA")));
        let unsure = tally(vec![said("PURE|READ|UNKNOWN"); 3], None);
        assert!(!unsure.is_strict(), "not to know is no agreement");
    }

    #[test]
    fn a_declaration_is_corroborated_disputed_or_left_undecided_field_by_field() {
        let reads = || said("PURE|READ|DATA");
        let deletes = || said("MUTATES|DELETE|DATA");
        let declared = Some("PURE|READ|DATA");
        assert_eq!(tally(vec![reads(), reads(), deletes()], declared).standing(), Standing::Corroborated);
        let disputed = tally(vec![deletes(), deletes(), reads()], declared);
        assert_eq!(disputed.standing(), Standing::Disputed);
        assert_eq!(disputed.disputes(), [("mutability", "PURE", "MUTATES"), ("action", "READ", "DELETE")]);
        let (guards, otherwise) = disputed.suggestion().unwrap();
        assert_eq!(
            (guards.short().as_str(), otherwise.unwrap().short().as_str()),
            ("MUTATES|DELETE|DATA", "PURE|READ|DATA")
        );
        // Two that change something in different ways still say that it changes something.
        let split = tally(vec![deletes(), said("MUTATES|UPDATE|ACK"), reads()], declared);
        assert_eq!((split.majority(), split.standing()), (None, Standing::Disputed));
        assert_eq!(tally(vec![reads(), deletes()], declared).standing(), Standing::Undecided);
        assert_eq!(tally(vec![reads()], None).standing(), Standing::Undeclared);
        // Models that loosen never suggest to loosen: the declaration stays first.
        let looser = tally(vec![reads(), reads(), reads()], Some("MUTATES|DELETE|DATA"));
        let (guards, otherwise) = looser.suggestion().unwrap();
        assert_eq!(
            (guards.short().as_str(), otherwise.unwrap().short().as_str()),
            ("MUTATES|DELETE|DATA", "PURE|READ|DATA")
        );
    }
}
