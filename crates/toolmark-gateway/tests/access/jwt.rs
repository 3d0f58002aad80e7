//! Signed tokens: what lets somebody in, and everything near it that does not.

use std::sync::atomic::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::issuer::{AUDIENCE, Issuer, Signer, seconds};
use crate::support::{Answer, Recorded, Running, call, send};

async fn gateway(signers: &[&Signer]) -> (Running, Issuer, Recorded) {
    let (issuer, upstream) = (Issuer::start(signers).await, Recorded::start().await);
    let gateway = Running::start(&format!("{}{}", issuer.config(), upstream.config())).await;
    (gateway, issuer, upstream)
}

fn assert_refused(answer: &Answer, what: &str) {
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{what}: {}", answer.body);
    assert_eq!(answer.code(), "access-token-invalid", "{what}");
    let challenge = answer.header("www-authenticate");
    assert!(challenge.contains(r#"error="invalid_token""#), "{what}: {challenge}");
    assert!(challenge.contains("resource_metadata=\"http://127.0.0.1:"), "{what}: {challenge}");
}

#[tokio::test]
async fn a_good_token_of_every_kind_of_key_lets_its_bearer_in() {
    let kinds = [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::ES384, Algorithm::EdDSA];
    let signers: Vec<Signer> = kinds.iter().map(|kind| Signer::new(&format!("{kind:?}"), *kind)).collect();
    let (gateway, issuer, _upstream) = gateway(&signers.iter().collect::<Vec<_>>()).await;
    for signer in &signers {
        let answer = call(&gateway, "/mcp", Some(&signer.sign(&issuer.claims()))).await;
        assert_eq!(answer.status, StatusCode::OK, "{}: {}", signer.id, answer.body);
        assert_eq!(answer.json()["result"]["isError"], json!(false), "{}", answer.body);
    }
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 1, "keys are kept");
    let several = issuer.claims_with(&json!({ "aud": ["https://other.example.com", AUDIENCE] }));
    assert_eq!(call(&gateway, "/mcp", Some(&signers[0].sign(&several))).await.status, StatusCode::OK);
    gateway.stop().await;
}

#[tokio::test]
async fn claims_that_are_not_for_us_or_not_for_now_are_refused() {
    let signer = Signer::new("one", Algorithm::ES256);
    let (gateway, issuer, upstream) = gateway(&[&signer]).await;
    for (what, claims) in [
        ("another audience", json!({ "aud": "https://other.example.com/mcp" })),
        ("no audience", json!({ "aud": null })),
        ("an audience that ours begins with", json!({ "aud": "https://tools.example.com" })),
        ("another issuer", json!({ "iss": "https://evil.example" })),
        ("no issuer", json!({ "iss": null })),
        ("over", json!({ "exp": seconds(-120) })),
        ("without an end", json!({ "exp": null })),
        ("an end that is no number", json!({ "exp": "never" })),
        ("not yet", json!({ "nbf": seconds(600) })),
        ("of nobody", json!({ "sub": null })),
    ] {
        let token = signer.sign(&issuer.claims_with(&claims));
        assert_refused(&call(&gateway, "/mcp", Some(&token)).await, what);
    }
    // Clocks differ a little.
    let claims = issuer.claims_with(&json!({ "exp": seconds(-5), "nbf": seconds(5) }));
    assert_eq!(call(&gateway, "/mcp", Some(&signer.sign(&claims))).await.status, StatusCode::OK);
    assert_eq!(upstream.called(), 1, "nothing that was refused went on");
    gateway.stop().await;
}

#[tokio::test]
async fn a_token_that_chooses_its_own_check_is_refused() {
    let (rsa, ec) = (Signer::new("rsa", Algorithm::RS256), Signer::new("ec", Algorithm::ES256));
    let (gateway, issuer, _upstream) = gateway(&[&rsa, &ec]).await;
    let claims = issuer.claims();
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let unsigned = |header: Value| format!("{}.{}.", part(&header), part(&claims));
    let good = rsa.sign(&claims);
    let signature = good.rsplit('.').next().expect("a signature");

    // The public key as the secret of a MAC, in every form that a confused reader might take it.
    let public = rsa.public();
    let modulus = URL_SAFE_NO_PAD.decode(public["n"].as_str().expect("a modulus")).expect("base64");
    let header = Header { kid: Some("rsa".to_owned()), ..Header::new(Algorithm::HS256) };
    let mac = |secret: &[u8]| encode(&header, &claims, &EncodingKey::from_secret(secret)).expect("a token");

    let stranger = Signer::new("rsa", Algorithm::RS256);
    let own_key = Header {
        kid: Some("rsa".to_owned()),
        jwk: serde_json::from_value(stranger.public()).ok(),
        jku: Some("http://127.0.0.1:1/keys".to_owned()),
        ..Header::new(Algorithm::RS256)
    };
    let critical =
        Header { kid: Some("rsa".to_owned()), crit: Some(vec!["exp".to_owned()]), ..Header::new(Algorithm::RS256) };
    let ec_as_rsa = Header { kid: Some("ec".to_owned()), ..Header::new(Algorithm::RS256) };
    let mut flipped = good.clone().into_bytes();
    let at = good.find('.').expect("a dot") + 10;
    flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };

    for (what, token) in [
        ("none", unsigned(json!({ "alg": "none", "typ": "JWT" }))),
        ("none with a key", unsigned(json!({ "alg": "none", "kid": "rsa" }))),
        ("NONE", unsigned(json!({ "alg": "NoNe", "kid": "rsa" }))),
        ("no algorithm", unsigned(json!({ "kid": "rsa" }))),
        ("an empty signature", unsigned(json!({ "alg": "RS256", "kid": "rsa" }))),
        ("a signature of other claims", format!("{}{signature}", unsigned(json!({ "alg": "RS256", "kid": "ec" })))),
        ("HS256 with the public key", mac(public.to_string().as_bytes())),
        ("HS256 with the modulus", mac(&modulus)),
        ("HS256 with nothing", mac(b"")),
        ("a key in the token", stranger.sign_with(&own_key, &claims)),
        ("a stranger's key under a known name", stranger.sign(&claims)),
        ("an extension that must be understood", rsa.sign_with(&critical, &claims)),
        ("another kind of key", rsa.sign_with(&ec_as_rsa, &claims)),
        ("no key id where there are two keys", rsa.sign_with(&Header::new(Algorithm::RS256), &claims)),
        ("a changed letter", String::from_utf8(flipped).expect("text")),
        ("two parts", good.rsplit_once('.').expect("three parts").0.to_owned()),
        ("four parts", format!("{good}.{signature}")),
        ("no token at all", "nonsense".to_owned()),
        ("a very long one", "a".repeat(17_000)),
    ] {
        assert_refused(&call(&gateway, "/mcp", Some(&token)).await, what);
    }
    assert_eq!(call(&gateway, "/mcp", Some(&good)).await.status, StatusCode::OK);
    gateway.stop().await;
}

#[tokio::test]
async fn new_keys_are_found_and_withdrawn_ones_are_not_good_any_more() {
    let (old, new) = (Signer::new("old", Algorithm::EdDSA), Signer::new("new", Algorithm::EdDSA));
    let (gateway, issuer, _upstream) = gateway(&[&old]).await;
    let (by_old, by_new) = (old.sign(&issuer.claims()), new.sign(&issuer.claims()));
    assert_eq!(call(&gateway, "/mcp", Some(&by_old)).await.status, StatusCode::OK);
    assert_refused(&call(&gateway, "/mcp", Some(&by_new)).await, "an unknown key");
    issuer.publish(&[&new]);
    assert_eq!(call(&gateway, "/mcp", Some(&by_new)).await.status, StatusCode::OK);
    assert_refused(&call(&gateway, "/mcp", Some(&by_old)).await, "a withdrawn key");
    // Whoever invents keys does not make the gateway ask for ever.
    for number in 0..20 {
        let invented = Signer { id: format!("invented-{number}"), ..old.clone() };
        assert_refused(&call(&gateway, "/mcp", Some(&invented.sign(&issuer.claims()))).await, "an invented key");
    }
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 5);
    gateway.stop().await;
}

#[tokio::test]
async fn while_the_keys_cannot_be_had_known_ones_are_used_and_nobody_else_is_let_in() {
    let (known, unknown) = (Signer::new("known", Algorithm::ES256), Signer::new("unknown", Algorithm::ES256));
    let (gateway, issuer, _upstream) = gateway(&[&known]).await;
    assert_eq!(call(&gateway, "/mcp", Some(&known.sign(&issuer.claims()))).await.status, StatusCode::OK);
    issuer.go_down();
    assert_eq!(call(&gateway, "/mcp", Some(&known.sign(&issuer.claims()))).await.status, StatusCode::OK);
    let answer = call(&gateway, "/mcp", Some(&unknown.sign(&issuer.claims()))).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "access-unavailable"));
    assert_eq!(answer.header("retry-after"), "5");
    gateway.stop().await;

    let (gateway, issuer, _upstream) = self::gateway(&[&known]).await;
    issuer.go_down();
    let answer = call(&gateway, "/mcp", Some(&known.sign(&issuer.claims()))).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
    gateway.stop().await;
}

#[tokio::test]
async fn scopes_allow_the_tasks_they_are_written_for() {
    let signer = Signer::new("one", Algorithm::ES256);
    let (issuer, upstream) = (Issuer::start(&[&signer]).await, Recorded::start().await);
    let scopes = "[gateway.auth.jwt.scopes]\n\"tools:read\" = [\"read-only\"]\n\"tools:all\" = [\"read-only\", \"work\"]\n\
                  [tasks.work]\nexpect = [\"*|*|*\"]\n";
    let config = format!("{}{scopes}{}", issuer.config(), upstream.config());
    let gateway = Running::start(&config).await;
    let token = |scope: Value| signer.sign(&issuer.claims_with(&scope));
    for (scope, path, status) in [
        (json!({ "scope": "tools:read" }), "/mcp/read-only", StatusCode::OK),
        (json!({ "scope": "other tools:read more" }), "/mcp/read-only", StatusCode::OK),
        (json!({ "scp": ["tools:all"] }), "/mcp/work", StatusCode::OK),
        (json!({ "scope": "tools:read" }), "/mcp/work", StatusCode::FORBIDDEN),
        (json!({ "scope": "tools:read" }), "/mcp", StatusCode::FORBIDDEN),
        (json!({ "scope": "tools:all" }), "/mcp", StatusCode::FORBIDDEN),
        (json!({ "scope": "tools:read" }), "/metrics", StatusCode::FORBIDDEN),
        (json!({ "scope": "tools:reader" }), "/mcp/read-only", StatusCode::FORBIDDEN),
        (json!({ "scope": "TOOLS:READ" }), "/mcp/read-only", StatusCode::FORBIDDEN),
        (json!({ "scope": 7 }), "/mcp/read-only", StatusCode::FORBIDDEN),
        (json!({}), "/mcp/read-only", StatusCode::FORBIDDEN),
    ] {
        let shown = token(scope.clone());
        let answer = if path == "/metrics" {
            send(&gateway, Method::GET, path, &[("authorization", &format!("Bearer {shown}"))], &Value::Null).await
        } else {
            call(&gateway, path, Some(&shown)).await
        };
        assert_eq!(answer.status, status, "{scope} at {path}: {}", answer.body);
        if status == StatusCode::FORBIDDEN {
            assert_eq!(answer.code(), "access-scope");
            assert!(answer.header("www-authenticate").contains(r#"error="insufficient_scope""#), "{answer:?}");
        }
    }
    let answer = call(&gateway, "/mcp/work", Some(&token(json!({ "scope": "tools:read" })))).await;
    assert!(answer.header("www-authenticate").contains(r#"scope="tools:all""#), "{answer:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_scope_may_be_for_everything() {
    let signer = Signer::new("one", Algorithm::ES256);
    let (issuer, upstream) = (Issuer::start(&[&signer]).await, Recorded::start().await);
    let scopes = "[gateway.auth.jwt.scopes]\n\"tools:read\" = [\"read-only\"]\n\"tools:all\" = \"*\"\n";
    let gateway = Running::start(&format!("{}{scopes}{}", issuer.config(), upstream.config())).await;
    let token = |scope: &str| signer.sign(&issuer.claims_with(&json!({ "scope": scope })));
    let read = async |path: &str, shown: &str| {
        let shown = format!("Bearer {shown}");
        send(&gateway, Method::GET, path, &[("authorization", &shown)], &Value::Null).await
    };
    for path in ["/mcp", "/mcp/read-only", "/mcp/claude-code"] {
        assert_eq!(call(&gateway, path, Some(&token("tools:all"))).await.status, StatusCode::OK, "{path}");
    }
    assert_eq!(read("/metrics", &token("tools:all")).await.status, StatusCode::OK);
    for (path, scope) in [("/mcp", "tools:all"), ("/mcp/claude-code", "tools:all"), ("/mcp/read-only", "tools:read")] {
        for answer in [call(&gateway, path, None).await, call(&gateway, path, Some(&token("other"))).await] {
            let challenge = answer.header("www-authenticate");
            assert!(challenge.contains(&format!("scope=\"{scope}\"")), "{path}: {challenge}");
        }
    }
    let refused = read("/metrics", &token("tools:read")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.header("www-authenticate").contains("scope=\"tools:all\""), "{refused:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_token_for_the_resource_that_the_metadata_names_is_good_there() {
    let signer = Signer::new("one", Algorithm::ES256);
    let (issuer, upstream) = (Issuer::start(&[&signer]).await, Recorded::start().await);
    let public = "[gateway]\npublic_url = \"https://tools.example.com\"\n";
    let token = |audience: &str| signer.sign(&issuer.claims_with(&json!({ "aud": audience })));
    let resource = async |gateway: &Running, path: &str| {
        let place = format!("/.well-known/oauth-protected-resource{path}");
        send(gateway, Method::GET, &place, &[], &Value::Null).await.json()["resource"]
            .as_str()
            .expect("text")
            .to_owned()
    };
    for (audience, at_all, at_task) in [
        // What the authorization server knows stands for all that is below it.
        (format!("\"{AUDIENCE}\""), AUDIENCE, AUDIENCE),
        (
            format!("[\"toolmark\", \"{AUDIENCE}/read-only\"]"),
            "https://tools.example.com/mcp",
            "https://tools.example.com/mcp/read-only",
        ),
        ("\"toolmark\"".to_owned(), "https://tools.example.com/mcp", "https://tools.example.com/mcp/read-only"),
        // Letters that are the same are not yet an address above it.
        (
            "\"https://tools.example.com/m\"".to_owned(),
            "https://tools.example.com/mcp",
            "https://tools.example.com/mcp/read-only",
        ),
    ] {
        let jwt = format!("[gateway.auth.jwt]\nissuer = \"{}\"\naudience = {audience}\n", issuer.url());
        let gateway = Running::start(&format!("{public}{jwt}{}", upstream.config())).await;
        assert_eq!(resource(&gateway, "/mcp").await, at_all, "{audience}");
        assert_eq!(resource(&gateway, "/mcp/read-only").await, at_task, "{audience}");
        for (path, aud) in [
            ("/mcp", at_all),
            ("/mcp/read-only", at_task),
            ("/mcp/read-only", "https://tools.example.com/mcp/read-only"),
        ] {
            let answer = call(&gateway, path, Some(&token(aud))).await;
            assert_eq!(answer.status, StatusCode::OK, "{audience}, {aud} at {path}: {}", answer.body);
        }
        for aud in [
            "https://tools.example.com/mcp/read-only",
            "https://tools.example.com",
            "https://tools.example.com/mcp/other",
        ] {
            if !audience.contains(&format!("\"{aud}\"")) {
                let answer = call(&gateway, "/mcp", Some(&token(aud))).await;
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{audience}, {aud} at /mcp");
            }
        }
        gateway.stop().await;
    }
    // A host that the client names makes no token good.
    let (gateway, issuer, _upstream) = gateway(&[&signer]).await;
    let own = format!("http://{}/mcp", gateway.address);
    let token = signer.sign(&issuer.claims_with(&json!({ "aud": own })));
    assert_refused(&call(&gateway, "/mcp", Some(&token)).await, "an address that nobody gave us");
    gateway.stop().await;
}

#[tokio::test]
async fn a_client_that_shows_nothing_is_told_where_to_get_a_token() {
    let signer = Signer::new("one", Algorithm::ES256);
    let (gateway, issuer, _upstream) = gateway(&[&signer]).await;
    let base = format!("http://{}", gateway.address);
    for path in ["/mcp", "/mcp/read-only", "/mcp/there-is-no-such-task"] {
        let answer = call(&gateway, path, None).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::UNAUTHORIZED, "access-token-missing"));
        let place = format!("{base}/.well-known/oauth-protected-resource{path}");
        assert_eq!(answer.header("www-authenticate"), format!("Bearer resource_metadata=\"{place}\""));
        let document = send(&gateway, Method::GET, &place[base.len()..], &[], &Value::Null).await;
        assert_eq!(document.status, StatusCode::OK);
        assert_eq!(document.header("content-type"), "application/json");
        let document = document.json();
        assert_eq!(document["resource"], json!(format!("{base}{path}")));
        assert_eq!(document["authorization_servers"], json!([issuer.url()]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
    }
    let whole = send(&gateway, Method::GET, "/.well-known/oauth-protected-resource", &[], &Value::Null).await;
    assert_eq!(whole.json()["resource"], json!(base));
    let figures = send(&gateway, Method::GET, "/metrics", &[], &Value::Null).await;
    assert_eq!(figures.status, StatusCode::UNAUTHORIZED);
    let place = format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource\"");
    assert_eq!(figures.header("www-authenticate"), place, "what is named there exists");
    for path in ["/.well-known/oauth-protected-resource/metrics", "/.well-known/oauth-protected-resourcery"] {
        assert_eq!(send(&gateway, Method::GET, path, &[], &Value::Null).await.status, StatusCode::NOT_FOUND);
    }
    gateway.stop().await;
}
