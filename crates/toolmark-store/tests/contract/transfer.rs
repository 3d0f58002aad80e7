//! Everything out and in again.

use std::time::Duration;

use toolmark_core::approval::{Ask, AskId, AskKey, AskState, Given, GrantId, Ruling, Scope, Way};
use toolmark_core::digest::{ArgumentDigest, Mark};
use toolmark_core::explain::Explain as _;
use toolmark_core::exposure::Published;
use toolmark_runtime::sessions::{Claimed, SessionKeeper as _};
use toolmark_store::audit::{AuditFilter, AuditRecord, Bodies, Order, Outcome, ResultDigest, SinkSettings};
use toolmark_store::transfer::{ImportStoreError, Imported};
use toolmark_store::{
    DefinitionKind, KnownDefinition, KnownNames, Listing, Micros, NameScope, NewToken, Settings, Store, TakenThread,
    ThreadClaim, TokenSecret,
};

use crate::place::Place;

async fn export(store: &Store) -> Vec<u8> {
    let mut out = Vec::new();
    let done = store.export(&mut out, |_| {}).await.expect("exported");
    assert_eq!(done.bytes, out.len() as u64);
    out
}

async fn import(store: &Store, text: &[u8]) -> Result<Imported, ImportStoreError> {
    store.import(&mut &*text, |_| {}).await
}

async fn elsewhere() -> Store {
    Store::in_memory(&Settings::new(|| Micros::new(0))).await.expect("a store")
}

fn ask(number: u128) -> Ask {
    let mark: Mark = format!("tm1:{}", "ab".repeat(32)).parse().expect("a mark");
    let digest = ArgumentDigest::of(&toolmark_core::json::read("{}").expect("JSON"));
    Ask {
        id: AskId::new(number),
        key: AskKey::of("ann \u{0}", &mark, &digest, None, &number.to_string()),
        principal: "ann \u{0}".into(),
        session: None,
        called: "delete".into(),
        canonical: "shop.delete".into(),
        mark,
        behavior: "MUTATES|DELETE|RECORD".into(),
        arguments: "{}".into(),
        digest,
        effects: Vec::new(),
        bound: None,
        reasons: serde_json::json!([]),
        changes: Vec::new(),
        task: None,
        policy: "p1".into(),
        created: Micros::new(10),
        expires: Micros::new(1000),
        state: AskState::Pending,
    }
}

/// A store with something of everything; names and texts that are hard to keep.
async fn filled(store: &Store) -> TokenSecret {
    let mut names = Published::default();
    for name in ["a.t", "b.naïve \u{1f980} \"name\"", "c.\u{0}\u{10fffe}", "Z.t", "_.t"] {
        names.remember(name, &name.replace('.', "__"));
    }
    names.remember("a.t", "renamed");
    for scope in [NameScope::new("generic", "tm"), NameScope::new("cursor", ""), NameScope::new("Generic", "\u{0}")] {
        let _ = store.save_names(&scope, &KnownNames::default(), &names).await.expect("saved");
    }
    store.add("chat \u{0}", &["{\"a\": 1}".into(), "b \u{10fffe}".into()]).await.expect("added");
    let claim = ThreadClaim { thread: "agui:[]", owner: "me \u{0}", most: 9, holder: "h", until: Micros::new(9) };
    assert_eq!(store.take_thread(claim).await.expect("taken"), TakenThread::Ours { waits: None, forgotten: 0 });
    let claimed = store.claim("held", "run-1", None, false).await.expect("claimed");
    assert_eq!(claimed, Claimed::Ours(Vec::new()));
    for version in ["1", "2"] {
        let text = format!("{{\"version\": {version}, \"odd\": \"\u{10fffe}\"}}");
        let definition = |name: &str, digest| KnownDefinition {
            kind: DefinitionKind::Tool,
            name: name.into(),
            text: text.clone(),
            digest,
        };
        let definitions =
            [definition("t", [version.len() as u8; 32]), definition("\u{0}", [version.as_bytes()[0]; 32])];
        let listing = Listing { pack: "a", source: "stdio:\u{0}", about: Some("{}"), definitions: &definitions };
        store.replace_definitions(listing).await.expect("replaced");
    }
    let secret = TokenSecret::random().expect("entropy");
    let new = NewToken { name: "laptop".into(), tasks: toolmark_store::Scope::only(["x"]), ..NewToken::default() };
    store.create_token(&new, &secret).await.expect("made");
    let given = Given { by: "bob".into(), way: Way::Cli, at: Micros::new(20), from: None };
    for number in 1..=3 {
        let joined = store.join_ask(&ask(number), "n1").await.expect("joined");
        let ruling = Ruling { scope: Scope::Always, ..Ruling::once(true, given.clone()) };
        if number == 2 {
            let (decided, grant) = joined.ask.settle(&ruling, GrantId::new(7)).expect("settled");
            let _ = store.decide_ask(joined.ask.id, &decided, grant.as_ref(), Micros::new(50)).await.expect("decided");
        }
    }
    for node in ["n\u{e9}", "n1", "N1"] {
        let sink = store.audit_sink(SinkSettings { linger: Duration::ZERO, ..SinkSettings::new(node) });
        for number in 0..300u64 {
            let id = uuid::Uuid::from_u128(u128::from(number) << 70);
            let outcome = if number % 100 == 7 { Outcome::Intent } else { Outcome::Ok };
            let record = AuditRecord::new(id, Micros::new(number as i64), "to\u{0}ol".into(), outcome);
            let bodies = Box::new(Bodies { arguments: Some(format!("{{\"n\":{number}}}").into()), result: None });
            let bodies = (number % 3 == 0).then_some(bodies);
            let result = match number % 3 {
                0 => None,
                1 => Some(ResultDigest::Sha256([number as u8; 32])),
                _ => Some(ResultDigest::Blake3([number as u8; 32])),
            };
            sink.record(AuditRecord { bodies, result, arguments_size: Some(u64::MAX - number), ..record })
                .await
                .expect("taken");
        }
        sink.close().await.expect("written");
    }
    store.trim_audit(Micros::new(5)).await.expect("trimmed");
    store.trim_bodies(Micros::new(10)).await.expect("trimmed");
    secret
}

pub(crate) async fn a_store_that_was_taken_along_is_the_same_store(place: &impl Place) {
    // From here to elsewhere, and from elsewhere to here: whatever back end it is, the bytes are the same.
    let (first, second) = (elsewhere().await, place.open().await);
    let secret = filled(&first).await;
    let before = export(&first).await;
    let done = import(&second, &before).await.expect("imported");
    assert_eq!(done.records, 3 * 295);
    let after = export(&place.open().await).await;
    assert!(before == after, "{}\n{}", String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
    let found = second.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole(), "{:?}", found.breaks);
    assert_eq!(found, first.verify_audit(&[]).await.expect("verified"));
    assert_eq!(
        second.check_token(&secret).await.expect("it lets in"),
        first.check_token(&secret).await.expect("it lets in")
    );
    assert_eq!(second.grants(true).await.expect("grants"), first.grants(true).await.expect("grants"));
    for scope in first.name_scopes().await.expect("scopes") {
        assert_eq!(second.names(&scope).await.expect("names"), first.names(&scope).await.expect("names"));
    }
    assert_eq!(second.definitions("a").await.expect("a pack"), first.definitions("a").await.expect("a pack"));
    assert_eq!(second.history("a").await.expect("history"), first.history("a").await.expect("history"));
    let every = |store: &Store| {
        let filter = AuditFilter { bodies: true, rows: true, node: Some("n1".into()), ..AuditFilter::default() };
        store.audit(filter, Order::Oldest).all()
    };
    assert_eq!(every(&second).await.expect("records"), every(&first).await.expect("records"));
    // It goes on where it was.
    let sink = second.audit_sink(SinkSettings::new("n1"));
    let id = uuid::Uuid::from_u128(9);
    sink.record_strictly(AuditRecord::new(id, Micros::new(9), "tool".into(), Outcome::Ok)).await.expect("written");
    assert!(second.verify_audit(&[]).await.expect("verified").is_whole());
    let third = elsewhere().await;
    import(&third, &export(&second).await).await.expect("and on to the next");
    assert!(third.verify_audit(&[]).await.expect("verified").is_whole());
}

pub(crate) async fn only_an_empty_store_takes_another(place: &impl Place) {
    let text = export(&elsewhere().await).await;
    let store = place.open().await;
    import(&store, &text).await.expect("nothing is taken along");
    filled(&store).await;
    let before = export(&store).await;
    let error = import(&store, &before).await.expect_err("refused");
    assert_eq!(error.code().as_str(), "store-import-not-empty");
    assert!(export(&store).await == before);
}

/// Belongs to a node that is not there.
const NOBODYS: &str = r#"{"kind":"audit-open","node":"nobody","id":"00000000-0000-0000-0000-000000000000","seq":1}"#;

/// With a last line that tells of the others.
fn sealed(text: &str) -> String {
    use sha2::Digest as _;
    let at = text.rfind("{\"kind\":\"end\"").expect("an end");
    let before = &text[..at];
    let digest: String = sha2::Sha256::digest(before.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let rows = before.lines().count() - 1;
    format!("{before}{{\"kind\":\"end\",\"rows\":{rows},\"sha256\":\"{digest}\"}}\n")
}

pub(crate) async fn an_export_that_was_touched_is_refused_and_nothing_is_kept(place: &impl Place) {
    let from = elsewhere().await;
    filled(&from).await;
    let text = String::from_utf8(export(&from).await).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines.insert(at, line);
        joined(&lines)
    };
    let last = lines.len() - 1;
    let token = lines.iter().position(|line| line.starts_with(r#"{"kind":"token""#)).expect("a token");
    let cases = [
        (String::new(), "store-import-format"),
        ("something else\n".into(), "store-import-format"),
        ("{\"kind\":\"toolmark-store\"}\n".into(), "store-import-format"),
        (text.replacen("\"format\":1", "\"format\":2", 1), "store-import-newer"),
        (text.replacen("\"version\":", "\"version\":9", 1), "store-import-newer"),
        (joined(&lines[..last]), "store-import-broken"),
        (text[..text.len() - 1].to_owned(), "store-import-broken"),
        (text[..text.len() / 2].to_owned(), "store-import-broken"),
        (text.replacen("laptop", "laptoq", 1), "store-import-broken"),
        (joined(&[&lines[..token], &lines[token + 1..]].concat()), "store-import-broken"),
        (with(last + 1, "{}"), "store-import-broken"),
        (with(5, "not JSON"), "store-import-line"),
        (with(5, r#"{"kind":"counter","name":"tokens"}"#), "store-import-line"),
        (with(5, r#"{"kind":"from-the-future","x":1}"#), "store-import-kind"),
        (sealed(&with(token, lines[token])), "store-import-row"),
        (sealed(&with(last, NOBODYS)), "store-import-row"),
    ];
    let store = place.open().await;
    for (text, code) in cases {
        let error = import(&store, text.as_bytes()).await.expect_err(code);
        assert_eq!(error.code().as_str(), code, "{error}");
        assert!(!error.report().to_string().is_empty());
    }
    assert_eq!(store.tokens().await.expect("tokens"), [], "nothing was kept");
    assert_eq!(sealed(&text), text);
    import(&store, text.as_bytes()).await.expect("the one that nobody touched");
}
