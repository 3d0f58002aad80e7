use super::*;

fn prompt(text: &'static str) -> Offer {
    offer(Bytes::from_static(text.as_bytes()), "name").unwrap()
}

#[tokio::test]
async fn what_a_server_said_of_itself_is_remembered_with_its_lists() {
    let store = crate::tests::store().await;
    let (pack, source) = ("p".parse().unwrap(), Source::new("test"));
    let listed = Listed {
        prompts: vec![prompt(r#"{"name":"a"}"#)],
        completes: true,
        reads: true,
        instructions: instructions(br#""Be brief.\n""#),
        ..Listed::default()
    };
    assert_eq!(listed.instructions.as_deref(), Some("Be brief."));
    listed.save(&store, &pack, &source).await.unwrap();
    assert_eq!(Listed::recall(&store, &pack, &source).await.unwrap(), Some(listed));
}

#[tokio::test]
async fn of_two_with_one_name_neither_is_remembered() {
    let store = crate::tests::store().await;
    let (pack, source) = ("p".parse().unwrap(), Source::new("test"));
    let prompts = vec![prompt(r#"{"name":"a"}"#), prompt(r#"{"name":"b"}"#), prompt(r#"{"name":"a","title":"x"}"#)];
    let listed = Listed { prompts, ..Listed::default() };
    listed.save(&store, &pack, &source).await.unwrap();
    let recalled = Listed::recall(&store, &pack, &source).await.unwrap().unwrap();
    assert_eq!(recalled.prompts, [prompt(r#"{"name":"b"}"#)]);
    let problems: Vec<_> = crate::offers::problems(&pack, &listed).iter().map(|one| one.code().to_string()).collect();
    assert_eq!(problems, ["offered-twice"]);
}

#[test]
fn instructions_have_an_end_and_hide_nothing() {
    assert_eq!(instructions(b"\"  \""), None);
    assert_eq!(instructions(b"7"), None);
    assert_eq!(instructions("\"a\u{202e}b\"".as_bytes()).as_deref(), Some("a\\u{202e}b"));
    let long = format!("\"{}\"", "x".repeat(5_000));
    assert!(instructions(long.as_bytes()).unwrap().ends_with("(3000 more characters)"));
}
