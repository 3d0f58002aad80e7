//! What the input schema alone tells, with name, title and description removed, as in the paper's experiment.

use super::action::Act;
use super::clues::Clues;
use super::lexicon::{Sense, Verb};
use super::parameters::Payload;
use super::senses::plain;
use super::{Inference, content, domain, facets};
use crate::behavior::{Action, Mutability};

/// Infers from parameters. Identifiers alone fit a reader and a deleter, so they say nothing.
pub(crate) fn infer(clues: &Clues) -> Inference {
    let act = act(clues);
    let domain = domain::infer(clues, &act);
    let content = content::infer(clues, &act, &domain);
    facets::complete(clues, &act, domain, content)
}

fn act(clues: &Clues) -> Act {
    let parameters = &clues.parameters;
    let known = |action: Action, mutability: Mutability, confidence: u8, because: &str| Act {
        action: Some(action),
        mutability: Some(mutability),
        confidence,
        because: because.to_owned(),
        verb: None,
    };
    if parameters.generic || parameters.program.is_some() {
        return known(Action::Execute, Mutability::Mutates, 50, "a parameter carries a program");
    }
    let changes = |verb: &&Verb| !plain(verb.sense).may_be_pure();
    if let Some(verb) = parameters.purposes.iter().copied().find(|verb| changes(verb) && verb.sense != Sense::Light) {
        let because = format!("a parameter is what to *{}*", verb.word);
        let (action, mutability) = (Some(plain(verb.sense)), Some(Mutability::Mutates));
        return Act { action, mutability, confidence: 60, because, verb: Some(verb) };
    }
    match parameters.payload {
        Some(_) if parameters.recipient => known(Action::Send, Mutability::Mutates, 60, "a text and a recipient"),
        Some(Payload::Text | Payload::Structured) if !parameters.paging => {
            let action = if parameters.owners.is_empty() { Action::Create } else { Action::Update };
            known(action, Mutability::Mutates, 55, "a parameter carries something to write")
        }
        _ if parameters.search && parameters.paging => {
            known(Action::Search, Mutability::Pure, 60, "a query for pages of results, and nothing to write")
        }
        // A query alone may be SQL.
        _ if parameters.search => {
            Act { mutability: None, ..known(Action::Search, Mutability::Pure, 40, "a query of some language") }
        }
        _ if parameters.paging => known(Action::Read, Mutability::Pure, 60, "pages of results, and nothing to write"),
        _ => Act {
            action: Some(Action::Read),
            mutability: None,
            confidence: 30,
            because: "identifiers alone fit a reader as well as a deleter".into(),
            verb: None,
        },
    }
}
