//! What may stand in the brackets of `#[tool(…)]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Token};

use crate::behavior;
use crate::duration;
use crate::mistakes::{Mistakes, listed, meant};

/// What was said about a tool.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) crate_path: Option<Path>,
    pub(crate) blocking: bool,
    pub(crate) timeout: Option<(u64, Span)>,
    /// Calls on the builder, in the order in which they were written.
    pub(crate) calls: Vec<Setting>,
}

/// One setting of the builder.
pub(crate) enum Setting {
    DisplayName(LitStr),
    DisplayNameIn(String, LitStr),
    Spoken(LitStr),
    SpokenIn(String, LitStr),
    Icon(LitStr),
    Category(LitStr),
    Behavior(String),
    NeedsApproval(Decided),
    Enabled(Decided),
    OnError(OnError),
    OnTimeoutPropagate,
    DeferLoading(bool),
    Strict(bool),
}

/// A condition as it was written.
pub(crate) enum Decided {
    Fixed(bool),
    Asked(Box<Expr>),
}

/// What becomes of errors.
pub(crate) enum OnError {
    Hide,
    Tell,
    Propagate,
    Say(Box<Expr>),
}

const KNOWN: &[&str] = &[
    "name",
    "description",
    "display_name",
    "spoken",
    "icon",
    "category",
    "behavior",
    "needs_approval",
    "enabled",
    "timeout",
    "on_timeout",
    "on_error",
    "defer_loading",
    "strict",
    "blocking",
    "crate",
];

impl Options {
    /// Reads them all, and notes everything that is wrong.
    pub(crate) fn read(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        let mut options = Self::default();
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        let Some(all) = mistakes.take(parser.parse2(tokens)) else { return options };
        let mut seen: Vec<String> = Vec::new();
        for meta in &all {
            let key = meta.path().to_token_stream().to_string();
            if seen.contains(&key) && KNOWN.contains(&key.as_str()) {
                mistakes.at(meta.path(), format!("`{key}` is said twice: leave one of them out"));
                continue;
            }
            seen.push(key.clone());
            options.option(&key, meta, mistakes);
        }
        options
    }

    fn option(&mut self, key: &str, meta: &Meta, mistakes: &mut Mistakes) {
        match key {
            "name" => self.name = name(meta, mistakes),
            "description" => self.description = text(meta, mistakes),
            "crate" => self.crate_path = path(meta, mistakes),
            "blocking" => self.blocking = flag(meta, mistakes).unwrap_or_default(),
            "timeout" => self.timeout = time(meta, mistakes),
            "display_name" => display_names(meta, &mut self.calls, mistakes),
            "spoken" => spoken(meta, &mut self.calls, mistakes),
            "icon" => self.calls.extend(text(meta, mistakes).map(Setting::Icon)),
            "category" => self.calls.extend(text(meta, mistakes).map(Setting::Category)),
            "behavior" => match meta {
                Meta::List(list) => self.calls.extend(behavior::read(list, mistakes).map(Setting::Behavior)),
                other => mistakes.at(other, "write what the tool does in brackets: `behavior(mutates, create, issue)`"),
            },
            "needs_approval" => self.calls.extend(decided(meta, mistakes).map(Setting::NeedsApproval)),
            "enabled" => self.calls.extend(decided(meta, mistakes).map(Setting::Enabled)),
            "defer_loading" => self.calls.extend(flag(meta, mistakes).map(Setting::DeferLoading)),
            "strict" => self.calls.extend(flag(meta, mistakes).map(Setting::Strict)),
            "on_error" => self.calls.extend(on_error(meta, mistakes).map(Setting::OnError)),
            "on_timeout" => match word(meta).as_deref() {
                Some("propagate") => self.calls.push(Setting::OnTimeoutPropagate),
                Some("tell") => {}
                _ => mistakes.at(
                    meta,
                    "write `on_timeout = tell`, so that the model reads that it took too long, or \
                     `on_timeout = propagate`, so that the run ends",
                ),
            },
            other => {
                let near = meant(other, KNOWN).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
                let message = format!("`{other}` is no option of a tool{near}; the options are {}", listed(KNOWN));
                mistakes.at(meta.path(), message);
            }
        }
    }
}

/// `key = "text"`.
fn text(meta: &Meta, mistakes: &mut Mistakes) -> Option<LitStr> {
    let key = meta.path().to_token_stream();
    match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if !text.value().trim().is_empty() => Some(text.clone()),
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                mistakes.at(text, format!("`{key}` is blank: leave it out or write something"));
                None
            }
            other => {
                mistakes.at(other, format!("`{key}` is a text: write `{key} = \"…\"`"));
                None
            }
        },
        other => {
            mistakes.at(other, format!("`{key}` needs a text: write `{key} = \"…\"`"));
            None
        }
    }
}

fn name(meta: &Meta, mistakes: &mut Mistakes) -> Option<LitStr> {
    let name = text(meta, mistakes)?;
    let value = name.value();
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if value.chars().all(legal) && value.len() <= 64 {
        return Some(name);
    }
    mistakes.at(&name, "a tool's name has 1 to 64 letters, digits, `_`, `-` or `.`: providers of models take no other");
    None
}

/// `key`, `key = true` or `key = false`.
fn flag(meta: &Meta, mistakes: &mut Mistakes) -> Option<bool> {
    match meta {
        Meta::Path(_) => return Some(true),
        Meta::NameValue(pair) => {
            if let Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) = &pair.value {
                return Some(flag.value);
            }
        }
        Meta::List(_) => {}
    }
    let key = meta.path().to_token_stream();
    mistakes.at(meta, format!("`{key}` is yes or no: write `{key}` or `{key} = false`"));
    None
}

/// `crate = path` or `crate = "path"`.
fn path(meta: &Meta, mistakes: &mut Mistakes) -> Option<Path> {
    if let Meta::NameValue(pair) = meta {
        match &pair.value {
            Expr::Path(path) => return Some(path.path.clone()),
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => return mistakes.take(text.parse()),
            _ => {}
        }
    }
    mistakes.at(meta, "write where `toolmark` is: `crate = ::toolmark`");
    None
}

fn time(meta: &Meta, mistakes: &mut Mistakes) -> Option<(u64, Span)> {
    let text = text(meta, mistakes)?;
    match duration::milliseconds(&text.value()) {
        Ok(time) => Some((time, text.span())),
        Err(wrong) => {
            mistakes.at(&text, wrong);
            None
        }
    }
}

/// `key`, `key = false`, or `key =` something that is asked.
fn decided(meta: &Meta, mistakes: &mut Mistakes) -> Option<Decided> {
    match meta {
        Meta::Path(_) => Some(Decided::Fixed(true)),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => Some(Decided::Fixed(flag.value)),
            asked @ (Expr::Path(_) | Expr::Closure(_) | Expr::Call(_) | Expr::MethodCall(_)) => {
                Some(Decided::Asked(Box::new(asked.clone())))
            }
            other => {
                let key = pair.path.to_token_stream();
                mistakes
                    .at(other, format!("`{key}` is `true`, `false`, or a function that says so: `{key} = is_admin`"));
                None
            }
        },
        Meta::List(list) => {
            let key = list.path.to_token_stream();
            mistakes.at(list, format!("write `{key}`, `{key} = false` or `{key} = some_function`"));
            None
        }
    }
}

fn on_error(meta: &Meta, mistakes: &mut Mistakes) -> Option<OnError> {
    match word(meta).as_deref() {
        Some("hide") => return Some(OnError::Hide),
        Some("tell") => return Some(OnError::Tell),
        Some("propagate") => return Some(OnError::Propagate),
        _ => {}
    }
    if let Meta::NameValue(pair) = meta
        && matches!(pair.value, Expr::Path(_) | Expr::Closure(_))
    {
        return Some(OnError::Say(Box::new(pair.value.clone())));
    }
    mistakes.at(
        meta,
        "write `on_error = hide`, `tell`, `propagate`, or a function `fn(&ToolContext, &ToolError) -> String`",
    );
    None
}

/// The single word after `=`.
fn word(meta: &Meta) -> Option<String> {
    match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Path(path) => path.path.get_ident().map(Ident::to_string),
            _ => None,
        },
        _ => None,
    }
}

/// `display_name = "…"`, `display_name(nl = "…")` or both: `display_name("…", nl = "…", "pt-BR" = "…")`.
fn display_names(meta: &Meta, calls: &mut Vec<Setting>, mistakes: &mut Mistakes) {
    let Meta::List(list) = meta else {
        calls.extend(text(meta, mistakes).map(Setting::DisplayName));
        return;
    };
    let parser = |input: syn::parse::ParseStream<'_>| {
        Punctuated::<(Option<(String, Span)>, LitStr), Token![,]>::parse_terminated_with(input, |input| {
            let named = input.peek(Ident) || input.peek2(Token![=]);
            if !named {
                return Ok((None, display_name(input)?));
            }
            let locale = if input.peek(LitStr) {
                let text: LitStr = input.parse()?;
                (text.value(), text.span())
            } else {
                let word: Ident = input.parse()?;
                (word.to_string(), word.span())
            };
            input.parse::<Token![=]>()?;
            Ok((Some(locale), display_name(input)?))
        })
    };
    let Some(all) = mistakes.take(parser.parse2(list.tokens.clone())) else { return };
    if all.is_empty() {
        mistakes.at(list, "write a name for each language: `display_name(nl = \"Het weer\")`");
    }
    for (locale, text) in all {
        match locale {
            None => calls.push(Setting::DisplayName(text)),
            Some((locale, span)) => {
                if !is_locale(&locale) {
                    let wrong = format!("`{locale}` is no language: use a tag such as `nl` or `\"pt-BR\"`");
                    mistakes.add(syn::Error::new(span, wrong));
                }
                calls.push(Setting::DisplayNameIn(locale, text));
            }
        }
    }
}

/// `spoken = "…"`, or the same for each language: `spoken("…", nl = "…")`.
fn spoken(meta: &Meta, calls: &mut Vec<Setting>, mistakes: &mut Mistakes) {
    let mut names = Vec::new();
    display_names(meta, &mut names, mistakes);
    calls.extend(names.into_iter().map(|name| match name {
        Setting::DisplayName(text) => Setting::Spoken(text),
        Setting::DisplayNameIn(locale, text) => Setting::SpokenIn(locale, text),
        other => other,
    }));
}

fn display_name(input: syn::parse::ParseStream<'_>) -> syn::Result<LitStr> {
    let wrong =
        |error: syn::Error| syn::Error::new(error.span(), "a display name is a text: write `nl = \"Het weer\"`");
    input.parse().map_err(wrong)
}

fn is_locale(text: &str) -> bool {
    let mut parts = text.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=8).contains(&language.len())
        && language.chars().all(|c| c.is_ascii_alphabetic())
        && parts.all(|part| (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric()))
}

impl Setting {
    /// The call on the builder.
    pub(crate) fn to_call(&self, toolmark: &TokenStream) -> TokenStream {
        let context = quote!(#toolmark::tools::ToolContext);
        let turn = quote!(#toolmark::tools::TurnContext);
        match self {
            Self::DisplayName(name) => quote!(.display_name(#name)),
            Self::DisplayNameIn(locale, name) => quote!(.display_name_in(#locale, #name)),
            Self::Spoken(text) => quote!(.spoken(#text)),
            Self::SpokenIn(locale, text) => quote!(.spoken_in(#locale, #text)),
            Self::Icon(icon) => quote!(.icon(#icon)),
            Self::Category(category) => quote!(.category(#category)),
            Self::Behavior(text) => quote!(.behavior_of(#text)),
            Self::NeedsApproval(decided) => {
                let condition = decided.to_condition(toolmark, &context);
                quote!(.needs_approval(#condition))
            }
            Self::Enabled(decided) => {
                let condition = decided.to_condition(toolmark, &turn);
                quote!(.enabled(#condition))
            }
            Self::OnError(OnError::Hide) => quote!(.on_error(#toolmark::tools::OnError::Hide)),
            Self::OnError(OnError::Tell) => quote!(.on_error(#toolmark::tools::OnError::Tell)),
            Self::OnError(OnError::Propagate) => quote!(.on_error(#toolmark::tools::OnError::Propagate)),
            Self::OnError(OnError::Say(says)) => quote!(.on_error(#toolmark::tools::OnError::say(#says))),
            Self::OnTimeoutPropagate => quote!(.on_timeout(#toolmark::tools::OnTimeout::Propagate)),
            Self::DeferLoading(deferred) => quote!(.defer_loading(#deferred)),
            Self::Strict(true) => quote!(.strict(#toolmark::tools::Strict::Always)),
            Self::Strict(false) => quote!(.strict(#toolmark::tools::Strict::Never)),
        }
    }
}

impl Decided {
    fn to_condition(&self, toolmark: &TokenStream, input: &TokenStream) -> TokenStream {
        match self {
            Self::Fixed(fixed) => quote!(#fixed),
            // A closure that names no types gets them, so that it can be written as it would be anywhere else.
            Self::Asked(asked) => match &**asked {
                Expr::Closure(closure) if closure.asyncness.is_some() || returns_future(closure) => {
                    quote!(#toolmark::tools::Condition::<#input>::when_later(#closure))
                }
                Expr::Closure(closure) => quote!(#toolmark::tools::Condition::<#input>::when(#closure)),
                other => quote!(#toolmark::__private::condition::<#input, _>(#other)),
            },
        }
    }
}

/// `|turn| async move { … }`.
fn returns_future(closure: &syn::ExprClosure) -> bool {
    matches!(&*closure.body, Expr::Async(_))
}
