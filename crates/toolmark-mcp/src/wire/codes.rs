//! Which JSON-RPC code says what? All numbers that Toolmark sends or understands stand here and nowhere else.

use super::version::Era;

/// The text is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The text is JSON, but not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method. MCP also uses it for an unknown tool, prompt or cursor.
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed that the caller cannot mend.
pub const INTERNAL_ERROR: i64 = -32603;
/// The resource does not exist; only before 2026-07-28.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// A page in a browser has to be visited first (2025-11-25).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// A header of a request does not say what its body says (2026-07-28).
pub const HEADER_MISMATCH: i64 = -32020;
/// The client lacks a capability that the request needs (2026-07-28).
pub const MISSING_CAPABILITY: i64 = -32021;
/// The server does not speak the version that the request names (2026-07-28).
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The code for a resource that does not exist, which changed with 2026-07-28.
#[must_use]
pub const fn resource_not_found(era: Era) -> i64 {
    match era {
        Era::Session => RESOURCE_NOT_FOUND,
        Era::Stateless => INVALID_PARAMS,
    }
}

/// Whether only a server of 2026-07-28 or later would answer with this code. An answer with such a code proves the era.
#[must_use]
pub const fn is_modern(code: i64) -> bool {
    matches!(code, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION)
}
