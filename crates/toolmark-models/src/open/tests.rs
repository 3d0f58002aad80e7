use super::*;

fn code(name: &str, options: &Options) -> Option<&'static str> {
    let variables = |variable: &str| match variable {
        "OPENAI_API_KEY" | "MY_KEY" => Some("sk-0123456789".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    open(&name.parse().unwrap(), options, &variables).err().map(|error| error.code().as_str())
}

fn at(base_url: &str, key_variable: Option<&str>) -> Options {
    let (base_url, key_variable) = (Some(base_url.to_owned()), key_variable.map(ToOwned::to_owned));
    Options { base_url, key_variable, ..Options::default() }
}

#[test]
fn a_provider_needs_its_key() {
    assert_eq!(code("openai:m", &Options::default()), None);
    assert_eq!(code("anthropic:m", &Options::default()), Some("model-key-missing"));
    let other = Options { key_variable: Some("MY_KEY".into()), ..Options::default() };
    assert_eq!(code("anthropic:m", &other), None);
    let empty = Options { key_variable: Some("EMPTY".into()), ..Options::default() };
    assert_eq!(code("openai:m", &empty), Some("model-key-missing"));
    let header = Options { headers: vec![("X-Api-Key".into(), "k".to_owned().into())], ..Options::default() };
    assert_eq!(code("anthropic:m", &header), None);
}

#[test]
fn a_key_does_not_travel_in_the_clear() {
    assert_eq!(code("openai-chat:m", &at("http://10.0.0.7/v1", Some("MY_KEY"))), Some("model-plain-http"));
    assert_eq!(code("openai-chat:m", &at("http://10.0.0.7/v1", None)), None);
    assert_eq!(code("openai-chat:m", &at("http://127.0.0.1:8080/v1", Some("MY_KEY"))), None);
    let allowed = Options { allow_plain_http: true, ..at("http://10.0.0.7/v1", Some("MY_KEY")) };
    assert_eq!(code("openai-chat:m", &allowed), None);
}

#[test]
fn what_cannot_be_used_has_a_code() {
    assert_eq!(code("openai-chat:m", &at("no address", None)), Some("model-address"));
    let header = Options { headers: vec![("a b".into(), "k".to_owned().into())], ..Options::default() };
    assert_eq!(code("openai:m", &header), Some("model-header"));
    let header = Options { headers: vec![("x".into(), "a\nb".to_owned().into())], ..Options::default() };
    assert_eq!(code("openai:m", &header), Some("model-header"));
    assert_eq!(code("scripted:/no/such/file.json", &Options::default()), Some("model-script-unreadable"));
}
