//! The OpenAI Agents SDK, exactly as it behaves: for programs that must keep its names, keys and collisions.
//!
//! The rules were observed on `openai-agents` 0.24.0 and are checked against recordings of it (`cargo xtask vectors`).
//! Where it is lax this is lax too; Toolmark's own rules are in [`crate::names`] and [`crate::call`].

mod agent_name;
mod approval;
mod approvals;
mod call_id;
mod collision;
mod hosted;
mod invocation;
mod lookup;
mod loose;
pub mod mcp;
mod naming;
mod python;
mod route;
mod routing;
mod stored_key;
mod tool;
mod wire;

pub use agent_name::{DerivedName, agent_tool_name, handoff_name};
pub use approval::{ApprovalKeyOptions, approval_keys, bare_name_alias_allowed};
pub use approvals::{ApprovalError, ApprovalItem, Approvals, Decision, InvocationLedger, InvocationProgress, Reach};
pub use call_id::{approval_item_call_id, extract_tool_call_id};
pub use collision::{
    Collision, CollisionKind, CollisionPolicy, ResolveCollisionsError, ResolvedCollisions, resolve_tool_name_collisions,
};
pub use hosted::{HostedApprovalIdentity, HostedRequest};
pub use invocation::{
    ApprovalScope, IdentifyInvocationError, InvocationContext, InvocationFingerprint, InvocationIdentity,
    InvocationKind, identify_invocation,
};
pub use lookup::{LookupConfigurationError, build_lookup_map, validate_lookup_configuration};
pub use naming::{
    FallbackNameError, ToolNamespace, ToolNamespaceError, is_apply_patch_name, tool_namespace, validate_fallback_name,
};
pub use route::{Route, RouteError, Routes};
pub use routing::{normalize_tool_call, restore_routing_identity};
pub use stored_key::{deserialize_lookup_key, serialize_lookup_key};
pub use tool::{BuiltIn, FunctionTool, Handoff, Tool};
pub use wire::{QualifiedName, WireName};

#[cfg(test)]
mod tests;
