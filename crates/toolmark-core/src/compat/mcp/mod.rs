//! MCP tools as the SDK exposes them: under which name, from which server, with which schema, and whether it asks first.

mod all_tools;
mod approval;
mod log_name;
mod prefix;
mod schema;
mod url;

pub use all_tools::{ExposedTool, McpDuplicateNamesError, Server, all_function_tools};
pub use approval::{RequireApprovalError, requires_approval};
pub use log_name::server_log_name;
pub use prefix::{prefixed_base_name, prefixed_tool_names, safe_name_part};
pub use schema::{ToolSchema, tool_schema};

#[cfg(test)]
mod tests;
