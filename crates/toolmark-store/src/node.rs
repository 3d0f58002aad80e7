//! Who is this node? Its name stands on a chain of the audit, so no two living processes may have one.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::watch;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::error::StoreError;
use crate::store::Store;

/// The name of a node, held for as long as this lives.
#[must_use = "a claim that is dropped gives the name back"]
pub struct NodeClaim {
    node: Arc<str>,
    held: watch::Receiver<bool>,
    /// What gives the name back when it is dropped.
    _hold: Box<dyn Any + Send + Sync>,
}

/// A name that was not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimNodeError {
    /// It is empty, too long or has characters that cannot be seen.
    Name(String),
    /// A living process has it.
    Taken(String),
    /// The store failed.
    Store(StoreError),
}

impl NodeClaim {
    pub(crate) fn new(node: Arc<str>, held: watch::Receiver<bool>, hold: Box<dyn Any + Send + Sync>) -> Self {
        Self { node, held, _hold: hold }
    }

    /// The name.
    #[must_use]
    pub fn node(&self) -> &Arc<str> {
        &self.node
    }

    /// Whether the name is held now. A store that cannot be reached may give it to another; it is taken again as soon as possible.
    #[must_use]
    pub fn is_held(&self) -> bool {
        *self.held.borrow()
    }
}

impl Store {
    /// Takes a name for this process. It is given back when the claim is dropped and when the process ends, however that happens.
    ///
    /// # Errors
    /// [`ClaimNodeError::Taken`] when a living process has it.
    pub async fn claim_node(&self, node: &str) -> Result<NodeClaim, ClaimNodeError> {
        if node.trim().is_empty() || node.len() > 200 || visible(node, 200) != node {
            return Err(ClaimNodeError::Name(visible(node, 80)));
        }
        let claim = self.backend().claim_node(node).await.map_err(ClaimNodeError::Store)?;
        claim.ok_or_else(|| ClaimNodeError::Taken(node.into()))
    }
}

impl fmt::Debug for NodeClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeClaim").field("node", &self.node).field("held", &self.is_held()).finish()
    }
}

impl fmt::Display for ClaimNodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(node) => write!(f, "`{node}` cannot be the name of a node"),
            Self::Taken(node) => write!(f, "another process is the node `{node}`"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClaimNodeError {}

impl Explain for ClaimNodeError {
    fn code(&self) -> Code {
        match self {
            Self::Name(_) => Code::new("node-name-syntax"),
            Self::Taken(_) => Code::new("node-name-taken"),
            Self::Store(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Name(_) => "the name stands beside every call in the audit, so people must be able to read it".into(),
            Self::Taken(_) => {
                "each node has a chain in the audit, and ends what it left unfinished there; two would end \
                               each other's calls"
                    .into()
            }
            Self::Store(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Name(_) => "use up to 200 visible characters on one line, such as `eu-1`".into(),
            Self::Taken(_) => "give each node a name of its own, or end the other process first".into(),
            Self::Store(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Name(node) | Self::Taken(node) => facts([("node", node.as_str().into())]),
            Self::Store(error) => error.facts(),
        }
    }
}
