//! The entities of a call: who calls, which tool of which pack, and the names of both in Cedar.

use cedar_policy::{Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression};
use toolmark_core::tool::Tool;

use super::evaluate::Unevaluable;
use crate::request::Caller;

/// The names of Cedar's types, read once.
#[derive(Clone, Debug)]
pub(super) struct Uids {
    caller: EntityTypeName,
    agent: EntityTypeName,
    session: EntityTypeName,
    pack: EntityTypeName,
    tool: EntityTypeName,
    action: EntityTypeName,
    pub(super) text: EntityUid,
    pub(super) number: EntityUid,
    pub(super) flag: EntityUid,
    pub(super) list: EntityUid,
}

impl Uids {
    /// Reads the names.
    ///
    /// # Errors
    /// Never, unless a name in this file is no name; every test would fail.
    pub(super) fn new() -> Result<Self, String> {
        let name = |text: &str| text.parse::<EntityTypeName>().map_err(|error| error.to_string());
        let these = |text: &str| Ok::<_, String>(uid(&name(text)?, "these"));
        Ok(Self {
            caller: name("Caller")?,
            agent: name("Agent")?,
            session: name("Session")?,
            pack: name("Pack")?,
            tool: name("Tool")?,
            action: name("Action")?,
            text: these("TextArguments")?,
            number: these("NumberArguments")?,
            flag: these("FlagArguments")?,
            list: these("ListArguments")?,
        })
    }

    /// A tool by its key: a namesake from elsewhere is another tool.
    pub(super) fn tool(&self, tool: &Tool) -> EntityUid {
        uid(&self.tool, &tool.key().to_string())
    }

    pub(super) fn pack(&self, name: &str) -> EntityUid {
        uid(&self.pack, name)
    }

    pub(super) fn action(&self, name: &str) -> EntityUid {
        uid(&self.action, name)
    }

    /// The tool and its pack.
    pub(super) fn of_tool(&self, tool: &Tool) -> Result<Vec<Entity>, Unevaluable> {
        let pack = tool.pack().map(|pack| self.pack(pack));
        let attributes = [
            ("canonical", tool.canonical().to_string()),
            ("pack", tool.pack().unwrap_or_default().to_owned()),
            ("raw", tool.raw().to_string()),
            ("source", tool.source().to_string()),
            ("kind", tool.kind().to_string()),
            ("mark", tool.mark().to_string()),
            ("digest", tool.digest().to_string()),
        ];
        let attributes =
            attributes.into_iter().map(|(key, value)| (key.to_owned(), RestrictedExpression::new_string(value)));
        let entity = Entity::new(self.tool(tool), attributes.collect(), pack.iter().cloned().collect());
        let entity = entity.map_err(|error| Unevaluable::new(error.to_string()))?;
        Ok(pack.map(Entity::with_uid).into_iter().chain([entity]).collect())
    }

    /// The principal, and the entities that lead from it to the caller.
    pub(super) fn of_caller(&self, caller: Caller<'_>) -> (EntityUid, Vec<Entity>) {
        let own = uid(&self.caller, caller.name());
        let mut entities = vec![Entity::with_uid(own.clone())];
        let mut principal = own;
        for (kind, name) in [(&self.agent, caller.agent()), (&self.session, caller.session())] {
            if let Some(name) = name {
                let inner = uid(kind, name);
                entities.push(Entity::new_no_attrs(inner.clone(), [principal].into()));
                principal = inner;
            }
        }
        (principal, entities)
    }
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}
