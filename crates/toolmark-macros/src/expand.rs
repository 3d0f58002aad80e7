//! `#[tool]` on a function: the function stays, and beside it stands a type of its name that makes the tool.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{GenericParam, ItemFn, ReturnType, Safety};

use crate::arguments::Arguments;
use crate::docs::{self, Docs};
use crate::mistakes::Mistakes;
use crate::options::Options;

pub(crate) fn tool(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let options = Options::read(options, &mut mistakes);
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            mistakes.at(item, "`#[tool]` stands before a function");
            let errors = mistakes.into_tokens();
            return quote!(#errors #item);
        }
    };
    refuse(&function, &options, &mut mistakes);
    let mut arguments = Arguments::take(&mut function.sig, &mut mistakes);
    let docs = Docs::of(&docs::lines(&function.attrs));
    arguments.describe(&docs, &function.sig.ident, &mut mistakes);
    let body = match mistakes.into_tokens() {
        None => made(&function, &options, &arguments, &docs),
        // Where there is a `self`, nothing can stand beside the function.
        Some(errors) => {
            let stub = function.sig.receiver().is_none().then(|| stub(&function, &options));
            quote!(#errors #stub)
        }
    };
    // What a model gives is owned, whether the function keeps it or not, and a model counts no arguments.
    function.attrs.push(syn::parse_quote!(#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]));
    quote!(#function #body)
}

/// Notes what no tool can be.
fn refuse(function: &ItemFn, options: &Options, mistakes: &mut Mistakes) {
    let signature = &function.sig;
    for parameter in &signature.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            mistakes.at(parameter, "a tool has no type parameters: its schema needs types that are known");
        }
    }
    if let Safety::Unsafe(word) = &signature.safety {
        mistakes.at(word, "a tool is called by a model, which cannot promise anything: leave out `unsafe`");
    }
    if let Some(abi) = &signature.abi {
        mistakes.at(abi, "a tool is a plain function: leave out `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        mistakes.at(variadic, "a tool has named arguments: take a `Vec` in place of `...`");
    }
    if options.blocking
        && let Some(asynchronous) = &signature.asyncness
    {
        mistakes.at(asynchronous, "`blocking` is for functions that are not `async`: leave out one of both");
    }
    if let Some((_, place)) = options.timeout
        && signature.asyncness.is_none()
        && !options.blocking
    {
        let message = "a function that is not `async` cannot be stopped: make it `async`, or add `blocking` to run it \
                       in a thread of its own, which is left behind when the time is over";
        mistakes.add(syn::Error::new(place, message));
    }
}

/// Where `toolmark` is.
fn toolmark(options: &Options) -> TokenStream {
    options.crate_path.as_ref().map_or_else(|| quote!(::toolmark), |path| quote!(#path))
}

fn name(function: &ItemFn, options: &Options) -> String {
    match &options.name {
        Some(name) => name.value(),
        None => {
            let name = function.sig.ident.to_string();
            name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
        }
    }
}

/// The type that makes the tool. It has the name of the function, which is in another namespace of the language.
fn beside(function: &ItemFn, toolmark: &TokenStream, body: &TokenStream) -> TokenStream {
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let conditional = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let conditional: Vec<_> = conditional.collect();
    let docs = format!("Makes the tool of the function [`{ident}`](fn@{ident}).");
    quote! {
        #[doc = #docs]
        #[allow(non_camel_case_types, dead_code)]
        #(#conditional)*
        #vis enum #ident {}

        #(#conditional)*
        impl #ident {
            /// The tool, to be put into a toolset or changed before.
            #[allow(dead_code, clippy::needless_pass_by_value)]
            #vis fn tool() -> #toolmark::tools::ToolBuilder { #body }
        }
    }
}

/// What stands in place of a tool that has mistakes, so that whoever uses it is not told of more.
fn stub(function: &ItemFn, options: &Options) -> TokenStream {
    let (toolmark, name) = (toolmark(options), name(function, options));
    beside(function, &toolmark, &quote!(#toolmark::tools::FunctionTool::builder(#name)))
}

fn made(function: &ItemFn, options: &Options, arguments: &Arguments, docs: &Docs) -> TokenStream {
    let toolmark = toolmark(options);
    let ident = &function.sig.ident;
    let name = name(function, options);
    let description = options.description.as_ref().map_or_else(|| docs.description.clone(), syn::LitStr::value);
    let place = format!("::{name}");
    let (kept, read) = (format_ident!("__Arguments"), format_ident!("__arguments"));
    let fields = arguments.to_struct(&kept, &toolmark);
    let call = arguments.to_call(&read);
    let call = match (&function.sig.asyncness, options.blocking) {
        (Some(_), _) => quote!(#ident(#call).await),
        (None, false) => quote!(#ident(#call)),
        (None, true) => quote!(#toolmark::__private::blocking(move || #ident(#call)).await),
    };
    let output = match &function.sig.output {
        ReturnType::Default => ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    // Where a type cannot be returned, the compiler points at it. Names are still those of this macro.
    let output = Span::call_site().located_at(output);
    let shaped = quote_spanned! {output=>
        match (&&#toolmark::__private::Returned(&__returned)).toolmark_open().open(__returned) {
            ::core::result::Result::Ok(__value) => {
                (&&#toolmark::__private::Returned(&__value)).toolmark_put().put(__value)
            }
            ::core::result::Result::Err(__error) => ::core::result::Result::Err(
                (&&&#toolmark::__private::Thrown(&__error)).toolmark_throw().error(__error),
            ),
        }
    };
    let calls = options.calls.iter().map(|setting| setting.to_call(&toolmark));
    let timeout = options.timeout.map(|(time, _)| quote!(.timeout(::core::time::Duration::from_millis(#time))));
    let body = quote! {
        #fields
        #toolmark::tools::FunctionTool::builder(#name)
            .place(::core::concat!(::core::module_path!(), #place))
            .description(#description)
            .parameters_of::<#kept>()
            #(#calls)*
            #timeout
            .run(|__context: #toolmark::tools::ToolContext, __given: #toolmark::tools::Arguments| async move {
                #[allow(unused_imports)]
                use #toolmark::__private::{
                    OpenPlain as _, OpenResult as _, PutJson as _, PutOutput as _, ThrowAsItIs as _, ThrowError as _,
                    ThrowText as _,
                };
                #[allow(unused_variables)]
                let #read = __given.read::<#kept>()?;
                #[allow(clippy::let_unit_value)]
                let __returned = #call;
                #[allow(clippy::unit_arg, clippy::needless_borrow)]
                let __output: ::core::result::Result<#toolmark::tools::ToolOutput, #toolmark::tools::ToolError> = #shaped;
                __output
            })
    };
    beside(function, &toolmark, &body)
}
