use super::*;
use crate::behavior::{Noun, Polarity};

#[test]
fn both_tables_are_sorted_without_doubles() {
    assert!(verbs::VERBS.is_sorted_by(|a, b| a.word < b.word));
    assert!(nouns::ENTRIES.is_sorted_by(|a, b| a.words < b.words));
}

#[test]
fn every_noun_that_the_tables_name_is_in_the_closed_list() {
    let of_verbs = verbs::VERBS.iter().flat_map(|verb| verb.part.into_iter().chain(verb.scene.map(|(noun, _)| noun)));
    let of_nouns = nouns::ENTRIES.iter().filter(|entry| entry.kind != Kind::Vague).map(|entry| entry.noun);
    for noun in of_verbs.chain(of_nouns) {
        assert_eq!(noun.as_str().parse::<Noun>(), Ok(noun));
    }
}

#[test]
fn every_noun_of_the_closed_list_can_be_inferred() {
    let of_verbs = verbs::VERBS.iter().flat_map(|verb| verb.part.into_iter().chain(verb.scene.map(|(noun, _)| noun)));
    let of_nouns = nouns::ENTRIES.iter().map(|entry| entry.noun);
    let known: std::collections::BTreeSet<&str> = of_verbs.chain(of_nouns).map(Noun::as_str).collect();
    for noun in Noun::ALL {
        assert!(known.contains(noun), "`{noun}` is in the list, but no word leads to it");
    }
}

#[test]
fn forms_of_a_word_lead_to_it() {
    for form in ["list", "lists", "listing"] {
        assert_eq!(inflected_verb(form).unwrap().word, "list");
    }
    for form in ["retrieves", "retrieving"] {
        assert_eq!(inflected_verb(form).unwrap().word, "retrieve");
    }
    assert_eq!(inflected_verb("setting").unwrap().word, "set");
    assert_eq!(inflected_verb("applies").unwrap().word, "apply");
    for form in ["repository", "repositories", "repo", "repos"] {
        assert_eq!(noun(form).unwrap().noun.as_str(), "repository");
    }
    assert_eq!(noun("pull requests").unwrap().noun.as_str(), "pull_request");
    assert!(noun("status").is_some() && noun("addresses").is_some() && noun("indexes").is_some());
}

#[test]
fn what_is_undone_is_a_change_in_the_other_direction() {
    for word in ["unexpose", "unattach", "disengage"] {
        assert_eq!(
            verb(word).map(|verb| (verb.sense, verb.polarity)),
            Some((Sense::Update, Polarity::Negative)),
            "{word}"
        );
    }
    for word in ["under", "unit", "default", "detail", "discount", "unread", "design", "disorder"] {
        assert!(verb(word).is_none(), "{word}");
    }
}
