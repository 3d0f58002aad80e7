//! The answer to each method of the protocol, and the fixture over standard input and output.

#![expect(
    deprecated,
    reason = "logging and old subscriptions are on their way out of the protocol, but clients still have them"
)]

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    DiscoverRequestMethod, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, ServerInitializeError, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};

use crate::ask::{Asker, is_modern};
use crate::fixture::Fixture;
use crate::options::Era;
use crate::resources;
use crate::tools::Call;

/// How long clients may keep a list, in milliseconds; short, since lists change here.
const FRESH: u64 = 1_000;

/// Serves one client over standard input and output until it leaves.
///
/// # Errors
///
/// When the client does not speak the protocol.
pub async fn serve_stdio(fixture: Fixture) -> Result<(), std::io::Error> {
    let running = match fixture.serve(rmcp::transport::stdio()).await {
        Ok(running) => running,
        // A client that has looked around and leaves has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(std::io::Error::other(error)),
    };
    running.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.name(), env!("CARGO_PKG_VERSION")))
            .with_instructions("A server for tests. Its tools do what their names say, the bad ones included.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.era() {
            Era::Both | Era::Old => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
            Era::New => Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]),
        }
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        if self.era() == Era::Old {
            return Err(ErrorData::method_not_found::<DiscoverRequestMethod>());
        }
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), self.get_info()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog().get(name).map(|entry| entry.tool.clone())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (tools, next_cursor) = self.page(self.catalog().list(), request)?;
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools).with_ttl_ms(FRESH) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let entry = self.catalog().get(&request.name);
        let entry =
            entry.ok_or_else(|| ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None))?;
        let call = Call {
            fixture: self,
            tool: &entry.origin,
            arguments: request.arguments.unwrap_or_default(),
            responses: request.input_responses,
            state: request.request_state,
            context: &context,
        };
        let mut running = self.count(&request.name);
        let outcome = call.run(entry.group).await;
        running.ended = !context.ct.is_cancelled();
        outcome
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let (prompts, next_cursor) = self.page(self.prompts().list(), request)?;
        Ok(ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(prompts).with_ttl_ms(FRESH) })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let asker = Asker {
            name: &request.name,
            context: &context,
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            seal: self.seal(),
        };
        self.prompts().get(&asker, &request.arguments.unwrap_or_default()).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = request.argument;
        Ok(CompleteResult::new(self.prompts().complete(&request.r#ref, &argument.name, &argument.value)?))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (resources, next_cursor) = self.page(self.resources().list(), request)?;
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources).with_ttl_ms(FRESH) })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (templates, next_cursor) = self.page(resources::templates(), request)?;
        let all = ListResourceTemplatesResult::with_all_items(templates).with_ttl_ms(FRESH);
        Ok(ListResourceTemplatesResult { next_cursor, ..all })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(self.resources().read(&request.uri)?.with_ttl_ms(FRESH).into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes().stream(&subscription).await
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.peer_watches().add(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.peer_watches().remove(&request.uri);
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks().get_task(&request.task_id)?))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.tasks().update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.tasks().cancel_task(&request.task_id)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.set_peer_level(request.level);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.changes().tell(context.peer, self.peer_watches().clone());
    }
}
