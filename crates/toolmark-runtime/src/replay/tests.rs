use serde_json::json;
use toolmark_core::verdict::Decision;
use toolmark_policy::Rule;

use super::*;
use crate::testing::workspace;

const CALLS: [(&str, &str); 7] = [
    ("db.read_query", r#"{"query":"SELECT * FROM users"}"#),
    ("db.read_query", r#"{"query":"DELETE FROM users"}"#),
    ("db.read_query", r#"{"query":1}"#),
    ("db.write_query", r#"{"query":"DELETE FROM users"}"#),
    ("db.write_query", r#"{"query":"INSERT INTO users VALUES (1)"}"#),
    ("tracker.list_issues", r#"{"state":"open"}"#),
    ("tracker.delete_issue", r#"{"id":7}"#),
];

/// A call as a gateway with these rules would have recorded it.
fn record(rules: Vec<Rule>, tool: &str, text: &str, keep: bool) -> Recorded {
    let workspace = workspace(rules);
    let tool = workspace.catalog().find(tool, |_| true).unwrap();
    let read = json::read(text).unwrap();
    let arguments = read.to_value();
    let request = Request { tool, arguments: &arguments, task: None, caller: Caller::new("alice") };
    let found = workspace.examine(&request).unwrap();
    let rules: Vec<&Value> = found.verdict().reasons().iter().filter_map(|reason| reason.facts.get("rule")).collect();
    Recorded {
        id: 7,
        tool: Some((tool.canonical().as_str().into(), tool.digest())),
        caller: Some("alice".into()),
        session: None,
        task: None,
        verdict: Some(found.verdict().decision()),
        code: found.verdict().deciding().next().map(|reason| reason.code.into()),
        rules: (!rules.is_empty()).then(|| json!(rules).to_string().into()),
        judged: Some(Judged::of(&found, &arguments).to_text().into()),
        digest: Some(ArgumentDigest::of(&read)),
        arguments: keep.then(|| text.into()),
    }
}

fn replay(rules: Vec<Rule>, call: &Recorded) -> Replayed {
    let workspace = workspace(rules);
    let mut replay = Replay::new(&workspace, &|_| false);
    let first = replay.judge(call);
    assert_eq!(replay.judge(call), first, "what was found is found again");
    first
}

fn judgement(replayed: Replayed) -> Judgement {
    match replayed {
        Replayed::Judged(judgement) => judgement,
        Replayed::NotJudged(why) => panic!("{why:?}"),
    }
}

fn rule(verdict: Decision) -> toolmark_policy::RuleBuilder {
    Rule::builder(verdict).id("mine")
}

#[test]
fn under_the_same_policy_nothing_changes_whether_arguments_were_kept_or_not() {
    let rules = || vec![rule(Decision::Ask).tool("tracker.delete_issue").build().unwrap()];
    for (tool, arguments) in CALLS {
        for keep in [true, false] {
            let found = judgement(replay(rules(), &record(rules(), tool, arguments, keep)));
            assert_eq!(found.before, found.after, "{tool} {arguments} {found:?}");
            assert_eq!((found.from_arguments, found.other_definition), (keep, false));
            assert!(found.by.is_empty());
        }
    }
}

#[test]
fn facts_lead_to_the_same_judgement_as_the_arguments_they_came_from() {
    let strict = || {
        vec![
            rule(Decision::Deny).effect("MUTATES|*").build().unwrap(),
            Rule::builder(Decision::Ask).id("reads").behavior("PURE|*|*").build().unwrap(),
        ]
    };
    for (tool, arguments) in CALLS {
        let whole = judgement(replay(strict(), &record(Vec::new(), tool, arguments, true)));
        let facts = judgement(replay(strict(), &record(Vec::new(), tool, arguments, false)));
        assert_eq!(
            (whole.before, whole.after, &whole.by),
            (facts.before, facts.after, &facts.by),
            "{tool} {arguments}"
        );
    }
}

#[test]
fn what_makes_the_difference_is_named() {
    let deny = || vec![rule(Decision::Deny).tool("tracker.list_issues").build().unwrap()];
    let call = record(Vec::new(), "tracker.list_issues", "{}", false);
    let found = judgement(replay(deny(), &call));
    assert_eq!((found.before, found.after), (Decision::Allow, Decision::Deny));
    assert_eq!(found.by, ["rule `mine`".into()]);
    let call = record(deny(), "tracker.list_issues", "{}", false);
    let found = judgement(replay(Vec::new(), &call));
    assert_eq!((found.before, found.after), (Decision::Deny, Decision::Allow));
    assert_eq!(found.by, ["no longer `mine`".into()]);
    let allow = vec![
        rule(Decision::Allow).tool("db.write_query").effect("MUTATES|DELETE").effect("unbounded").build().unwrap(),
    ];
    let call = record(Vec::new(), "db.write_query", r#"{"query":"DELETE FROM users"}"#, false);
    let found = judgement(replay(allow, &call));
    assert_eq!((found.before, found.after), (Decision::Ask, Decision::Allow));
    assert_eq!(found.by, ["allowed by rule `mine`".into()]);
}

#[test]
fn a_rule_about_arguments_that_were_not_kept_is_not_guessed_at() {
    let about = |verdict| vec![rule(verdict).tool("tracker.list_issues").argument("state", "open").build().unwrap()];
    let kept = record(Vec::new(), "tracker.list_issues", r#"{"state":"open"}"#, true);
    assert_eq!(judgement(replay(about(Decision::Deny), &kept)).after, Decision::Deny);
    let gone = Recorded { arguments: None, ..kept.clone() };
    let needed = NotJudged::Arguments(vec!["rule `mine`".into()]);
    assert_eq!(replay(about(Decision::Deny), &gone), Replayed::NotJudged(needed.clone()));
    let cut = Recorded { arguments: Some(r#"{"state":"[redacted]"}"#.into()), ..kept };
    assert_eq!(
        replay(about(Decision::Deny), &cut),
        Replayed::NotJudged(needed),
        "what was blacked out is not the argument"
    );
    assert_eq!(
        judgement(replay(about(Decision::Allow), &gone)).after,
        Decision::Allow,
        "it could only allow what is allowed"
    );
    let mut both = about(Decision::Ask);
    both.push(Rule::builder(Decision::Deny).id("all").tool("tracker.list_issues").build().unwrap());
    assert_eq!(judgement(replay(both, &gone)).after, Decision::Deny, "whatever it says, it is denied");
}

#[test]
fn calls_that_cannot_be_judged_say_why() {
    let call = record(Vec::new(), "tracker.list_issues", "{}", false);
    let gone = (Arc::from("away.tool"), call.tool.clone().unwrap().1);
    for (call, why) in [
        (Recorded { tool: None, ..call.clone() }, NotJudged::NeverJudged),
        (Recorded { verdict: None, ..call.clone() }, NotJudged::NeverJudged),
        (Recorded { tool: Some(gone), ..call.clone() }, NotJudged::NoTool),
        (Recorded { task: Some("unheard-of".into()), ..call.clone() }, NotJudged::NoTask),
        (Recorded { judged: None, ..call.clone() }, NotJudged::NothingKept),
        (Recorded { judged: Some(r#"{"v":9}"#.into()), ..call.clone() }, NotJudged::NotUnderstood),
    ] {
        assert_eq!(replay(Vec::new(), &call), Replayed::NotJudged(why));
    }
}

#[test]
fn a_tool_that_is_not_offered_is_denied_and_one_that_changed_is_counted() {
    let call = record(Vec::new(), "tracker.list_issues", "{}", false);
    let workspace = workspace(Vec::new());
    let found = judgement(Replay::new(&workspace, &|_| true).judge(&call));
    assert_eq!((found.after, &*found.by[0]), (Decision::Deny, "the tool is not offered"));
    let (canonical, _) = call.tool.clone().unwrap();
    let other = format!("sha256:{}", "0".repeat(64)).parse().unwrap();
    let found = judgement(replay(Vec::new(), &Recorded { tool: Some((canonical, other)), ..call }));
    assert!(found.other_definition);
}

#[test]
fn a_report_adds_up_and_keeps_the_oldest_examples() {
    let call = record(Vec::new(), "tracker.list_issues", "{}", false);
    let deny = || vec![rule(Decision::Deny).tool("tracker.list_issues").build().unwrap()];
    let denied = replay(deny(), &call);
    let (mut one, mut other) = (Report::new(2), Report::new(2));
    for id in [5, 6, 7] {
        one.add(&Recorded { id, ..call.clone() }, &denied);
        other.add(&Recorded { id: id - 4, ..call.clone() }, &denied);
    }
    other.add(&call, &replay(Vec::new(), &call));
    other.add(&call, &Replayed::NotJudged(NotJudged::NoTool));
    one.merge(other);
    assert_eq!((one.calls, one.unchanged, one.count(Change::Denied), one.count_not_judged()), (8, 1, 6, 1));
    let tally = one.by_rule.values().next().unwrap();
    assert_eq!((tally.count, &*tally.examples), (6, &[1, 2][..]));
    let shown = one.to_json(|id| id.to_string());
    assert_eq!((&shown["newly_denied"], &shown["by_tool"][0]["tool"]), (&json!(6), &json!("tracker.list_issues")));
}
