//! `#[pack]` on a module: its tools are a pack, and the module says which they are.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Item, ItemMod, Lit, LitStr, Meta, Token};

use crate::docs::{self, Docs};
use crate::mistakes::Mistakes;
use crate::set::check_pack;

pub(crate) fn pack(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let mut module: ItemMod = match syn::parse2(item.clone()) {
        Ok(module) => module,
        Err(_) => {
            mistakes.at(item, "`#[pack]` stands before a module: `#[pack] mod crm { … }`");
            let errors = mistakes.into_tokens();
            return quote!(#errors #item);
        }
    };
    let mut name = LitStr::new(&module.ident.to_string(), module.ident.span());
    let mut toolmark = quote!(::toolmark);
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    for meta in mistakes.take(syn::parse::Parser::parse2(parser, options)).into_iter().flatten() {
        match (&meta, meta.path().to_token_stream().to_string().as_str()) {
            (Meta::NameValue(pair), "name") => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => name = text.clone(),
                other => mistakes.at(other, "`name` is a text: write `name = \"crm\"`"),
            },
            (Meta::NameValue(pair), "crate") => toolmark = pair.value.to_token_stream(),
            _ => mistakes.at(&meta, "a pack has one option: `name = \"crm\"`"),
        }
    }
    check_pack(&name, &mut mistakes);
    let Some((_, items)) = &mut module.content else {
        mistakes.at(&module, "`#[pack]` needs the tools before its eyes: write the module here, `mod crm { … }`");
        let errors = mistakes.into_tokens();
        return quote!(#errors #module);
    };
    let is_tool = |item: &&Item| {
        let Item::Fn(function) = item else { return false };
        let named =
            |attribute: &syn::Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "tool");
        function.attrs.iter().any(named)
    };
    let tools = items.iter().filter(is_tool).filter_map(|item| match item {
        Item::Fn(function) => {
            let conditional = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
            let name = &function.sig.ident;
            Some(quote!(#(#conditional)* { __tools = __tools.tool(#name::tool()); }))
        }
        _ => None,
    });
    let tools: Vec<_> = tools.collect();
    if tools.is_empty() {
        mistakes.at(&module.ident, "a pack without tools: put `#[tool]` before at least one function in it");
    }
    let about = Docs::of(&docs::lines(&module.attrs)).description;
    let made: Item = syn::parse_quote! {
        /// The tools of this pack.
        ///
        /// # Errors
        /// Everything that is wrong with any of them.
        pub fn tools() -> ::core::result::Result<#toolmark::tools::Tools, #toolmark::tools::BuildToolsError> {
            #[allow(unused_mut)]
            let mut __tools = #toolmark::tools::Tools::pack(#name)
                .description(#about)
                .source(#toolmark::__private::source(::core::module_path!()));
            #(#tools)*
            __tools.build()
        }
    };
    if let Some((_, items)) = &mut module.content {
        items.push(made);
    }
    let errors = mistakes.into_tokens();
    quote!(#errors #module)
}
