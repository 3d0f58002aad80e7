//! Changes.

use toolmark_core::exposure::Published;
use toolmark_store::{Change, Changes, KnownNames, NameScope, NewToken, TokenSecret};

use crate::place::Place;

/// Waits until that change is told; whatever else is told does no harm.
async fn hear(changes: &mut Changes, wanted: Change) {
    while changes.next().await.expect("the store is open") != wanted {}
}

pub(crate) async fn changes_by_others_are_told(place: &impl Place) {
    let (one, other) = (place.open().await, place.open().await);
    let mut changes = one.watch().await.expect("watched");
    let secret = TokenSecret::random().expect("entropy");
    let new = NewToken { name: "laptop".into(), ..NewToken::default() };
    let token = other.create_token(&new, &secret).await.expect("made");
    hear(&mut changes, Change::Tokens).await;
    let mut names = Published::default();
    names.remember("a.t", "t");
    let scope = NameScope::new("generic", "tm");
    let saved = other.save_names(&scope, &KnownNames::default(), &names).await.expect("saved");
    assert!(matches!(saved, toolmark_store::Saved::Done(_)));
    hear(&mut changes, Change::Names).await;
    let mut second = other.watch().await.expect("watched by two");
    one.revoke_token(&token.id).await.expect("revoked");
    hear(&mut changes, Change::Tokens).await;
    hear(&mut second, Change::Tokens).await;
}

pub(crate) async fn whoever_watches_a_store_that_closes_is_told(place: &impl Place) {
    let store = place.open().await;
    let mut changes = store.watch().await.expect("watched");
    store.close().await.expect("closed");
    while changes.next().await.is_some() {}
}
