//! An MCP server that offers everything the protocol has, in both eras, so that the gateway in front of it can be compared with it.

fn main() {}
