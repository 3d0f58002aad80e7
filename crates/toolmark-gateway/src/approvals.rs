//! How people are asked by a gateway: the desk over its store, and the ways that lead to it besides the client that calls.

mod api;
pub(crate) mod extras;
mod ruling;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use toolmark_config::Config;
use toolmark_config::values::{OnTimeout, Span};
use toolmark_core::explain::{Code, Explain};
use toolmark_runtime::approve::{Asker, Desk, DeskSettings, LedgerError};
use toolmark_store::approvals::StoreLedger;
use toolmark_store::{Store, StoreError};

pub(crate) use api::Api;
use webhook::Webhook;

/// The key that seals what clients come back with, and answers of webhooks.
pub(crate) const SEAL: &str = "request-state";
const ANSWERS: &str = "approval-answers";

/// Approvals that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalsError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The grants cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The webhook cannot be used.
    #[error("the webhook of approvals cannot be used: {0}")]
    Webhook(String),
}

/// A desk over a store, for a node.
pub(crate) async fn desk(config: &Config, store: &Store, node: &str, options: &str) -> Result<Desk, ApprovalsError> {
    let mut askers: Vec<Arc<dyn Asker>> = Vec::new();
    let environment = |name: &str| std::env::var(name).ok();
    // Variables that are missing are said when the gateway is started.
    if let Some((url, secret)) = config.expand_itself(&environment).ok().and_then(|expanded| expanded.webhook) {
        let key = store.shared_key(ANSWERS).await?;
        let public = config.gateway.public_url.clone().unwrap_or_else(|| format!("http://{}", config.gateway.listen));
        let webhook = Webhook::new(url.expose(), secret.expose(), key, &public).map_err(ApprovalsError::Webhook)?;
        askers.push(Arc::new(webhook));
    }
    let ledger = StoreLedger::open(store.clone(), node).await?;
    let desk = Desk::new(Arc::new(ledger), settings(config, options), askers);
    desk.open().await?;
    Ok(desk)
}

/// What a configuration says about asking. `options` are those with which commands find this gateway.
pub(crate) fn settings(config: &Config, options: &str) -> DeskSettings {
    let approvals = &config.approvals;
    let usual = DeskSettings::default();
    DeskSettings {
        timeout: approvals.timeout,
        keep_pending: approvals.on_timeout == OnTimeout::Keep,
        keep: approvals.keep.map_or(usual.keep, Span::duration),
        wait: approvals.wait.min(Duration::from_secs(3600)),
        ask_client: approvals.client,
        instructions: format!("approve it with `toolmark approvals approve {{id}}{options}`"),
        ..usual
    }
}

impl Explain for ApprovalsError {
    fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Ledger(error) => error.code(),
            Self::Webhook(_) => Code::new("approval-webhook"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Store(error) => error.why(),
            Self::Ledger(error) => error.why(),
            Self::Webhook(_) => "questions that reach nobody would all run out".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Store(error) => error.fix(),
            Self::Ledger(error) => error.fix(),
            Self::Webhook(_) => "correct `[approvals.webhook]`, or remove it".into(),
        }
    }
}
