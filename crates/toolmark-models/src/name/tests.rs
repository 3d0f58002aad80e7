use super::*;

#[test]
fn the_first_colon_divides_provider_and_model() {
    let name: ModelName = "openai-chat:qwen3:8b".parse().unwrap();
    assert_eq!(name.provider(), Provider::OpenAiChat);
    assert_eq!(name.model(), "qwen3:8b");
    assert_eq!(name.to_string(), "openai-chat:qwen3:8b");
    let name: ModelName = "responses:gpt-5".parse().unwrap();
    assert_eq!(name.to_string(), "openai:gpt-5", "the wire format of `openai` has a name of its own");
}

#[test]
fn nothing_is_guessed() {
    for bad in ["", "gpt-5", ":gpt-5", "openai:", "OpenAI:gpt-5", " openai:gpt-5", "openai: gpt-5", "gemini:pro"] {
        assert!(bad.parse::<ModelName>().is_err(), "{bad}");
    }
}

#[test]
fn names_are_written_as_they_are_read() {
    let name: ModelName = serde_json::from_str("\"anthropic:claude-x\"").unwrap();
    assert_eq!(serde_json::to_string(&name).unwrap(), "\"anthropic:claude-x\"");
}
