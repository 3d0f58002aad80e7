use super::*;

fn three(owner: &str, wanted: &str) -> (String, String, String) {
    (owner.into(), wanted.into(), owner.replace('.', "__"))
}

#[test]
fn the_first_to_be_listed_keeps_its_name_whatever_comes_later() {
    let names = Names::default();
    assert_eq!(names.of("prompt", &[three("b.hello", "hello")]), ["hello"]);
    let both = [three("a.hello", "hello"), three("b.hello", "hello")];
    assert_eq!(names.of("prompt", &both), ["a__hello", "hello"]);
    assert_eq!(names.of("prompt", &both[..1]), ["a__hello"]);
    assert_eq!(names.of("resource", &both[..1]), ["hello"]);
}

#[test]
fn of_two_that_gave_one_name_the_one_written_first_keeps_it() {
    let (mut theirs, mut ours) = (Published::default(), Published::default());
    theirs.remember("a.search", "search");
    ours.remember("b.search", "search");
    ours.remember("b.read", "read");
    let merged = merge(&theirs, &ours);
    assert_eq!(merged.current().collect::<Vec<_>>(), [("a.search", "search"), ("b.read", "read")]);
}

#[test]
fn a_name_that_changed_here_is_kept_as_a_former_one() {
    let (mut theirs, mut ours) = (Published::default(), Published::default());
    theirs.remember("a.search", "search");
    ours.remember("a.search", "search");
    ours.remember("a.search", "gh__search");
    let merged = merge(&theirs, &ours);
    assert_eq!(merged.current().collect::<Vec<_>>(), [("a.search", "gh__search")]);
    assert_eq!(merged.former().collect::<Vec<_>>(), [("search", "a.search")]);
}

#[tokio::test]
async fn names_survive_a_restart() {
    let store = crate::tests::store().await;
    let names = Names::default();
    names.of("prompt", &[three("b.hello", "hello")]);
    assert!(names.is_unsaved());
    assert!(!names.save(&store).await);
    assert!(!names.is_unsaved());
    let again = Names::recall(&store).await.unwrap();
    assert_eq!(again.of("prompt", &[three("a.hello", "hello"), three("b.hello", "hello")]), ["a__hello", "hello"]);
}

#[tokio::test]
async fn a_name_that_another_process_gave_first_moves_and_says_so() {
    let store = crate::tests::store().await;
    let (one, other) = (Names::default(), Names::default());
    one.of("prompt", &[three("a.hello", "hello")]);
    other.of("prompt", &[three("b.hello", "hello")]);
    assert!(!one.save(&store).await);
    assert!(other.save(&store).await);
    assert_eq!(other.of("prompt", &[three("b.hello", "hello")]), ["b__hello"]);
}
