//! `GET /api/health`: who is there, how fast, how well.

use std::time::Duration;

use serde_json::{Value, json};
use toolmark_core::text::visible;
use toolmark_core::time::Micros;
use toolmark_mcp::downstream::Held;

use super::error::ConsoleError;
use super::{Asked, Console};
use crate::pack::PackState;

/// How many tools are shown, and how many lines of standard error.
const TOOLS: usize = 50;
const LINES: usize = 40;
/// The longest line.
const LINE: usize = 500;
/// How long the store may take to say that it works.
const PATIENCE: Duration = Duration::from_secs(2);

impl Console {
    pub(super) async fn health(&self, asked: &Asked, held: Held) -> Result<Value, ConsoleError> {
        let look = &asked.look;
        let metrics = self.gateway.metrics();
        let packs = self.gateway.packs();
        let ready = packs.iter().all(|pack| pack.state() != PackState::Starting);
        let described = packs.iter().map(|pack| {
            let mut all = look.standing(pack);
            let stderr = pack.stderr_tail();
            let lines: Vec<String> =
                stderr.iter().rev().take(LINES).rev().map(|line| visible(&self.redacted(line), LINE)).collect();
            let resting = pack.breaker().left(std::time::Instant::now());
            let more = json!({
                "source": visible(pack.source().as_str(), 300),
                "era": pack.upstream().map(|upstream| upstream.version().as_str().to_owned()),
                "resting": resting.is_some(),
                "resting_s": resting.map(|left| left.as_secs() + 1),
                "stderr": lines,
            });
            let figures = metrics.of_pack(pack.name().as_str());
            for part in [more, figures] {
                if let (Some(all), Value::Object(part)) = (all.as_object_mut(), part) {
                    all.extend(part);
                }
            }
            all
        });
        let described: Vec<Value> = described.collect();
        let mut tools = metrics.of_tools();
        tools.truncate(TOOLS);
        for (canonical, figures) in &mut tools {
            if let Some(all) = figures.as_object_mut() {
                all.insert("shown".into(), look.canonical(canonical));
                all.insert("canonical".into(), canonical.as_str().into());
            }
        }
        let audit = self.gateway.audit.as_ref().map(|sink| {
            let stats = sink.stats();
            json!({
                "written": stats.written, "queued": stats.accepted.saturating_sub(stats.written), "lost": stats.lost,
                "failures": stats.failures,
            })
        });
        Ok(json!({
            "ready": ready,
            "started": Micros::from(self.started).to_string(),
            "uptime_s": self.started.elapsed().unwrap_or_default().as_secs(),
            "version": env!("CARGO_PKG_VERSION"),
            "node": &*self.gateway.node,
            "packs": described,
            "tools": tools.into_iter().map(|(_, figures)| figures).collect::<Vec<_>>(),
            "stages": metrics.stages(),
            "outcomes": metrics.outcomes(),
            "refused": metrics.refused(),
            "minutes": metrics.minutes(),
            "held": {"sessions": held.sessions, "parked": held.parked, "listeners": held.listeners},
            "pages": self.gateway.live().listeners(),
            "audit": audit,
            "store": self.store().await,
            "nodes": self.nodes().await,
        }))
    }

    /// A line that a server wrote, without what looks like a secret.
    fn redacted(&self, line: &str) -> String {
        self.gateway.live().redactor().text(line).into_owned()
    }

    /// Whether the store answers.
    async fn store(&self) -> Value {
        let Some(store) = self.gateway.store() else { return Value::Null };
        let asked = tokio::time::timeout(PATIENCE, store.tokens_version()).await;
        let (works, why) = match asked {
            Ok(Ok(_)) => (true, None),
            Ok(Err(error)) => (false, Some(visible(&error.to_string(), 300))),
            Err(_) => (false, Some("it does not answer".to_owned())),
        };
        let file = store.path().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
        json!({"kind": if file.is_some() { "sqlite" } else { "other" }, "place": file, "works": works, "why": why})
    }

    /// Who else writes to the store, as far as it knows.
    async fn nodes(&self) -> Value {
        let own = &*self.gateway.node;
        let known = match self.gateway.store() {
            Some(store) => tokio::time::timeout(PATIENCE, store.nodes()).await.ok().and_then(Result::ok),
            None => None,
        };
        let mut known = known.unwrap_or_default();
        // It may have written nothing yet.
        if !known.iter().any(|(node, _)| **node == *own) {
            known.push((own.into(), 0));
        }
        known.iter().map(|(node, rows)| json!({"name": &**node, "here": **node == *own, "records": rows})).collect()
    }
}
