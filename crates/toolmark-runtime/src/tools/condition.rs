//! Yes or no, known beforehand or found out when it is asked. A condition that breaks down never makes anything less guarded.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::approve::Later;

/// Something that holds or does not, for one input.
pub struct Condition<I>(Kind<I>);

enum Kind<I> {
    Fixed(bool),
    Now(Arc<dyn Fn(&I) -> bool + Send + Sync>),
    Later(Arc<dyn Fn(I) -> Later<'static, bool> + Send + Sync>),
    All(Arc<[Condition<I>]>),
    Any(Arc<[Condition<I>]>),
}

impl<I: Clone + Send + Sync + 'static> Condition<I> {
    /// Always the same.
    #[must_use]
    pub const fn fixed(holds: bool) -> Self {
        Self(Kind::Fixed(holds))
    }

    /// Asked each time.
    pub fn when(asked: impl Fn(&I) -> bool + Send + Sync + 'static) -> Self {
        Self(Kind::Now(Arc::new(asked)))
    }

    /// Asked each time, and may take a while.
    pub fn when_later<F, T>(asked: F) -> Self
    where
        F: Fn(I) -> T + Send + Sync + 'static,
        T: Future<Output = bool> + Send + 'static,
    {
        Self(Kind::Later(Arc::new(move |input| Box::pin(asked(input)))))
    }

    /// Holds when both do.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (&self.0, &other.0) {
            (Kind::Fixed(true), _) => other,
            (_, Kind::Fixed(true)) => self,
            _ => Self(Kind::All(Arc::new([self, other]))),
        }
    }

    /// Holds when one of both does.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (&self.0, &other.0) {
            (Kind::Fixed(false), _) => other,
            (_, Kind::Fixed(false)) => self,
            _ => Self(Kind::Any(Arc::new([self, other]))),
        }
    }

    /// The answer where it is always the same.
    #[must_use]
    pub fn as_fixed(&self) -> Option<bool> {
        match self.0 {
            Kind::Fixed(holds) => Some(holds),
            _ => None,
        }
    }

    /// Whether it holds. `otherwise` is the answer of a part that panics.
    #[must_use]
    pub fn holds<'a>(&'a self, input: &'a I, otherwise: bool) -> Later<'a, bool> {
        Box::pin(async move {
            match &self.0 {
                Kind::Fixed(holds) => *holds,
                Kind::Now(asked) => {
                    std::panic::catch_unwind(AssertUnwindSafe(|| asked(input))).unwrap_or_else(|_| broken(otherwise))
                }
                Kind::Later(asked) => {
                    // The closure itself may panic before there is a future.
                    let answer = AssertUnwindSafe(async { asked(input.clone()).await }).catch_unwind().await;
                    answer.unwrap_or_else(|_| broken(otherwise))
                }
                Kind::All(parts) => {
                    for part in parts.iter() {
                        if !part.holds(input, otherwise).await {
                            return false;
                        }
                    }
                    true
                }
                Kind::Any(parts) => {
                    for part in parts.iter() {
                        if part.holds(input, otherwise).await {
                            return true;
                        }
                    }
                    false
                }
            }
        })
    }
}

fn broken(otherwise: bool) -> bool {
    tracing::warn!(taken_for = otherwise, "a condition of a tool panicked");
    otherwise
}

impl<I> Clone for Condition<I> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Kind::Fixed(holds) => Kind::Fixed(*holds),
            Kind::Now(asked) => Kind::Now(Arc::clone(asked)),
            Kind::Later(asked) => Kind::Later(Arc::clone(asked)),
            Kind::All(parts) => Kind::All(Arc::clone(parts)),
            Kind::Any(parts) => Kind::Any(Arc::clone(parts)),
        })
    }
}

impl<I> From<bool> for Condition<I> {
    fn from(holds: bool) -> Self {
        Self(Kind::Fixed(holds))
    }
}

impl<I> fmt::Debug for Condition<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Fixed(holds) => write!(f, "Condition({holds})"),
            _ => f.write_str("Condition(asked)"),
        }
    }
}

/// How `#[tool]` takes a function by its name without knowing whether it is async.
pub(super) mod private {
    use super::{Condition, Future};

    /// A function that answers at once.
    pub struct Now;
    /// A function that may take a while.
    pub struct Later;

    /// A condition already.
    pub struct Made;

    /// A function that is a condition.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be used as a condition of a tool",
        label = "expected `fn(&{I}) -> bool` or `async fn({I}) -> bool`",
        note = "`{I}` is `ToolContext` for `needs_approval` and `TurnContext` for `enabled`"
    )]
    pub trait IntoCondition<I, Kind> {
        /// The condition.
        fn into_condition(self) -> Condition<I>;
    }

    impl<I: Clone + Send + Sync + 'static, F: Fn(&I) -> bool + Send + Sync + 'static> IntoCondition<I, Now> for F {
        fn into_condition(self) -> Condition<I> {
            Condition::when(self)
        }
    }

    impl<I> IntoCondition<I, Made> for Condition<I> {
        fn into_condition(self) -> Condition<I> {
            self
        }
    }

    impl<I, F, T> IntoCondition<I, Later> for F
    where
        I: Clone + Send + Sync + 'static,
        F: Fn(I) -> T + Send + Sync + 'static,
        T: Future<Output = bool> + Send + 'static,
    {
        fn into_condition(self) -> Condition<I> {
            Condition::when_later(self)
        }
    }

    /// The condition that a function is.
    pub fn condition<I, Kind>(asked: impl IntoCondition<I, Kind>) -> Condition<I> {
        asked.into_condition()
    }
}

#[cfg(test)]
mod tests;
