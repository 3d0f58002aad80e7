//! What is an agent told? A text, or one that is made for each turn.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::TurnContext;

/// What the model of an agent is told beside the conversation.
#[derive(Clone, Default)]
pub struct Instructions(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    None,
    Text(Arc<str>),
    Now(Arc<dyn Fn(&TurnContext) -> String + Send + Sync>),
    Later(Arc<dyn Fn(TurnContext) -> Later<'static, String> + Send + Sync>),
}

impl Instructions {
    /// Made for each turn.
    pub fn from_turn(made: impl Fn(&TurnContext) -> String + Send + Sync + 'static) -> Self {
        Self(Kind::Now(Arc::new(made)))
    }

    /// Made for each turn, which may take a while.
    pub fn from_turn_later<F, T>(made: F) -> Self
    where
        F: Fn(TurnContext) -> T + Send + Sync + 'static,
        T: Future<Output = String> + Send + 'static,
    {
        Self(Kind::Later(Arc::new(move |turn| Box::pin(made(turn)))))
    }

    pub(crate) async fn of(&self, turn: &TurnContext) -> Option<String> {
        match &self.0 {
            Kind::None => None,
            Kind::Text(text) => Some(text.to_string()),
            Kind::Now(made) => Some(made(turn)),
            Kind::Later(made) => Some(made(turn.clone()).await),
        }
    }
}

impl From<&str> for Instructions {
    fn from(text: &str) -> Self {
        Self(Kind::Text(text.into()))
    }
}

impl From<String> for Instructions {
    fn from(text: String) -> Self {
        Self(Kind::Text(text.into()))
    }
}

impl fmt::Debug for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::None => "none",
            Kind::Text(_) => "text",
            Kind::Now(_) | Kind::Later(_) => "made for each turn",
        })
    }
}
