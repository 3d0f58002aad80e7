//! The few places where the SDK checks a name before it uses it.

use serde_json::{Map, Value};

use super::lookup::LookupConfigurationError;
use super::python::{lower, trim};
use super::tool::FunctionTool;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// A class name that cannot become the name of a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be the name of a function tool")]
pub struct FallbackNameError(String);

/// A namespace that tools cannot be put into.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolNamespaceError {
    /// The namespace has no name.
    #[error("a namespace of tools has no name")]
    NameEmpty,
    /// The namespace has no description.
    #[error("the namespace `{0}` has no description")]
    DescriptionEmpty(String),
    /// A tool in it has the name of the namespace.
    #[error(transparent)]
    Reserved(#[from] LookupConfigurationError),
}

/// Tools that were put into a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolNamespace {
    name: Box<str>,
    description: Box<str>,
    tools: Vec<FunctionTool>,
}

/// The longest name that is made of a class name, in characters.
const MAX_FALLBACK: usize = 64;

/// Checks the name of a class that is to serve as the name of a tool.
///
/// # Errors
/// [`FallbackNameError`] unless it has 1 to 64 ASCII letters, digits, `_` or `-` and nothing else.
pub fn validate_fallback_name(name: &str) -> Result<&str, FallbackNameError> {
    let fits = (1..=MAX_FALLBACK).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if fits { Ok(name) } else { Err(FallbackNameError(visible(name, 80))) }
}

/// Puts tools into a namespace; its name and description are trimmed.
///
/// # Errors
/// [`ToolNamespaceError`] when name or description are missing or blank, or when a tool has the name of the namespace.
pub fn tool_namespace(
    name: Option<&str>,
    description: Option<&str>,
    tools: Vec<FunctionTool>,
) -> Result<ToolNamespace, ToolNamespaceError> {
    let filled = |text: Option<&'_ str>| text.map(trim).filter(|text| !text.is_empty()).map(Box::<str>::from);
    let name = filled(name).ok_or(ToolNamespaceError::NameEmpty)?;
    let description = filled(description).ok_or_else(|| ToolNamespaceError::DescriptionEmpty(visible(&name, 80)))?;
    let mut inside = Vec::with_capacity(tools.len());
    for tool in tools {
        if tool.public_name() == Some(name.as_ref()) {
            return Err(LookupConfigurationError::reserved(&name).into());
        }
        inside.push(tool.in_namespace(&name));
    }
    Ok(ToolNamespace { name, description, tools: inside })
}

/// True when a call of `name` is taken for a patch: it starts with `apply_patch`, or is the name of the patch tool; white
/// space around it and case do not count.
#[must_use]
pub fn is_apply_patch_name(name: Option<&str>, patch_tool: Option<&str>) -> bool {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return false;
    };
    let plain = |text: &str| lower(trim(text));
    let name = plain(name);
    name.starts_with("apply_patch") || patch_tool.is_some_and(|tool| plain(tool) == name)
}

impl ToolNamespace {
    /// The trimmed name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The trimmed description.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The tools, each in the namespace.
    #[must_use]
    pub fn tools(&self) -> &[FunctionTool] {
        &self.tools
    }
}

impl FallbackNameError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        "fallback_name_invalid"
    }
}

impl ToolNamespaceError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::NameEmpty => "namespace_name_empty",
            Self::DescriptionEmpty(_) => "namespace_description_empty",
            Self::Reserved(error) => error.category(),
        }
    }
}

impl Explain for FallbackNameError {
    fn code(&self) -> Code {
        Code::new("compat-fallback-name")
    }

    fn why(&self) -> String {
        "providers take 1 to 64 ASCII letters, digits, `_` and `-`; a name that is changed to fit would be a guess"
            .into()
    }

    fn fix(&self) -> String {
        "give the tool a name of its own, such as `lookup_order`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("name", self.0.as_str().into())])
    }
}

impl Explain for ToolNamespaceError {
    fn code(&self) -> Code {
        match self {
            Self::NameEmpty => Code::new("compat-namespace-name-empty"),
            Self::DescriptionEmpty(_) => Code::new("compat-namespace-description-empty"),
            Self::Reserved(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NameEmpty => "its tools would be called under a name that says nothing, or under none".into(),
            Self::DescriptionEmpty(_) => {
                "the model chooses a namespace by its description before it sees the tools in it".into()
            }
            Self::Reserved(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::NameEmpty => "name the namespace after what its tools are about, such as `crm`".into(),
            Self::DescriptionEmpty(name) => format!("say in one sentence what the tools of `{name}` are for"),
            Self::Reserved(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::NameEmpty => Map::new(),
            Self::DescriptionEmpty(name) => facts([("namespace", name.as_str().into())]),
            Self::Reserved(error) => error.facts(),
        }
    }
}
