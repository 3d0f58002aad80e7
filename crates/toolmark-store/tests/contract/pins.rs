//! Pins.

use serde_json::json;
use sha2::{Digest as _, Sha256};
use toolmark_core::approval::{Ask, AskId, AskKey, AskState, Given, GrantId, Outcome, Ruling, Scope, Way};
use toolmark_core::catalog::Catalog;
use toolmark_core::digest::ArgumentDigest;
use toolmark_core::lock::Pinned;
use toolmark_store::{Change, DefinitionKind, HowPinned, KnownDefinition, Listing, Micros, Store};

use crate::place::Place;

/// What a pack `shop` lists from now on: one tool `buy` with this description.
async fn list(store: &Store, description: &str) {
    let text = json!({"name": "buy", "description": description, "inputSchema": {"type": "object"}}).to_string();
    let digest = Sha256::digest(&text).into();
    let definitions = [KnownDefinition { kind: DefinitionKind::Tool, name: "buy".into(), text, digest }];
    let listing = Listing { pack: "shop", source: "npm:shop", about: None, definitions: &definitions };
    store.replace_definitions(listing).await.expect("listed");
}

async fn seen(store: &Store) -> Catalog {
    store.seen_tools().await.expect("read")
}

async fn buy(store: &Store) -> (String, Pinned) {
    let catalog = seen(store).await;
    let tool = catalog.tools().next().expect("a tool");
    (tool.canonical().to_string(), Pinned::whole(tool))
}

/// What `buy` is with this description.
async fn version(store: &Store, description: &str) -> (String, Pinned) {
    list(store, description).await;
    buy(store).await
}

async fn said(store: &Store) -> Vec<String> {
    let pins = store.pins().await.expect("read");
    pins.iter().map(|pin| pin.pinned.definition().expect("kept").to_string()).collect()
}

pub(crate) async fn a_pin_comes_back_as_it_was_made(place: &impl Place) {
    let store = place.open().await;
    let new = version(&store, "NUL \u{0}, tags \u{e0041} and 🦀").await;
    assert_eq!(store.pin_new(std::slice::from_ref(&new), "node-1").await.expect("pinned"), []);
    let again = place.open().await;
    let pins = again.pins().await.expect("read");
    assert_eq!(pins.len(), 1);
    assert_eq!((&pins[0].tool, &pins[0].pinned), (&new.0, &new.1));
    assert_eq!((pins[0].how, pins[0].by.as_str()), (HowPinned::FirstUse, "node-1"));
    assert_eq!(again.pinned().await.expect("read").get("shop.buy"), Some(&new.1));
}

pub(crate) async fn a_tool_that_is_pinned_is_not_pinned_again_by_being_seen(place: &impl Place) {
    let store = place.open().await;
    let old = version(&store, "old").await;
    store.pin_new(std::slice::from_ref(&old), "one").await.expect("pinned");
    let new = version(&store, "new").await;
    let standing = store.pin_new(&[new], "other").await.expect("asked");
    assert_eq!(standing.len(), 1, "the pin that stands is told");
    assert_eq!((&standing[0].pinned, standing[0].by.as_str()), (&old.1, "one"));
    assert_eq!(store.pins().await.expect("read"), standing);
}

pub(crate) async fn many_who_see_a_tool_at_once_pin_one_version(place: &impl Place) {
    let store = place.open().await;
    let mut versions = Vec::new();
    for number in 0..8 {
        versions.push(version(&store, &format!("version {number}")).await);
    }
    let mut tasks = tokio::task::JoinSet::new();
    for (number, version) in versions.into_iter().enumerate() {
        let store = place.open().await;
        tasks.spawn(async move {
            let standing = store.pin_new(std::slice::from_ref(&version), &format!("node-{number}")).await;
            let standing = standing.expect("asked");
            standing.into_iter().next().map_or(version.1, |pin| pin.pinned)
        });
    }
    let told: Vec<Pinned> = tasks.join_all().await;
    let pins = store.pins().await.expect("read");
    assert_eq!(pins.len(), 1);
    assert!(told.iter().all(|pinned| *pinned == pins[0].pinned), "everybody holds the same one");
}

pub(crate) async fn what_is_accepted_takes_the_place_of_what_was(place: &impl Place) {
    let store = place.open().await;
    let old = version(&store, "old").await;
    store.pin_new(&[old], "node").await.expect("pinned");
    let new = version(&store, "new").await;
    store.accept_pins(std::slice::from_ref(&new), HowPinned::Accepted, "ann").await.expect("accepted");
    let pins = store.pins().await.expect("read");
    assert_eq!(pins.len(), 1);
    assert_eq!((&pins[0].pinned, pins[0].how, pins[0].by.as_str()), (&new.1, HowPinned::Accepted, "ann"));
}

pub(crate) async fn a_pin_that_is_forgotten_is_gone(place: &impl Place) {
    let store = place.open().await;
    let tool = version(&store, "d").await;
    store.pin_new(&[tool], "node").await.expect("pinned");
    assert!(store.forget_pin("shop.buy").await.expect("asked"));
    assert!(!store.forget_pin("shop.buy").await.expect("asked"), "there is none any more");
    assert_eq!(store.pins().await.expect("read"), []);
}

pub(crate) async fn a_change_of_pins_is_told(place: &impl Place) {
    let (one, other) = (place.open().await, place.open().await);
    let tool = version(&other, "d").await;
    let mut changes = one.watch().await.expect("watched");
    other.pin_new(std::slice::from_ref(&tool), "node").await.expect("pinned");
    while changes.next().await.expect("open") != Change::Pins {}
    other.accept_pins(&[tool], HowPinned::Accepted, "ann").await.expect("accepted");
    while changes.next().await.expect("open") != Change::Pins {}
    other.forget_pin("shop.buy").await.expect("forgotten");
    while changes.next().await.expect("open") != Change::Pins {}
}

fn ask(number: u128, code: &str, pinned: &Pinned) -> Ask {
    let (mark, digest) = (pinned.mark(), ArgumentDigest::of(&toolmark_core::json::read("{}").expect("JSON")));
    Ask {
        id: AskId::new(number),
        key: AskKey::of("ann", &mark, &digest, None, "p1"),
        principal: "ann".into(),
        session: None,
        called: "buy".into(),
        canonical: "shop.buy".into(),
        mark,
        behavior: "unknown".into(),
        arguments: "{}".into(),
        digest,
        effects: Vec::new(),
        bound: None,
        reasons: json!([{"code": code, "message": "m"}]),
        changes: Vec::new(),
        task: None,
        policy: "p1".into(),
        created: Micros::new(10),
        expires: Micros::new(1000),
        state: AskState::Pending,
    }
}

async fn answer(store: &Store, ask: &Ask, scope: Scope, pin: bool) {
    store.join_ask(ask, "n1").await.expect("joined");
    let given = Given { by: "bob".into(), way: Way::Cli, at: Micros::new(20), from: None };
    let ruling = Ruling { scope, pin, ..Ruling::once(true, given) };
    let (decided, grant) = ask.settle(&ruling, GrantId::new(ask.id.get() + 500)).expect("settled");
    let made = store.decide_ask(ask.id, &decided, grant.as_ref(), Micros::new(900)).await.expect("asked");
    assert!(matches!(made, Outcome::Made(_)), "{made:?}");
}

pub(crate) async fn a_standing_yes_to_a_first_use_pins_what_was_shown(place: &impl Place) {
    let store = place.open().await;
    let tool = version(&store, "d").await;
    answer(&store, &ask(1, "first-use", &tool.1), Scope::Once, false).await;
    assert_eq!(store.pins().await.expect("read"), [], "once is once");
    answer(&store, &ask(2, "first-use", &tool.1), Scope::Always, false).await;
    let pins = store.pins().await.expect("read");
    assert_eq!(pins.len(), 1);
    assert_eq!((&pins[0].pinned, pins[0].how, pins[0].by.as_str()), (&tool.1, HowPinned::Approval, "bob"));
}

pub(crate) async fn an_answer_about_a_tool_that_changed_since_pins_nothing(place: &impl Place) {
    let store = place.open().await;
    let shown = version(&store, "shown").await;
    list(&store, "another").await;
    answer(&store, &ask(1, "first-use", &shown.1), Scope::Always, true).await;
    assert_eq!(store.pins().await.expect("read"), []);
}

pub(crate) async fn a_change_is_pinned_only_when_somebody_says_so(place: &impl Place) {
    let store = place.open().await;
    let old = version(&store, "old").await;
    store.pin_new(&[old], "node").await.expect("pinned");
    let new = version(&store, "new").await;
    answer(&store, &ask(1, "definition-changed", &new.1), Scope::Always, false).await;
    assert!(said(&store).await[0].contains("old"), "a grant is not a pin");
    answer(&store, &ask(2, "first-use", &new.1), Scope::Always, false).await;
    assert!(said(&store).await[0].contains("old"), "a first use replaces nothing");
    answer(&store, &ask(3, "definition-changed", &new.1), Scope::Once, true).await;
    assert!(said(&store).await[0].contains("new"));
}

pub(crate) async fn tools_are_seen_as_their_packs_last_listed_them(place: &impl Place) {
    let store = place.open().await;
    list(&store, "one").await;
    list(&store, "two").await;
    let catalog = seen(&store).await;
    let tools: Vec<_> = catalog.tools().collect();
    assert_eq!(tools.len(), 1);
    assert_eq!((tools[0].canonical().as_str(), tools[0].source().as_str()), ("shop.buy", "npm:shop"));
    assert!(tools[0].definition().raw_json().contains("two"));
}
