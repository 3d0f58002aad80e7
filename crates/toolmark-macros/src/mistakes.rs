//! All mistakes at once: whoever finds one notes it and goes on.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// What is wrong, in the order in which it was found.
#[derive(Default)]
pub(crate) struct Mistakes(Option<syn::Error>);

impl Mistakes {
    /// Notes a mistake where it stands.
    pub(crate) fn at(&mut self, place: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(place, message));
    }

    /// Notes mistakes that somebody else found.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// What was made, or nothing where that failed.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// The compiler's messages; nothing where all is well.
    pub(crate) fn into_tokens(self) -> Option<TokenStream> {
        self.0.map(|all| all.to_compile_error())
    }
}

/// The word that was probably meant.
pub(crate) fn meant<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let near = known.iter().map(|other| (strsim::damerau_levenshtein(word, other), *other));
    near.filter(|(distance, _)| *distance <= 2).min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Words as a list for people.
pub(crate) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
