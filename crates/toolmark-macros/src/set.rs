//! `toolset! { … }`: tools by the names of their functions, with or without packs.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Path, Token, braced};

use crate::docs::{self, Docs};
use crate::mistakes::Mistakes;

mod word {
    syn::custom_keyword!(pack);
}

/// What stands between the braces.
struct Set {
    crate_path: Option<Path>,
    entries: Vec<Entry>,
}

enum Entry {
    Tool(Path),
    Pack { docs: Vec<Attribute>, name: LitStr, tools: Punctuated<Path, Token![,]> },
}

impl Parse for Set {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut set = Self { crate_path: None, entries: Vec::new() };
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            set.crate_path = Some(input.parse()?);
            input.parse::<Token![;]>()?;
        }
        while !input.is_empty() {
            let docs = input.call(Attribute::parse_outer)?;
            if input.peek(word::pack) && input.peek2(LitStr) {
                input.parse::<word::pack>()?;
                let name = input.parse()?;
                let inside;
                braced!(inside in input);
                set.entries.push(Entry::Pack {
                    docs,
                    name,
                    tools: Punctuated::parse_terminated_with(&inside, Path::parse_mod_style)?,
                });
                // Like a block, a pack needs no comma after it.
                if input.peek(Token![,]) {
                    input.parse::<Token![,]>()?;
                }
                continue;
            }
            if let Some(first) = docs.first() {
                return Err(syn::Error::new_spanned(first, "only a pack has a description here; a tool has its own"));
            }
            set.entries.push(Entry::Tool(Path::parse_mod_style(input)?));
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(set)
    }
}

pub(crate) fn toolset(tokens: TokenStream) -> TokenStream {
    let set = match syn::parse2::<Set>(tokens) {
        Ok(set) => set,
        Err(error) => return error.to_compile_error(),
    };
    let toolmark = set.crate_path.as_ref().map_or_else(|| quote!(::toolmark), |path| quote!(#path));
    let mut mistakes = Mistakes::default();
    let mut seen: Vec<String> = Vec::new();
    for path in set.entries.iter().flat_map(Entry::paths) {
        let text = path.to_token_stream().to_string().replace(' ', "");
        if seen.contains(&text) {
            mistakes.at(path, format!("`{text}` is listed twice: a tool has one place"));
        }
        seen.push(text);
    }
    let mut loose = Vec::new();
    let mut parts = Vec::new();
    for entry in &set.entries {
        match entry {
            Entry::Tool(path) => loose.push(quote!(.tool(#path::tool()))),
            Entry::Pack { docs, name, tools } => {
                check_pack(name, &mut mistakes);
                let about = Docs::of(&docs::lines(docs)).description;
                let tools = tools.iter().map(|path| quote!(.tool(#path::tool())));
                parts.push(quote! {
                    #toolmark::tools::Tools::pack(#name)
                        .description(#about)
                        .source(#toolmark::__private::source(::core::module_path!()))
                        #(#tools)*
                        .build()
                });
            }
        }
    }
    if !loose.is_empty() || parts.is_empty() {
        parts.insert(0, quote!(#toolmark::tools::Tools::builder() #(#loose)* .build()));
    }
    match mistakes.into_tokens() {
        Some(errors) => quote!({ #errors #toolmark::tools::Tools::join([]) }),
        None => quote!(#toolmark::tools::Tools::join([#(#parts),*])),
    }
}

impl Entry {
    fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Tool(path) => vec![path],
            Self::Pack { tools, .. } => tools.iter().collect(),
        }
    }
}

/// Notes a name that no pack can have.
pub(crate) fn check_pack(name: &LitStr, mistakes: &mut Mistakes) {
    let text = name.value();
    let legal =
        |(at, c): (usize, char)| c.is_ascii_lowercase() || (at > 0 && (c.is_ascii_digit() || matches!(c, '_' | '-')));
    if !(1..=64).contains(&text.len()) || !text.char_indices().all(legal) {
        mistakes
            .at(name, "a pack's name has at most 64 lower-case letters, digits, `-` and `_`, and begins with a letter");
    }
}
