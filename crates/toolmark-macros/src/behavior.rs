//! `behavior(mutates, create, issue)`: the words that say what a tool does, checked while it is compiled.
//!
//! The words are those of `toolmark_core::behavior`; a test of the crate `toolmark` compares them.

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Ident, Token};

use crate::mistakes::{Mistakes, listed, meant};

/// One field of a behavior with its words, in the order in which they are written.
struct Field {
    name: &'static str,
    words: &'static [&'static str],
}

const FIELDS: [Field; 4] = [
    Field { name: "mutability", words: &["pure", "mutates"] },
    Field {
        name: "action",
        words: &["read", "search", "create", "update", "delete", "merge", "overwrite", "append", "execute", "send"],
    },
    Field {
        name: "output domain",
        words: &[
            "data",
            "content",
            "structure",
            "diff",
            "pr",
            "issue",
            "ref",
            "repo",
            "user",
            "ack",
            "message",
            "run",
            "resource",
            "session",
            "finding",
            "secret",
        ],
    },
    Field { name: "content type", words: &["none", "text", "structured", "image", "audio", "video", "binary", "any"] },
];

/// What may be done without changing anything.
const PURE: [&str; 3] = ["read", "search", "execute"];

/// Reads the words. What comes back is the text of a behavior: `MUTATES|CREATE|ISSUE`.
pub(crate) fn read(place: &syn::MetaList, mistakes: &mut Mistakes) -> Option<String> {
    let parser = |input: syn::parse::ParseStream<'_>| {
        Punctuated::<Ident, Token![,]>::parse_terminated_with(input, syn::ext::IdentExt::parse_any)
    };
    let words = mistakes.take(parser.parse2(place.tokens.clone()))?;
    if !(3..=4).contains(&words.len()) {
        mistakes.at(
            place,
            "a behavior has three words, and a fourth if the kind of content is known: \
             `behavior(mutability, action, output domain)`, such as `behavior(mutates, create, issue)`",
        );
        return None;
    }
    let mut fine = true;
    let mut said = Vec::new();
    for (word, field) in words.iter().zip(&FIELDS) {
        let text = word.to_string().to_lowercase();
        let text = text.strip_prefix("r#").unwrap_or(&text).to_owned();
        if !field.words.contains(&text.as_str()) {
            let near = meant(&text, field.words).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            let message = format!("`{text}` is no {}{near}; it is one of {}", field.name, listed(field.words));
            mistakes.at(word, message);
            fine = false;
        }
        said.push(text);
    }
    if let ([mutability, action, ..], Some(place)) = (said.as_slice(), words.iter().nth(1))
        && fine
        && mutability == "pure"
        && !PURE.contains(&action.as_str())
    {
        mistakes.at(place, format!("a tool that is `pure` does not `{action}`: write `mutates` in place of `pure`"));
        fine = false;
    }
    fine.then(|| said.join("|").to_uppercase())
}
