//! What the input schema alone tells, with name, title and description removed, as in the paper's experiment.

use super::action::Act;
use super::clues::Clues;
use super::parameters::Payload;
use super::{Inference, content, domain, facets};
use crate::behavior::{Action, Mutability};

/// Infers from parameters. Identifiers alone fit a reader and a deleter, so they say nothing.
pub(crate) fn infer(clues: &Clues) -> Inference {
    let act = act(clues);
    let domain = domain::infer(clues, &act);
    let content = content::infer(clues, &act, &domain);
    facets::complete(clues, act, domain, content)
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
    if let Some(verb) = parameters.purposes.first() {
        let action = super::action::plain(verb.sense);
        let because = format!("a parameter is what to *{}*", verb.word);
        let mutability = if action.may_be_pure() { Mutability::Pure } else { Mutability::Mutates };
        return Act { action: Some(action), mutability: Some(mutability), confidence: 60, because, verb: Some(verb) };
    }
    match parameters.payload {
        Some(_) if parameters.recipient => known(Action::Send, Mutability::Mutates, 60, "a text and a recipient"),
        Some(Payload::Text | Payload::Structured) if !parameters.paging => {
            let action = if parameters.owners.is_empty() { Action::Create } else { Action::Update };
            known(action, Mutability::Mutates, 55, "a parameter carries something to write")
        }
        _ if parameters.search => known(Action::Search, Mutability::Pure, 60, "a query, and nothing to write"),
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
