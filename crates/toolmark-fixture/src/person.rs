//! The other side of the fixture: a client that answers every question, so that tests of a gateway have both ends.
#![expect(
    deprecated,
    reason = "sampling, roots and logging are on their way out of the protocol, but clients still have them"
)]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ResourceUpdatedNotificationParam, Root, SamplingMessage,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;

/// A person who answers every question, and remembers what they hear.
#[derive(Clone, Debug, Default)]
pub struct Person {
    heard: Arc<Mutex<Vec<String>>>,
    capabilities: Option<ClientCapabilities>,
}

impl Person {
    /// Somebody whom nobody can ask.
    #[must_use]
    pub fn mute() -> Self {
        Self { capabilities: Some(ClientCapabilities::default()), ..Self::default() }
    }

    /// Somebody who knows tasks.
    #[must_use]
    pub fn patient() -> Self {
        Self { capabilities: Some(ClientCapabilities::builder().enable_tasks().build()), ..Self::default() }
    }

    /// All that was heard so far.
    #[must_use]
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True once something was heard so often; false when patience runs out, which only keeps a broken test from hanging.
    #[must_use]
    pub async fn hears(&self, what: &str, times: usize) -> bool {
        for _ in 0..1_000 {
            if self.heard().iter().filter(|heard| heard.starts_with(what)).count() >= times {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    }

    fn hear(&self, what: String) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let able = ClientCapabilities::builder().enable_elicitation().enable_sampling().enable_roots().build();
        ClientConfig::new(self.capabilities.clone().unwrap_or(able), Implementation::new("a-test", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.hear(format!("asked {message}"));
        let content = json!({ "answer": "blue", "name": "Alice", "color": "green", "ok": true, "confirm": true });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("Paris"), "a-model".to_owned()))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///home/alice")]))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear(format!("progress {}", progress.progress));
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear(format!("log {}", message.data));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hear("tools changed".to_owned());
    }

    async fn on_resource_updated(&self, update: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear(format!("updated {}", update.uri));
    }
}
