//! One caller who takes too much, and the others, who do not notice.

use http::StatusCode;

use crate::support::{Recorded, Running, call, named};

#[tokio::test]
async fn a_caller_that_has_too_many_calls_under_way_waits_and_others_do_not() {
    let upstream = Recorded::start().await;
    let config = format!("[gateway.auth]\ntokens = true\n[gateway.limits]\nconcurrency = 2\n{}", upstream.config());
    let gateway = Running::start(&config).await;
    let (one, other) = (gateway.token(named("one")).await, gateway.token(named("other")).await);
    upstream.hold();
    let held = async { tokio::join!(call(&gateway, "/mcp", Some(&one)), call(&gateway, "/mcp", Some(&one))) };
    let rest = async {
        upstream.calls(2).await;
        let refused = call(&gateway, "/mcp", Some(&one)).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{}", refused.body);
        assert_eq!((refused.header("retry-after"), refused.code().as_str()), ("1", "caller-limit"));
        let unharmed = async {
            upstream.calls(3).await;
            upstream.let_go();
        };
        let (answer, ()) = tokio::join!(call(&gateway, "/mcp", Some(&other)), unharmed);
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    };
    let ((first, second), ()) = tokio::join!(held, rest);
    assert_eq!((first.status, second.status), (StatusCode::OK, StatusCode::OK));
    assert_eq!(call(&gateway, "/mcp", Some(&one)).await.status, StatusCode::OK, "its places are free again");
    gateway.stop().await;
}

#[tokio::test]
async fn a_caller_that_is_too_fast_is_told_when_to_come_again_and_others_are_served() {
    let upstream = Recorded::start().await;
    let config = format!("[gateway.auth]\ntokens = true\n[gateway.limits]\nrate = \"3/h\"\n{}", upstream.config());
    let gateway = Running::start(&config).await;
    let (one, other) = (gateway.token(named("one")).await, gateway.token(named("other")).await);
    for _ in 0..3 {
        assert_eq!(call(&gateway, "/mcp", Some(&one)).await.status, StatusCode::OK);
    }
    let before = upstream.called();
    for path in ["/mcp", "/mcp/read-only"] {
        let refused = call(&gateway, path, Some(&one)).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::TOO_MANY_REQUESTS, "caller-limit"));
        let wait: u64 = refused.header("retry-after").parse().expect("seconds");
        assert!((1..=1200).contains(&wait), "{wait}");
    }
    assert_eq!(upstream.called(), before, "nothing that was refused went on");
    assert_eq!(call(&gateway, "/mcp", Some(&other)).await.status, StatusCode::OK);
    // Somebody without a token takes nothing from those who have one.
    assert_eq!(call(&gateway, "/mcp", None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(call(&gateway, "/mcp", Some(&other)).await.status, StatusCode::OK);
    gateway.stop().await;
}
