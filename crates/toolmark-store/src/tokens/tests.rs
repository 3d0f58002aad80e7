use secrecy::ExposeSecret as _;

use super::*;

#[test]
fn a_secret_reads_back_what_it_shows_and_two_are_never_alike() {
    let (one, other) = (TokenSecret::random().expect("entropy"), TokenSecret::random().expect("entropy"));
    let text = one.reveal();
    assert!(text.expose_secret().starts_with("tmk_") && text.expose_secret().len() == 68);
    assert_eq!(TokenSecret::parse(text.expose_secret()).expect("our own text").hash(), one.hash());
    assert_ne!(one.hash(), other.hash());
}

#[test]
fn neither_secret_nor_hash_is_printed_whole() {
    let secret = TokenSecret::random().expect("entropy");
    let shown = format!("{secret:?} {:?} {:?}", secret.reveal(), secret.hash());
    let text = secret.reveal();
    assert!(!shown.contains(&text.expose_secret()[4..]));
    assert!(shown.len() < 100, "{shown}");
}

#[test]
fn text_that_is_nearly_a_secret_is_refused_without_being_repeated() {
    let good = TokenSecret::random().expect("entropy").reveal().expose_secret().to_owned();
    let mut wrong = vec![String::new(), "tmk_".into(), good[1..].into(), good[..67].into(), format!("{good}0")];
    wrong.push(format!("{} ", good));
    wrong.push(format!("{}g", &good[..67]));
    wrong.push(format!("tmk_{}", "A".repeat(64)));
    wrong.push(format!("tmk_{}", "é".repeat(32)));
    for text in wrong {
        let error = TokenSecret::parse(&text).expect_err("not a token");
        assert!(text.len() < 5 || !error.to_string().contains(&text));
    }
}

#[test]
fn a_scope_of_nothing_covers_nothing() {
    assert!(Scope::All.covers("anything"));
    assert!(Scope::only(["read-only"]).covers("read-only"));
    assert!(!Scope::only(["read-only"]).covers("read"));
    assert!(!Scope::only::<&str>([]).covers(""));
}

#[test]
fn a_token_ends_at_its_end_and_not_before() {
    let token = Token {
        id: TokenId::new("a"),
        name: "a".into(),
        tasks: Scope::All,
        profiles: Scope::All,
        created: Micros::new(0),
        last_used: None,
        expires: Some(Micros::new(10)),
        revoked: None,
        approver: false,
    };
    assert_eq!(token.check(Micros::new(9)), Ok(()));
    assert!(matches!(token.check(Micros::new(10)), Err(TokenRefused::Expired(_))));
    let revoked = Token { revoked: Some(Micros::new(5)), ..token };
    assert!(matches!(revoked.check(Micros::new(0)), Err(TokenRefused::Revoked(_))));
}
