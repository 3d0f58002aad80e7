//! Who is it that is called? What people read about tools and agents, for whoever knows them.

use serde_json::{Map, Value, json};
use toolmark_core::display::{LanguageTag, Languages, Names, Shown};

use crate::event::Metadata;
use crate::hosted::HostedCall;
use crate::id::Id;

/// Knows the tools and agents of a run.
pub trait Cards: Send + Sync {
    /// A tool, by what the model called.
    fn call(&self, agent: &str, name: &str, namespace: Option<&str>) -> Card;

    /// An agent, by its name.
    fn agent(&self, name: &str) -> AgentCard;

    /// Something that the provider of the model called by itself.
    fn hosted(&self, call: &HostedCall) -> Card {
        Card::hosted(call, &Names::of(call.raw_name()).shown(&Languages::default(), &LanguageTag::english()))
    }
}

/// A tool as clients see it. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The name that clients know the tool by: no two tools of a run have the same.
    pub name: Id,
    /// Which tool it is, under the key `dev.toolmark/tool`.
    pub metadata: Option<Metadata>,
    /// What people call it.
    pub display_name: Option<Id>,
    /// What is said while it works.
    pub spoken: Option<Id>,
}

/// An agent as clients see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentCard {
    /// What people call it.
    pub display_name: Option<String>,
    /// In which language that is.
    pub lang: Option<String>,
    /// In which direction that is written.
    pub dir: Option<&'static str>,
    /// What it is there for.
    pub description: Option<String>,
}

/// Knows nobody: tools and agents are called what the model calls them.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainCards;

impl Card {
    /// A tool that is known by its name only.
    #[must_use]
    pub fn plain(name: &str, namespace: Option<&str>) -> Self {
        let name = match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => format!("{namespace}__{name}").into(),
            None => name.into(),
        };
        Self { name, metadata: None, display_name: None, spoken: None }
    }

    /// Something that a provider hosts, under the name that people are shown.
    #[must_use]
    pub fn hosted(call: &HostedCall, shown: &Shown) -> Self {
        let mut all = shown.to_json();
        all.remove("layer");
        all.retain(|_, value| !value.is_null());
        all.insert("id".into(), call.tool().into());
        all.extend(call.members());
        Self {
            name: call.name().into(),
            metadata: Some(Metadata::new([(crate::TOOL, Value::Object(all))])),
            display_name: Some(shown.name.as_str().into()),
            spoken: shown.spoken.as_ref().map(|spoken| spoken.text.as_str().into()),
        }
    }

    /// What its metadata says of the tool.
    pub(crate) fn identity(&self) -> Option<Value> {
        let whole: Value = serde_json::from_str(self.metadata.as_ref()?.as_json()).ok()?;
        whole.get(crate::TOOL).cloned()
    }
}

impl AgentCard {
    pub(crate) fn to_json(&self, name: &str) -> Value {
        let mut all = Map::new();
        all.insert("name".into(), name.into());
        all.insert("displayName".into(), self.display_name.as_deref().unwrap_or(name).into());
        all.extend(self.lang.as_ref().map(|lang| ("lang".to_owned(), json!(lang))));
        all.extend(self.dir.map(|dir| ("dir".to_owned(), json!(dir))));
        all.into()
    }
}

impl Cards for PlainCards {
    fn call(&self, _: &str, name: &str, namespace: Option<&str>) -> Card {
        Card::plain(name, namespace)
    }

    fn agent(&self, _: &str) -> AgentCard {
        AgentCard::default()
    }
}
