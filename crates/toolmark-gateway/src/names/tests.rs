use super::*;
use crate::listing::Tools;

fn three(owner: &str, wanted: &str) -> Wanted {
    in_mode(owner, wanted, Mode::Auto)
}

fn in_mode(owner: &str, wanted: &str, mode: Mode) -> Wanted {
    Wanted { owner: owner.into(), bare: wanted.into(), other: owner.replace('.', "__"), mode }
}

fn given(names: &Names, kind: &str, all: &[Wanted]) -> Vec<String> {
    names.of(kind, all).names.into_iter().map(Option::unwrap_or_default).collect()
}

#[test]
fn the_first_to_be_listed_keeps_its_name_whatever_comes_later() {
    let names = Names::default();
    assert_eq!(given(&names, "prompt", &[three("b.hello", "hello")]), ["hello"]);
    let both = [three("a.hello", "hello"), three("b.hello", "hello")];
    assert_eq!(given(&names, "prompt", &both), ["a__hello", "hello"]);
    assert_eq!(given(&names, "prompt", &both[..1]), ["a__hello"]);
    assert_eq!(given(&names, "resource", &both[..1]), ["hello"]);
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
    assert_eq!(given(&again, "prompt", &[three("a.hello", "hello"), three("b.hello", "hello")]), ["a__hello", "hello"]);
}

#[tokio::test]
async fn a_name_that_another_process_gave_first_moves_and_says_so() {
    let store = crate::tests::store().await;
    let (one, other) = (Names::default(), Names::default());
    one.of("prompt", &[three("a.hello", "hello")]);
    other.of("prompt", &[three("b.hello", "hello")]);
    assert!(!one.save(&store).await);
    assert!(other.save(&store).await);
    assert_eq!(given(&other, "prompt", &[three("b.hello", "hello")]), ["b__hello"]);
}

#[test]
fn a_name_changes_with_the_way_of_naming_and_the_one_before_still_leads_there() {
    let names = Names::default();
    let both = |mode| [in_mode("a.hello", "hello", mode), in_mode("b.hello", "hello", Mode::Auto)];
    assert_eq!(given(&names, "prompt", &both(Mode::Auto)), ["hello", "b__hello"]);
    let changed = names.of("prompt", &both(Mode::Prefixed));
    assert_eq!(changed.names, [Some("a__hello".to_owned()), Some("b__hello".to_owned())]);
    assert_eq!(changed.former, [("hello".to_owned(), "a.hello".to_owned())]);
}

#[test]
fn of_two_that_collide_one_that_must_be_bare_gets_no_name() {
    let names = Names::default();
    let both = [three("a.hello", "hello"), in_mode("b.hello", "hello", Mode::Bare)];
    assert_eq!(names.of("prompt", &both).names, [Some("hello".to_owned()), None]);
}

#[test]
fn names_in_another_way_are_kept_apart_and_those_in_the_usual_one_stay() {
    let name = "a".parse().unwrap();
    let tools = Tools::new(&name, &[r#"{"name": "search", "inputSchema": {"type": "object"}}"#]);
    let listed = crate::listing::Listed { tools, ..Default::default() };
    let pack = listed.pack(&name, None, &toolmark_core::tool::Source::new("test"));
    let catalog = Catalog::builder().pack(pack).build_partly();
    let (names, profile) = (Names::default(), Profile::new(toolmark_core::exposure::ProfileName::Generic));
    let listed = |mode: Mode| {
        let table = names.table(&catalog, &profile, mode, Mode::Auto);
        table.listed().map(|row| row.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(Mode::Auto), ["search"]);
    assert_eq!(listed(Mode::Prefixed), ["a__search"]);
    assert_eq!(listed(Mode::Auto), ["search"]);
    assert_eq!(listed(Mode::Prefixed), ["a__search"]);
    // Names that were written down before ways were kept apart belong to the usual one.
    assert!(names.state().published.contains_key(&NameScope::new("generic", profile.server())));
}
