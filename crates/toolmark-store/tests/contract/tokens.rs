//! Tokens.

use toolmark_core::explain::Explain as _;
use toolmark_store::{Micros, NewToken, Scope, Store, Token, TokenId, TokenRefused, TokenSecret};

use crate::place::Place;

fn secret() -> TokenSecret {
    TokenSecret::random().expect("entropy")
}

fn named(name: &str) -> NewToken {
    NewToken { name: name.into(), ..NewToken::default() }
}

async fn create(store: &Store, new: &NewToken) -> (Token, TokenSecret) {
    let secret = secret();
    (store.create_token(new, &secret).await.expect("a token"), secret)
}

pub(crate) async fn a_token_lets_in_whoever_shows_its_secret(place: &impl Place) {
    place.clock().set(5);
    let new = NewToken {
        name: "laptop".into(),
        tasks: Scope::only(["read-only", "tidy \"up\""]),
        profiles: Scope::only::<&str>([]),
        expires: Some(Micros::new(100)),
        approver: true,
    };
    let (token, shown) = create(&place.open().await, &new).await;
    assert_eq!((token.created, token.expires), (Micros::new(5), Some(Micros::new(100))));
    let store = place.open().await;
    assert_eq!(store.check_token(&shown).await, Ok(token.clone()));
    assert_eq!(store.check_token(&secret()).await, Err(TokenRefused::Unknown));
    let listed = store.tokens().await.expect("tokens");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].token, token);
    assert_eq!(listed[0].hash, shown.hash());
    assert_eq!(token.tasks, new.tasks);
    assert!(token.approver && !create(&store, &named("another")).await.0.approver);
    assert!(!token.profiles.covers("cursor"), "a scope of nothing stays one");
}

pub(crate) async fn a_revoked_token_stays_revoked(place: &impl Place) {
    let store = place.open().await;
    let (token, shown) = create(&store, &named("laptop")).await;
    place.clock().set(9);
    assert!(store.revoke_token(&token.id).await.expect("revoked"));
    place.clock().set(10);
    assert!(!store.revoke_token(&token.id).await.expect("asked"), "it was revoked already");
    assert!(!store.revoke_token(&TokenId::new("nobody")).await.expect("asked"));
    let refused = place.open().await.check_token(&shown).await.expect_err("refused");
    assert_eq!(refused.code().as_str(), "token-revoked");
    let TokenRefused::Revoked(token) = refused else { panic!("{refused}") };
    assert_eq!(token.revoked, Some(Micros::new(9)));
}

pub(crate) async fn a_token_ends_when_its_time_is_over(place: &impl Place) {
    let store = place.open().await;
    let (_, shown) = create(&store, &NewToken { expires: Some(Micros::new(50)), ..named("laptop") }).await;
    place.clock().set(49);
    assert!(store.check_token(&shown).await.is_ok());
    place.clock().set(50);
    let refused = store.check_token(&shown).await.expect_err("its time is over");
    assert_eq!(refused.code().as_str(), "token-expired");
}

pub(crate) async fn two_tokens_with_one_name_are_refused_until_one_is_revoked(place: &impl Place) {
    let store = place.open().await;
    let (first, _) = create(&store, &named("laptop")).await;
    let error = store.create_token(&named("laptop"), &secret()).await.expect_err("taken");
    assert_eq!(error.code().as_str(), "token-name-taken");
    assert!(store.revoke_token(&first.id).await.expect("revoked"));
    create(&store, &named("laptop")).await;
    assert_eq!(store.tokens().await.expect("tokens").len(), 2, "a revoked token stays listed");
}

pub(crate) async fn names_that_cannot_be_read_are_refused(place: &impl Place) {
    let store = place.open().await;
    for name in ["", "   ", "a\nb", "a\u{0}b", "a\u{202e}b", "a\u{200b}b", &"x".repeat(201)] {
        let error = store.create_token(&named(name), &secret()).await.expect_err("no name");
        assert_eq!(error.code().as_str(), "token-name-syntax", "{name:?}");
    }
    assert_eq!(store.tokens().await.expect("tokens"), []);
}

pub(crate) async fn the_version_grows_with_every_change_and_with_no_use(place: &impl Place) {
    let (one, other) = (place.open().await, place.open().await);
    let before = other.tokens_version().await.expect("a version");
    let (token, _) = create(&one, &named("laptop")).await;
    let made = other.tokens_version().await.expect("a version");
    one.tokens_used(&[(token.id.clone(), Micros::new(1))]).await.expect("noted");
    one.create_token(&named("laptop"), &secret()).await.expect_err("taken");
    assert_eq!(other.tokens_version().await.expect("a version"), made);
    one.revoke_token(&token.id).await.expect("revoked");
    let revoked = other.tokens_version().await.expect("a version");
    assert!(before < made && made < revoked, "{before} {made} {revoked}");
}

pub(crate) async fn the_last_use_never_goes_back(place: &impl Place) {
    let store = place.open().await;
    let (token, _) = create(&store, &named("laptop")).await;
    for (at, expected) in [(3, 3), (9, 9), (5, 9)] {
        store.tokens_used(&[(token.id.clone(), Micros::new(at))]).await.expect("noted");
        let row = store.tokens().await.expect("tokens").swap_remove(0);
        assert_eq!(row.token.last_used, Some(Micros::new(expected)));
    }
    store.tokens_used(&[(TokenId::new("nobody"), Micros::new(1))]).await.expect("an unknown one does no harm");
}
