//! The behavior part of a tool's identity card: what it does, who says each field, what the classifier thinks and why, who disagrees,
//! and whether behavior tells the tool from its siblings with the same arguments.

use serde_json::{Map, Value, json};
use toolmark_core::behavior::{Annotations, Behavior, BehaviorSource, Disagreement, KnownBehavior, Statements};
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Reading;
use toolmark_core::inference::{Inference, Mode};
use toolmark_core::tool::Tool;
use toolmark_lint::Separation;

/// The fields of a behavior, in the order in which they are written.
pub const FIELDS: [&str; 7] = ["mutability", "action", "output_domain", "content_type", "target", "polarity", "reach"];

/// What is known of one tool, with everything that it rests on.
pub struct Known {
    known: KnownBehavior,
    operator: Option<Behavior>,
    publisher: Option<Behavior>,
    annotations: Annotations,
    inference: Inference,
}

impl Known {
    /// From what its definition says, and what the operator does.
    #[must_use]
    pub fn of(tool: &Tool, reading: &Reading<'_>, operator: Option<Behavior>) -> Self {
        let inference = Inference::of_reading(reading, Mode::WithoutHints);
        let publisher = tool.behavior();
        let annotations = Annotations::of(reading);
        let said = Statements { operator, publisher, annotations, inferred: Some(&inference) };
        Self { known: KnownBehavior::combine(said), operator, publisher, annotations, inference }
    }

    /// What everybody together says that it does.
    #[must_use]
    pub fn known(&self) -> &KnownBehavior {
        &self.known
    }

    /// The keys that the card adds for behavior. `known` says what is known of another tool.
    pub fn to_json(
        &self,
        catalog: &Catalog,
        tool: &Tool,
        known: impl Fn(&Tool) -> KnownBehavior,
    ) -> Map<String, Value> {
        let mut keys = Map::new();
        keys.insert("known".into(), self.known.to_json());
        keys.insert("provenance".into(), self.provenance());
        keys.insert("inference".into(), self.inference.to_json());
        keys.insert("disagreements".into(), self.known.disagreements().iter().map(Disagreement::to_json).collect());
        let by_argument = self
            .known
            .by_argument()
            .map(|by| json!({"pointer": by.pointer(), "values": by.values(), "otherwise": by.floor()}));
        keys.insert("by_argument".into(), json!(by_argument));
        keys.insert("siblings".into(), self.siblings(catalog, tool, known));
        keys
    }

    /// Who says each field: the strongest who says what holds. What nobody says but holds, guards.
    fn provenance(&self) -> Value {
        let of = |behavior: Option<Behavior>| behavior.map(fields).unwrap_or_default();
        let operator = of(self.operator);
        let (held, published, inferred) = (self.known.to_json(), of(self.publisher), self.inference.to_json());
        let source = |field: &str| {
            let held = held.get(field).filter(|value| !value.is_null())?;
            let hinted = (field == "mutability").then(|| self.annotations.mutability()).flatten();
            Some(if operator.get(field) == Some(held) {
                BehaviorSource::Operator.as_str()
            } else if published.get(field) == Some(held) {
                BehaviorSource::Publisher.as_str()
            } else if hinted.is_some_and(|hinted| json!(hinted) == *held) {
                BehaviorSource::Annotations.as_str()
            } else if inferred.get(field).and_then(|field| field.get("value")) == Some(held) {
                BehaviorSource::Inferred.as_str()
            } else {
                "guard"
            })
        };
        FIELDS.iter().map(|field| ((*field).to_owned(), json!(source(field)))).collect::<Map<_, _>>().into()
    }

    /// Tools of the same pack whose arguments look the same: a call of one passes the other's validation.
    fn siblings(&self, catalog: &Catalog, tool: &Tool, known: impl Fn(&Tool) -> KnownBehavior) -> Value {
        let wanted = tool.schema_digest();
        let others = catalog.tools().filter(|other| other.pack() == tool.pack() && !std::ptr::eq(*other, tool));
        let siblings = others.filter(|other| other.schema_digest() == wanted).map(|other| {
            let known = known(other);
            let separated = Separation::between(self.known.behavior(), known.behavior());
            json!({
                "tool": other.canonical(),
                "behavior": known.behavior(),
                "agreement": known.agreement().as_str(),
                "separated": separated,
                "says": separated.says(),
            })
        });
        siblings.collect()
    }
}

fn fields(behavior: Behavior) -> Map<String, Value> {
    let facets = behavior.facets();
    let values = [
        json!(behavior.mutability()),
        json!(behavior.action()),
        json!(behavior.output_domain()),
        json!(behavior.content_type()),
        json!(facets.and_then(|facets| facets.target)),
        json!(facets.map(|facets| facets.polarity)),
        json!(facets.map(|facets| facets.reach)),
    ];
    FIELDS.iter().map(|field| (*field).to_owned()).zip(values).collect()
}
