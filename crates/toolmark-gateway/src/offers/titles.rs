//! What do people read in place of the names of resources, templates and prompts? Titles only, in the languages that somebody wants, where
//! there is one; names, addresses and descriptions stay as they are.
//!
//! A name in words is never put in place of a title: clients show `name` where there is none, and the name of a resource is mostly that of a
//! file, which is not made better by capital letters.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use serde_json::json;
use toolmark_core::display::{Kind, LanguageTag, Languages, Layer, Names};
use toolmark_mcp::wire::params::meta;
use toolmark_mcp::wire::{Change, Limits, RawObject, write};

use crate::pages::Pages;
use crate::view::MOST_LANGUAGES;

/// Everything that the entries of one list are called.
#[derive(Debug)]
pub(super) struct Titles {
    names: Vec<Names>,
    /// The languages that any of them has a name in.
    spoken: BTreeSet<LanguageTag>,
    in_languages: RwLock<HashMap<Languages, Arc<Pages>>>,
}

impl Titles {
    pub(super) fn new(names: impl Iterator<Item = Names>) -> Self {
        let names: Vec<Names> = names.collect();
        let languages = names.iter().flat_map(|names| names.texts(Kind::Name).filter_map(|(_, lang, _)| lang.cloned()));
        Self { spoken: languages.collect(), names, in_languages: RwLock::default() }
    }

    /// The list in what its names can make of a wish, written once for each; nothing where that is no more than what it is anyway.
    pub(super) fn pages(
        &self,
        member: &str,
        texts: &[Bytes],
        ttl_ms: u64,
        default: &LanguageTag,
        languages: &Languages,
    ) -> Option<(Arc<Pages>, LanguageTag)> {
        let useful = languages.limited_to(&self.spoken);
        let best = useful.lookup(&self.spoken)?.clone();
        let known = self.in_languages.read().unwrap_or_else(PoisonError::into_inner).get(&useful).cloned();
        let pages = known.unwrap_or_else(|| {
            let entries: Vec<Bytes> =
                texts.iter().zip(&self.names).map(|(text, names)| titled(text, names, default, &useful)).collect();
            let meta = json!({ meta::CONTENT_LANGUAGE: best }).to_string();
            let pages = Arc::new(Pages::with_meta(member, &entries, ttl_ms, Some(&meta)));
            let mut all = self.in_languages.write().unwrap_or_else(PoisonError::into_inner);
            if all.len() < MOST_LANGUAGES {
                all.insert(useful, Arc::clone(&pages));
            }
            pages
        });
        Some((pages, best))
    }
}

/// An entry with its title in one of these languages. What is in another one, or in none, leaves the publisher's own title as it is.
fn titled(text: &Bytes, names: &Names, default: &LanguageTag, languages: &Languages) -> Bytes {
    let shown = names.shown(languages, default);
    let asked = shown.lang.as_ref().is_some_and(|own| languages.lookup([own]).is_some());
    if !asked && shown.layer != Layer::Config {
        return text.clone();
    }
    match RawObject::read(text.clone(), Limits::ADMITTED) {
        Ok(object) => object.rewrite(&[Change::Set("title", &write::quote(shown.name.as_str()))]),
        Err(_) => text.clone(),
    }
}
