//! Wire formats that know functions only: what of a tool they cannot be told.

use crate::item::Wire;
use crate::tool::FunctionTool;
use crate::unsendable::UnsendableError;

/// The tool, unless it has something that this format has no word for and whose loss would change what the tool is.
pub(crate) fn plain_function(wire: Wire, tool: &FunctionTool) -> Result<&FunctionTool, UnsendableError> {
    let problem = if tool.namespace().is_some() {
        "the namespace"
    } else if tool.defer_loading {
        "the deferred loading"
    } else if tool.allowed_callers.is_some() {
        "the allowed callers"
    } else if tool.output_schema.is_some() {
        "the output schema"
    } else {
        return Ok(tool);
    };
    Err(UnsendableError::tool(wire, &tool.name, problem))
}
