//! Who is calling, through which door, and what can the calling program do?

use std::sync::Arc;

use bytes::Bytes;

use crate::wire::{Limits, RawObject};

/// Somebody whose request was let in. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    principal: Arc<str>,
    binding: Arc<Binding>,
}

/// What the address binds every request to that arrives there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The task whose expectation holds.
    pub task: Option<String>,
    /// The client profile that names are rendered for.
    pub profile: Option<String>,
}

/// What a client says about itself. Unverified: good for rendering and for questions, never for permission.
#[derive(Clone, Debug)]
pub struct Client {
    info: Option<Bytes>,
    capabilities: Bytes,
}

impl Caller {
    /// A caller with a verified name, at an address that binds to nothing.
    #[must_use]
    pub fn new(principal: &str) -> Self {
        Self { principal: principal.into(), binding: Arc::default() }
    }

    /// The same caller at an address that binds to something.
    #[must_use]
    pub fn bound_to(self, binding: Arc<Binding>) -> Self {
        Self { binding, ..self }
    }

    /// The verified name.
    #[must_use]
    pub fn principal(&self) -> &str {
        &self.principal
    }

    /// What the address binds to.
    #[must_use]
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The address as one text, for telling it from others.
    pub(crate) fn place(&self) -> String {
        format!("{:?}", self.binding)
    }
}

impl Client {
    pub(super) fn new(info: Option<Bytes>, capabilities: Bytes) -> Self {
        Self { info, capabilities }
    }

    /// In memory of its own, for keeping longer than the request it came in.
    pub(super) fn detached(&self) -> Self {
        Self {
            info: self.info.as_deref().map(Bytes::copy_from_slice),
            capabilities: Bytes::copy_from_slice(&self.capabilities),
        }
    }

    /// `clientInfo` as it was sent.
    #[must_use]
    pub fn info(&self) -> Option<&Bytes> {
        self.info.as_ref()
    }

    /// The capabilities as they were sent, the text of a JSON object.
    #[must_use]
    pub fn capabilities(&self) -> &Bytes {
        &self.capabilities
    }

    /// The capability that this client would need to answer a question, if it lacks it: the text of an object such as
    /// `{"elicitation":{}}`.
    #[must_use]
    pub fn lacks(&self, method: &str, params: &[u8]) -> Option<&'static str> {
        let capabilities = RawObject::read(self.capabilities.clone(), Limits::ADMITTED);
        let has = |name: &str| capabilities.as_ref().ok().and_then(|all| all.object(name));
        match method {
            "elicitation/create" => match has("elicitation") {
                None => Some(r#"{"elicitation":{}}"#),
                // Asking to visit a page is a capability of its own; an empty object means forms only.
                Some(modes) if is_url(params) => modes.get("url").is_none().then_some(r#"{"elicitation":{"url":{}}}"#),
                Some(modes) => {
                    (!modes.is_empty() && modes.get("form").is_none()).then_some(r#"{"elicitation":{"form":{}}}"#)
                }
            },
            "sampling/createMessage" => has("sampling").is_none().then_some(r#"{"sampling":{}}"#),
            "roots/list" => has("roots").is_none().then_some(r#"{"roots":{}}"#),
            // No client declares that it answers anything else.
            _ => Some("{}"),
        }
    }
}

pub(super) fn is_url(params: &[u8]) -> bool {
    let params = RawObject::read(Bytes::copy_from_slice(params), Limits::ADMITTED);
    params.is_ok_and(|params| params.text("mode").as_deref() == Some("url"))
}

#[cfg(test)]
mod tests;
