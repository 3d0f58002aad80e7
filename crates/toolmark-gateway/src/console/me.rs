//! `GET /api/me`: who asks, and what is there.

use serde_json::{Value, json};
use toolmark_core::time::Micros;

use super::error::ConsoleError;
use super::keeper::Approver;
use super::{Asked, Console};

impl Console {
    pub(super) async fn me(&self, asked: &Asked, who: &Approver) -> Result<Value, ConsoleError> {
        let look = &asked.look;
        let snapshot = &look.snapshot;
        let (workspace, config) = (snapshot.workspace(), snapshot.config());
        let pending = match self.gateway.store().filter(|_| self.gateway.desk().is_some()) {
            Some(store) => store.pending_asks().await?,
            None => 0,
        };
        let lang = look.lang();
        let tasks: Vec<&str> = workspace.tasks().iter().map(|task| task.name().as_str()).collect();
        let profiles: Vec<&str> = config.profiles.iter().map(|(name, _)| name.as_str()).collect();
        Ok(json!({
            "name": if who.by_key { "console" } else { &who.name },
            "by": if who.by_key { "key" } else { "token" },
            "user": who.by_key.then(|| self.keeper.user()),
            "version": env!("CARGO_PKG_VERSION"),
            "node": &*self.gateway.node,
            "lang": lang.as_str(),
            "dir": lang.direction().as_str(),
            "language_problem": look.problem(),
            "languages": look.languages(),
            "started": Micros::from(self.started).to_string(),
            "pending": pending,
            "tools": workspace.catalog().len(),
            "packs": self.gateway.packs().len(),
            "agents": config.agents.iter().count(),
            "preset": workspace.preset().as_str(),
            "observes": workspace.preset().only_observes(),
            "features": {
                "audit": self.gateway.audit.is_some(),
                "approvals": self.gateway.desk().is_some(),
                "bodies": config.audit.bodies.as_str(),
                "agui": config.agui.enabled,
            },
            "tasks": tasks,
            "profiles": profiles,
        }))
    }
}
