use super::*;

#[test]
fn a_description_is_of_the_server_or_of_a_place_that_holds_it() {
    let server = "https://mcp.example.com/team/mcp";
    for described in [
        "https://mcp.example.com/team/mcp",
        "https://mcp.example.com/team/mcp/",
        "https://mcp.example.com/team",
        "https://mcp.example.com",
        "https://mcp.example.com/",
        "https://MCP.Example.com/team",
    ] {
        assert!(covers(described, server), "{described}");
    }
    for described in [
        "https://mcp.example.com/team/mcp/more",
        "https://mcp.example.com/tea",
        "https://mcp.example.com/TEAM",
        "https://mcp.example.co",
        "https://evil.example",
        "http://mcp.example.com",
        "https://mcp.example.com.evil.example",
        "https:",
        "",
    ] {
        assert!(!covers(described, server), "{described}");
    }
}

#[test]
fn parameters_of_a_challenge_are_found_by_their_whole_name() {
    let challenge =
        r#"Bearer x_scope="no", error="invalid_token", scope="a b", resource_metadata=https://x.example/y, z"#;
    assert_eq!(parameter(challenge, "scope").as_deref(), Some("a b"));
    assert_eq!(parameter(challenge, "resource_metadata").as_deref(), Some("https://x.example/y"));
    assert_eq!(parameter(challenge, "realm"), None);
    assert_eq!(parameter("Bearer", "scope"), None);
}
