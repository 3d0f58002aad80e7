//! May this run begin, and may this answer leave? Checks of what a user says first and of what an agent says last.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use toolmark_models::Item;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::TurnContext;

/// What a check says. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Go on.
    Pass,
    /// The run ends, for this reason.
    Stop(String),
}

type Check<I> = Arc<dyn Fn(TurnContext, I) -> Later<'static, Checked> + Send + Sync>;

/// A check of what a run begins with, made before a model reads it. Only the agent that begins is asked.
#[derive(Clone)]
pub struct InputCheck {
    name: Arc<str>,
    check: Check<Arc<[Item]>>,
}

/// A check of the final answer. Only the agent that gives it is asked.
#[derive(Clone)]
pub struct OutputCheck {
    name: Arc<str>,
    check: Check<String>,
}

macro_rules! check {
    ($name:ident, $input:ty) => {
        impl $name {
            /// A check with a name for people.
            pub fn new<F, T>(name: &str, check: F) -> Self
            where
                F: Fn(TurnContext, $input) -> T + Send + Sync + 'static,
                T: Future<Output = Checked> + Send + 'static,
            {
                Self { name: name.into(), check: Arc::new(move |turn, input| Box::pin(check(turn, input))) }
            }

            /// Its name.
            #[must_use]
            pub fn name(&self) -> &str {
                &self.name
            }

            /// A check that breaks down lets nothing through.
            pub(crate) async fn check(&self, turn: &TurnContext, input: $input) -> Checked {
                let asked = AssertUnwindSafe(async { (self.check)(turn.clone(), input).await });
                asked.catch_unwind().await.unwrap_or_else(|_| Checked::Stop("the check panicked".into()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.name)
            }
        }
    };
}

check!(InputCheck, Arc<[Item]>);
check!(OutputCheck, String);
