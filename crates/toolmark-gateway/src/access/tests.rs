use std::time::{Duration, SystemTime};

use http::HeaderValue;
use secrecy::ExposeSecret as _;
use toolmark_store::{Micros, NewToken, Settings, TokenSecret};

use super::*;

async fn shown(access: &Access, token: &str, task: Option<&str>) -> Result<Arc<str>, http::StatusCode> {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).expect("a header"));
    let binding = Binding { task: task.map(str::to_owned), profile: None };
    let admitted = access.admit(&Uri::from_static("/mcp"), &headers, &binding).await;
    admitted.map(|admitted| Arc::clone(&admitted.principal)).map_err(|refusal| refusal.response().status())
}

#[tokio::test]
async fn a_token_is_good_from_the_moment_it_exists() {
    let store = Store::in_memory(&Settings::new(|| Micros::from(SystemTime::now()))).await.expect("a store");
    let auth = GatewayAuth { tokens: true, jwt: None };
    let access = Access::of(&auth, Some(store.clone()), None).expect("access");
    for name in ["one", "two", "three"] {
        // Whatever was read for a stranger a moment ago knows nothing of the token that comes next.
        let stranger = TokenSecret::random().expect("random numbers");
        let refused = shown(&access, stranger.reveal().expose_secret(), None).await;
        assert_eq!(refused, Err(http::StatusCode::UNAUTHORIZED));
        let secret = TokenSecret::random().expect("random numbers");
        let new = NewToken { name: name.into(), ..NewToken::default() };
        store.create_token(&new, &secret).await.expect("a token");
        let admitted = shown(&access, secret.reveal().expose_secret(), None).await;
        assert_eq!(admitted.as_deref(), Ok(format!("token:{name}").as_str()));
    }
}

#[test]
fn a_token_lets_in_where_it_is_for_and_until_it_is_revoked_or_over() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Store::in_memory(&Settings::new(|| Micros::from(SystemTime::now()))).await.expect("a store");
        let auth = GatewayAuth { tokens: true, jwt: None };
        let mut access = Access::of(&auth, Some(store.clone()), None).expect("access");
        if let Some(tokens) = &mut access.tokens {
            tokens.fresh = Duration::ZERO;
        }
        let secrets: Vec<_> = (0..4).map(|_| TokenSecret::random().expect("random numbers")).collect();
        let texts: Vec<_> = secrets.iter().map(|secret| secret.reveal().expose_secret().to_owned()).collect();
        let new = |name: &str| NewToken { name: name.into(), ..NewToken::default() };
        let good = store.create_token(&new("good"), &secrets[0]).await.expect("a token");
        let over = NewToken { expires: Some(Micros::new(1)), ..new("over") };
        store.create_token(&over, &secrets[1]).await.expect("a token");
        let some = NewToken { tasks: Scope::only(["triage"]), ..new("some") };
        store.create_token(&some, &secrets[2]).await.expect("a token");
        assert_eq!(shown(&access, &texts[0], None).await.as_deref(), Ok("token:good"));
        assert_eq!(shown(&access, &texts[1], None).await, Err(http::StatusCode::UNAUTHORIZED));
        assert_eq!(shown(&access, &texts[2], Some("triage")).await.as_deref(), Ok("token:some"));
        assert_eq!(shown(&access, &texts[2], Some("other")).await, Err(http::StatusCode::FORBIDDEN));
        assert_eq!(shown(&access, &texts[2], None).await, Err(http::StatusCode::FORBIDDEN));
        assert_eq!(shown(&access, &texts[3], None).await, Err(http::StatusCode::UNAUTHORIZED));
        assert!(store.revoke_token(&good.id).await.expect("revoked"));
        assert_eq!(shown(&access, &texts[0], None).await, Err(http::StatusCode::UNAUTHORIZED));
    });
}
