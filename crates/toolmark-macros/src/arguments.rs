//! The arguments of a function as the fields of a type, from which schema and reading come.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Attribute, Expr, FnArg, Ident, LitStr, Meta, Pat, PatType, Signature, Token, Type};

use crate::docs::{self, Docs};
use crate::mistakes::{Mistakes, listed, meant};

/// The arguments of a function.
pub(crate) struct Arguments {
    /// How the context is taken, where it is.
    pub(crate) context: Option<Context>,
    pub(crate) fields: Vec<Field>,
    /// The name of the context, which a doc comment may mention.
    context_name: Option<String>,
}

/// How a function takes the context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    Borrowed,
    Owned,
}

/// One argument.
pub(crate) struct Field {
    name: Ident,
    ty: Type,
    lent: Lent,
    attributes: Vec<Attribute>,
    description: Option<String>,
    default: Option<Default>,
}

/// How a function takes an argument. What is read is always owned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lent {
    /// As it is.
    Owned,
    /// `&T`.
    Borrowed,
    /// `Option<&T>`.
    Perhaps,
}

enum Default {
    OfType,
    Value(Box<Expr>),
}

/// Attributes of arguments that speak to others than us.
const PASSED_ON: [&str; 2] = ["serde", "schemars"];
const OPTIONS: [&str; 2] = ["default", "description"];

impl Arguments {
    /// Reads the arguments, and takes away the attributes that only we understand.
    pub(crate) fn take(signature: &mut Signature, mistakes: &mut Mistakes) -> Self {
        let mut all = Self { context: None, fields: Vec::new(), context_name: None };
        for (at, input) in signature.inputs.iter_mut().enumerate() {
            match input {
                FnArg::Receiver(receiver) => mistakes
                    .at(receiver, "a tool has no `self`: take what it needs from a first argument `ctx: &ToolContext`"),
                FnArg::Typed(typed) => match context(&typed.ty) {
                    Some(taken) if at == 0 => {
                        all.context = Some(taken);
                        all.context_name = Some(typed.pat.to_token_stream().to_string());
                    }
                    Some(_) => mistakes.at(&*typed, "the context comes first: move this argument to the front"),
                    None => all.fields.extend(Field::take(typed, mistakes)),
                },
            }
        }
        all
    }

    /// Puts what the doc comment says of arguments to them.
    pub(crate) fn describe(&mut self, docs: &Docs, place: &Ident, mistakes: &mut Mistakes) {
        let mut known: Vec<String> = self.fields.iter().map(Field::text).collect();
        known.extend(self.context_name.clone());
        for (stranger, twice) in docs.strangers(&known) {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let near = meant(stranger, &names).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            let message = match twice {
                true => format!("the doc comment describes `{stranger}` twice"),
                false if names.is_empty() => {
                    format!("the doc comment describes `{stranger}`, but `{place}` takes no arguments")
                }
                false => format!(
                    "the doc comment describes `{stranger}`{near}, which is no argument; the arguments are {}",
                    listed(&names)
                ),
            };
            mistakes.at(place, message);
        }
        for field in &mut self.fields {
            if field.description.is_none() {
                field.description = docs.about(&field.text()).map(str::to_owned);
            }
        }
    }

    /// True when an argument spreads into the object of arguments, so that nobody knows what else may be there.
    fn is_spread(&self) -> bool {
        let flattens = |attribute: &Attribute| {
            attribute.path().is_ident("serde") && attribute.meta.to_token_stream().to_string().contains("flatten")
        };
        self.fields.iter().any(|field| field.attributes.iter().any(flattens))
    }

    /// The type that the arguments are read as.
    pub(crate) fn to_struct(&self, name: &Ident, toolmark: &TokenStream) -> TokenStream {
        let (serde, schemars) = (
            quote!(#toolmark::__private::serde).to_string().replace(' ', ""),
            quote!(#toolmark::__private::schemars).to_string().replace(' ', ""),
        );
        let closed = (!self.is_spread()).then(|| quote!(#[serde(deny_unknown_fields)]));
        let fields = self.fields.iter().map(Field::to_field);
        let defaults = self.fields.iter().filter_map(Field::to_default);
        quote! {
            #(#defaults)*
            #[derive(#toolmark::__private::serde::Deserialize, #toolmark::__private::schemars::JsonSchema)]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            #closed
            struct #name { #(#fields,)* }
        }
    }

    /// What the function is called with.
    pub(crate) fn to_call(&self, read: &Ident) -> TokenStream {
        let context = match self.context {
            Some(Context::Borrowed) => Some(quote!(&__context)),
            Some(Context::Owned) => Some(quote!(__context.clone())),
            None => None,
        };
        let fields = self.fields.iter().map(|field| {
            let name = &field.name;
            match field.lent {
                Lent::Owned => quote!(#read.#name),
                Lent::Borrowed => quote!(&#read.#name),
                Lent::Perhaps => quote!(#read.#name.as_deref()),
            }
        });
        let all = context.into_iter().chain(fields);
        quote!(#(#all),*)
    }
}

/// Whether an argument is the context.
fn context(ty: &Type) -> Option<Context> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() => {
            context(&reference.elem).map(|_| Context::Borrowed)
        }
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "ToolContext") => {
            Some(Context::Owned)
        }
        _ => None,
    }
}

impl Field {
    fn take(typed: &mut PatType, mistakes: &mut Mistakes) -> Option<Self> {
        let attributes = std::mem::take(&mut typed.attrs);
        let name = match &*typed.pat {
            Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => name.ident.clone(),
            other => {
                mistakes.at(other, "an argument of a tool has a name: models fill it in by name");
                return None;
            }
        };
        let (lent, ty) = owned(&typed.ty);
        check_type(&ty, mistakes);
        let mut field = Self { name, ty, lent, attributes: Vec::new(), description: None, default: None };
        let said = docs::lines(&attributes).join("\n").trim().to_owned();
        field.description = Some(said).filter(|text| !text.is_empty());
        for attribute in attributes {
            let path = attribute.path();
            if path.is_ident("doc") {
                continue;
            }
            if path.is_ident("tool") {
                field.options(&attribute, mistakes);
            } else if PASSED_ON.iter().any(|known| path.is_ident(known)) {
                field.attributes.push(attribute);
            } else {
                mistakes.at(
                    &attribute,
                    "an argument of a tool takes `#[serde(…)]`, `#[schemars(…)]`, `#[tool(…)]` and doc comments",
                );
            }
        }
        Some(field)
    }

    fn options(&mut self, attribute: &Attribute, mistakes: &mut Mistakes) {
        let parsed = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        for meta in mistakes.take(parsed).into_iter().flatten() {
            let key = meta.path().to_token_stream().to_string();
            match (key.as_str(), &meta) {
                ("default", Meta::Path(_)) => self.default = Some(Default::OfType),
                ("default", Meta::NameValue(pair)) => self.default = Some(Default::Value(Box::new(pair.value.clone()))),
                ("description", Meta::NameValue(pair)) => {
                    let value = &pair.value;
                    match syn::parse2::<LitStr>(value.to_token_stream()) {
                        Ok(text) => self.description = Some(text.value()),
                        Err(_) => mistakes.at(value, "`description` is a text: write `description = \"…\"`"),
                    }
                }
                _ => {
                    let near = meant(&key, &OPTIONS).map(|near| format!(" (did you mean `{near}`?)"));
                    let message = format!(
                        "`{key}` is no option of an argument{}; write `default`, `default = …` or `description = \"…\"`",
                        near.unwrap_or_default()
                    );
                    mistakes.at(&meta, message);
                }
            }
        }
    }

    /// The name as the function's author writes it.
    fn text(&self) -> String {
        let text = self.name.to_string();
        text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
    }

    fn default_name(&self) -> Ident {
        format_ident!("__default_{}", self.text())
    }

    fn to_default(&self) -> Option<TokenStream> {
        let Some(Default::Value(value)) = &self.default else { return None };
        let (name, ty) = (self.default_name(), &self.ty);
        // A text literal is also the default of a `String`.
        let value = match &**value {
            Expr::Lit(literal) if matches!(literal.lit, syn::Lit::Str(_)) => {
                quote!(::core::convert::Into::into(#literal))
            }
            other => other.to_token_stream(),
        };
        Some(quote!(fn #name() -> #ty { #value }))
    }

    fn to_field(&self) -> TokenStream {
        let (name, ty, attributes) = (&self.name, &self.ty, &self.attributes);
        let docs = self.description.as_ref().map(|text| quote!(#[doc = #text]));
        let default = match &self.default {
            None => None,
            Some(Default::OfType) => Some(quote!(#[serde(default)])),
            Some(Default::Value(_)) => {
                let path = self.default_name().to_string();
                Some(quote!(#[serde(default = #path)]))
            }
        };
        quote!(#docs #default #(#attributes)* #name: #ty)
    }
}

/// The type that is read for an argument, and how it is lent: `&str` is read as `String`, `&[T]` as `Vec<T>`, `Option<&str>` as
/// `Option<String>`.
fn owned(ty: &Type) -> (Lent, Type) {
    if let Some(inner) = borrowed(ty) {
        return (Lent::Borrowed, inner);
    }
    if let Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
        && last.ident == "Option"
        && let syn::PathArguments::AngleBracketed(inner) = &last.arguments
        && let Some(syn::GenericArgument::Type(inner)) = inner.args.first()
        && let Type::Reference(reference) = inner
        && (is_str(&reference.elem) || matches!(&*reference.elem, Type::Slice(_)))
        && let Some(inner) = borrowed(inner)
    {
        return (Lent::Perhaps, syn::parse_quote!(::core::option::Option<#inner>));
    }
    (Lent::Owned, ty.clone())
}

/// What has to be kept so that it can be lent as this.
fn borrowed(ty: &Type) -> Option<Type> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() => Some(match &*reference.elem {
            Type::Slice(slice) => {
                let inner = &slice.elem;
                syn::parse_quote!(::std::vec::Vec<#inner>)
            }
            inner if is_str(inner) => syn::parse_quote!(::std::string::String),
            inner => inner.clone(),
        }),
        _ => None,
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

/// Refuses what cannot be read from JSON into something that is kept.
fn check_type(ty: &Type, mistakes: &mut Mistakes) {
    struct Borrows<'m>(&'m mut Mistakes);
    impl<'a> Visit<'a> for Borrows<'_> {
        fn visit_type_reference(&mut self, reference: &'a syn::TypeReference) {
            let owned = match &*reference.elem {
                Type::Slice(slice) => format!("Vec<{}>", slice.elem.to_token_stream()),
                inner if is_str(inner) => "String".to_owned(),
                other => other.to_token_stream().to_string(),
            };
            self.0.at(reference, format!("arguments are owned: take `{owned}`"));
        }

        fn visit_lifetime(&mut self, lifetime: &'a syn::Lifetime) {
            if lifetime.ident != "static" {
                self.0.at(lifetime, "arguments are owned: they are read from what the model wrote and borrow nothing");
            }
        }

        fn visit_type_impl_trait(&mut self, ty: &'a syn::TypeImplTrait) {
            self.0.at(ty, "the type of an argument must be known: its schema comes from it");
        }
    }
    Borrows(mistakes).visit_type(ty);
}
