use super::*;

type C = Condition<u8>;

async fn holds(condition: C, input: u8) -> bool {
    condition.holds(&input, false).await
}

fn even() -> C {
    C::when(|input| input % 2 == 0)
}

fn small() -> C {
    C::when_later(|input| async move { input < 10 })
}

#[tokio::test]
async fn conditions_combine() {
    for (input, both, one) in [(4, true, true), (14, false, true), (3, false, true), (15, false, false)] {
        assert_eq!(holds(even().and(small()), input).await, both, "{input}");
        assert_eq!(holds(even().or(small()), input).await, one, "{input}");
    }
}

#[tokio::test]
async fn what_is_always_so_changes_nothing_or_decides() {
    assert!(holds(even().and(C::fixed(true)), 2).await);
    assert!(!holds(even().and(C::fixed(false)), 2).await);
    assert!(!holds(even().or(C::fixed(false)), 3).await);
    assert!(holds(even().or(C::fixed(true)), 3).await);
    assert_eq!(C::from(true).and(C::from(true)).as_fixed(), Some(true));
    assert_eq!(even().as_fixed(), None);
}

#[tokio::test]
async fn a_condition_that_panics_is_what_is_safe() {
    let broken = || C::when(|_| panic!("broken"));
    let broken_later = || C::when_later(|_| async { panic!("broken") });
    let broken_before = || C::when_later(|_| -> std::future::Ready<bool> { panic!("broken") });
    for condition in [broken(), broken_later(), broken_before()] {
        assert!(condition.holds(&1, true).await);
        assert!(!condition.holds(&1, false).await);
    }
}
