use super::*;

const RETRY: Retry =
    Retry { attempts: 4, first_pause: Duration::from_millis(100), longest_pause: Duration::from_secs(1) };

fn limited(seconds: Option<u64>) -> ModelErrorKind {
    ModelErrorKind::RateLimited { message: String::new(), retry_after: seconds.map(Duration::from_secs) }
}

#[test]
fn pauses_double_and_end() {
    let pause = |attempts| RETRY.pause(attempts, &limited(None), false, 1.0);
    assert_eq!(pause(1), Some(Duration::from_millis(100)));
    assert_eq!(pause(2), Some(Duration::from_millis(200)));
    assert_eq!(pause(3), Some(Duration::from_millis(400)));
    assert_eq!(pause(4), None);
    let patient = Retry { attempts: u32::MAX, ..RETRY };
    assert_eq!(patient.pause(200, &limited(None), false, 1.0), Some(RETRY.longest_pause));
    assert_eq!(RETRY.pause(1, &limited(None), false, 0.0), Some(Duration::from_millis(50)));
}

#[test]
fn the_provider_gets_the_pause_it_asks_for_or_is_left_alone() {
    assert!(RETRY.pause(1, &limited(Some(1)), false, 0.5).unwrap() >= Duration::from_secs(1));
    assert_eq!(RETRY.pause(1, &limited(Some(2)), false, 0.5), None);
    assert!(RETRY.pause(1, &limited(Some(0)), false, 0.5).is_some());
}

#[test]
fn a_provider_that_may_have_acted_is_not_asked_twice() {
    let failed = ModelErrorKind::ServerFailed { status: 500, message: String::new(), retry_after: None };
    let lost = |sent| ModelErrorKind::Unreachable { reason: String::new(), sent };
    assert!(RETRY.pause(1, &failed, false, 0.5).is_some());
    assert!(RETRY.pause(1, &failed, true, 0.5).is_none());
    assert!(RETRY.pause(1, &lost(true), true, 0.5).is_none());
    assert!(RETRY.pause(1, &lost(false), true, 0.5).is_some());
}

#[test]
fn what_will_not_get_better_is_not_asked_again() {
    for error in [
        ModelErrorKind::Auth { status: 401, message: None },
        ModelErrorKind::Quota { message: String::new() },
        ModelErrorKind::BadRequest { status: 400, message: String::new() },
        ModelErrorKind::TooLarge { limit: 1 },
        ModelErrorKind::malformed("x"),
    ] {
        assert_eq!(RETRY.pause(1, &error, false, 0.5), None, "{error}");
    }
}

#[test]
fn every_spelling_of_retry_after_is_read() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_470);
    let read = |name: &'static str, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        asked(&headers, now)
    };
    assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
    assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
    assert_eq!(read("retry-after", "-3"), Some(Duration::ZERO));
    assert_eq!(read("retry-after-ms", "250"), Some(Duration::from_millis(250)));
    assert_eq!(read("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::from_secs(10)));
    assert_eq!(read("retry-after", "Tue, 21 Oct 2014 07:28:00 GMT"), Some(Duration::ZERO));
    for bad in ["soon", "", "NaN", "inf", "1e400"] {
        assert_eq!(read("retry-after", bad), None, "{bad}");
    }
}
