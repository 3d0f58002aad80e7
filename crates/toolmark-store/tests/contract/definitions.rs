//! Last known definitions.

use toolmark_store::{DefinitionKind, KnownDefinition, KnownPack, Listing, Micros, Store};

use crate::place::Place;

fn definition(kind: DefinitionKind, name: &str, text: &str) -> KnownDefinition {
    let mut digest = [0; 32];
    for (at, byte) in text.bytes().enumerate() {
        digest[at % 32] ^= byte.wrapping_add(at as u8);
    }
    KnownDefinition { kind, name: name.into(), text: text.into(), digest }
}

fn tool(name: &str, text: &str) -> KnownDefinition {
    definition(DefinitionKind::Tool, name, text)
}

async fn replace(store: &Store, definitions: &[KnownDefinition]) {
    let listing = Listing { pack: "github", source: "npm:server", about: Some("{\"v\":1}"), definitions };
    store.replace_definitions(listing).await.expect("replaced");
}

async fn known(store: &Store) -> Vec<KnownDefinition> {
    store.definitions("github").await.expect("definitions").expect("a known pack").1
}

pub(crate) async fn definitions_come_back_byte_for_byte_and_in_order(place: &impl Place) {
    place.clock().set(7);
    let listed = [
        tool("zeta", "{ \"name\" : \"zeta\",\n\t\"x\": 1.0 }"),
        tool("alpha", "{\"name\":\"alpha\",\"d\":\"\\u0000 é \u{1f980}\"}"),
        definition(DefinitionKind::Prompt, "alpha", "{\"name\":\"alpha\"}"),
        definition(DefinitionKind::Resource, "file:///a b", "{}"),
        definition(DefinitionKind::Template, "file:///{x}", "{}"),
        // A server that lists one name twice is refused elsewhere; here nothing it said is lost.
        tool("zeta", "{\"name\":\"zeta\",\"second\":true}"),
    ];
    replace(&place.open().await, &listed).await;
    let store = place.open().await;
    let (pack, definitions) = store.definitions("github").await.expect("definitions").expect("a known pack");
    assert_eq!(definitions, listed);
    let expected = KnownPack {
        pack: "github".into(),
        source: "npm:server".into(),
        about: Some("{\"v\":1}".into()),
        seen: Micros::new(7),
    };
    assert_eq!(pack, expected);
    assert_eq!(store.packs().await.expect("packs"), [expected]);
    assert_eq!(store.definitions("gitlab").await.expect("definitions"), None);
}

pub(crate) async fn a_new_listing_replaces_the_old_one_whole(place: &impl Place) {
    let store = place.open().await;
    replace(&store, &[tool("a", "1"), tool("b", "2"), tool("c", "3")]).await;
    let now = [tool("c", "3"), tool("a", "changed")];
    replace(&store, &now).await;
    assert_eq!(known(&place.open().await).await, now);
    replace(&store, &[]).await;
    assert_eq!(known(&place.open().await).await, []);
}

pub(crate) async fn the_same_listing_again_only_says_when(place: &impl Place) {
    let store = place.open().await;
    let listed = [tool("a", "1"), tool("b", "2")];
    place.clock().set(1);
    replace(&store, &listed).await;
    let history = store.history("github").await.expect("history");
    place.clock().set(2);
    replace(&store, &listed).await;
    assert_eq!(store.history("github").await.expect("history"), history);
    assert_eq!(store.packs().await.expect("packs")[0].seen, Micros::new(2));
    assert_eq!(known(&store).await, listed);
}

pub(crate) async fn digests_that_were_replaced_are_remembered(place: &impl Place) {
    let store = place.open().await;
    for (at, listed) in
        [vec![tool("a", "1"), tool("b", "2")], vec![tool("a", "3")], vec![tool("a", "1")]].iter().enumerate()
    {
        place.clock().set(at as i64);
        replace(&store, listed).await;
    }
    let history = place.open().await.history("github").await.expect("history");
    let mut short: Vec<_> = history
        .iter()
        .map(|one| (one.name.as_str(), one.digest, one.first_seen.get(), one.replaced.map(Micros::get)))
        .collect();
    short.sort();
    let digest = |text: &str| tool("", text).digest;
    let mut expected = [
        ("a", digest("1"), 0, Some(1)),
        ("a", digest("3"), 1, Some(2)),
        ("a", digest("1"), 2, None),
        ("b", digest("2"), 0, Some(1)),
    ];
    expected.sort();
    assert_eq!(short, expected);
    assert_eq!(history[0].first_seen, Micros::new(2), "newest first");
}

pub(crate) async fn history_has_an_end(place: &impl Place) {
    let store = place.open().await;
    for version in 0..50 {
        replace(&store, &[tool("a", &version.to_string()), tool("still", "the same")]).await;
    }
    let history = store.history("github").await.expect("history");
    let of = |name: &str| history.iter().filter(|one| one.name == name).count();
    assert_eq!(of("a"), 32);
    assert_eq!(of("still"), 1, "what is listed now is never forgotten");
    assert_eq!(history.iter().filter(|one| one.replaced.is_none()).count(), 2);
    assert!(history.iter().any(|one| one.digest == tool("", "49").digest), "the newest are kept");
}

pub(crate) async fn a_pack_that_is_forgotten_leaves_nothing(place: &impl Place) {
    let store = place.open().await;
    replace(&store, &[tool("a", "1")]).await;
    assert!(store.forget_pack("github").await.expect("forgotten"));
    assert!(!store.forget_pack("github").await.expect("asked"));
    assert_eq!(store.definitions("github").await.expect("definitions"), None);
    assert_eq!(store.history("github").await.expect("history"), []);
}
