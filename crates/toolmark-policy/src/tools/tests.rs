use std::collections::BTreeSet;

use toolmark_core::catalog::Catalog;
use toolmark_core::explain::Explain as _;
use toolmark_core::names::{CanonicalName, PackName};

use super::*;
use crate::pattern::Stance;
use crate::testing::{catalog, pack, small};

fn bound(universe: &Universe<'_>, pattern: &str, stance: Stance) -> Result<Vec<String>, BindError> {
    let tools = universe.bind("rule `r`", pattern, stance)?;
    Ok(tools.into_iter().map(|at| universe.tool(at).unwrap().canonical().to_string()).collect())
}

fn means(catalog: &Catalog, pattern: &str) -> Vec<String> {
    bound(&Universe::new(catalog, &[], &[]), pattern, Stance::Restrictive).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(catalog: &Catalog, pattern: &str) -> (&'static str, String) {
    let error = bound(&Universe::new(catalog, &[], &[]), pattern, Stance::Restrictive).unwrap_err();
    (error.code().as_str(), error.fix())
}

fn name(text: &str) -> CanonicalName {
    text.parse().unwrap()
}

#[test]
fn every_spelling_means_the_same_tool() {
    for spelling in [
        "github.create_issue",
        "github:create_issue",
        "github/create_issue",
        "github__create_issue",
        "mcp__github__create_issue",
        "mcp_github_create_issue",
        "mcp__toolmark__github__create_issue",
        "GitHub.create_issue",
        "mcp__GitHub__create_issue",
    ] {
        assert_eq!(means(&small(), spelling), ["github.create_issue"], "{spelling}");
    }
    for spelling in ["delete_repo", "mcp__toolmark__delete_repo"] {
        assert_eq!(means(&small(), spelling), ["github.delete_repo"], "{spelling}");
    }
}

#[test]
fn wildcards_mean_all_tools_of_a_pack_or_all_packs() {
    let github = ["github.create_issue", "github.delete_repo", "github.merge"];
    for spelling in ["github.*", "github:*", "github/*", "github__*", "mcp__github__*", "mcp__github", "mcp_github_*"] {
        assert_eq!(means(&small(), spelling), github, "{spelling}");
    }
    for spelling in ["*.create_issue", "mcp__*__create_issue", "*:create_*", "create_i*"] {
        assert_eq!(means(&small(), spelling), ["github.create_issue", "gitlab.create_issue"], "{spelling}");
    }
    for spelling in ["*", "*.*", "mcp__*", "mcp__toolmark", "mcp__toolmark__*"] {
        assert_eq!(means(&small(), spelling).len(), 5, "{spelling}");
    }
    assert_eq!(means(&small(), "git*.create_issue"), ["github.create_issue", "gitlab.create_issue"]);
}

#[test]
fn a_pack_that_is_named_like_ourselves_is_not_everything() {
    let catalog = catalog(&[("toolmark", &["a"]), ("other", &["b"])]);
    assert_eq!(refused(&catalog, "mcp__toolmark__*").0, "rule-ambiguous-tool");
    assert_eq!(means(&catalog, "toolmark.*"), ["toolmark.a"]);
}

#[test]
fn a_bare_name_must_have_one_owner() {
    let (code, fix) = refused(&small(), "create_issue");
    assert_eq!(code, "rule-ambiguous-tool");
    assert!(fix.ends_with("github.create_issue\ngitlab.create_issue"), "{fix}");
}

#[test]
fn what_matches_nothing_is_refused_with_what_may_be_meant() {
    for (pattern, suggestion) in [
        ("github.create_isue", "github.create_issue"),
        ("mcp__github__delete_rep", "github.delete_repo"),
        ("delete_repos", "github.delete_repo"),
        ("githb.*", "github.*"),
        ("gitlab.delete_repo", "github.delete_repo"),
    ] {
        let (code, fix) = refused(&small(), pattern);
        assert_eq!(code, "rule-matches-nothing", "{pattern}");
        assert!(fix.contains(suggestion), "{pattern}: {fix}");
    }
    for pattern in ["", ".", "nothing.at.all", "Github", "github.Create_issue", "create_issue.github"] {
        assert_eq!(refused(&small(), pattern).0, "rule-matches-nothing", "{pattern}");
    }
    let (_, fix) = refused(&small(), "mcp__github__merge(base:main)");
    assert!(fix.contains("`arguments`"), "{fix}");
}

#[test]
fn a_text_that_can_be_read_in_two_ways_is_refused() {
    let two = catalog(&[("a", &["b__c"]), ("a__b", &["c"])]);
    assert_eq!(refused(&two, "mcp__a__b__c").0, "rule-ambiguous-tool");
    assert_eq!(means(&two, "a.b__c"), ["a.b__c"]);
    assert_eq!(means(&two, "a__b.c"), ["a__b.c"]);
    let near = catalog(&[("a", &["c_a"]), ("a__c", &["a"])]);
    assert_eq!(means(&near, "a__c.a"), ["a__c.a"]);
    let wrapped = catalog(&[("github", &["merge"]), ("gateway", &["github__merge"])]);
    assert_eq!(refused(&wrapped, "github__merge").0, "rule-ambiguous-tool");
    assert_eq!(refused(&wrapped, "github__*").0, "rule-ambiguous-tool");
}

#[test]
fn packs_are_found_as_other_programs_spell_them_unless_two_look_alike() {
    let one = catalog(&[("my-server", &["read-file", "a.b"])]);
    for spelling in
        ["mcp__My_Server__read-file", "mcp__my-server__read_file", "My Server.read-file", "my_server/read-file"]
    {
        assert_eq!(means(&one, spelling), ["my-server.read-file"], "{spelling}");
    }
    assert_eq!(means(&one, "mcp__my_server__a_b"), ["my-server.a.b"]);
    // Only clients replace characters of a tool's name; a person who writes the pack's name writes the tool's own.
    assert_eq!(refused(&one, "my-server.read_file").0, "rule-matches-nothing");
    let two = catalog(&[("my-server", &["read"]), ("my_server", &["read"])]);
    assert_eq!(refused(&two, "My Server.read").0, "rule-ambiguous-tool");
    assert_eq!(refused(&two, "My Server.*").0, "rule-ambiguous-tool");
    assert_eq!(means(&two, "mcp__my_server__read"), ["my_server.read"]);
    let twins = catalog(&[("s", &["read-file", "read.file"])]);
    assert_eq!(refused(&twins, "mcp__s__read_file").0, "rule-ambiguous-tool");
}

#[test]
fn tools_without_a_pack_are_meant_by_their_name_and_by_stars() {
    let globals = toolmark_core::pack::Pack::without_name(toolmark_core::tool::Source::new("test:own"));
    let own =
        globals.tool(toolmark_core::tool::ToolKind::Function, crate::testing::definition("delete_all", &[])).build();
    let catalog = Catalog::builder().pack(own).pack(pack("s", &["delete_one"])).build().unwrap();
    assert_eq!(means(&catalog, "delete_all"), ["delete_all"]);
    assert_eq!(means(&catalog, "*.delete_*"), ["delete_all", "s.delete_one"]);
    assert_eq!(means(&catalog, "mcp__*"), ["s.delete_one"]);
}

#[test]
fn restrictive_rules_follow_a_rename_and_permissive_ones_do_not() {
    let catalog = catalog(&[("github", &["issue_write"]), ("linear", &["create_issue"])]);
    let former = [
        (name("github.create_issue"), name("github.issue_create")),
        (name("github.issue_create"), name("github.issue_write")),
    ];
    let universe = Universe::new(&catalog, &former, &[]);
    for spelling in ["github.create_issue", "mcp__github__create_issue", "github.issue_create", "GitHub/create_issue"] {
        assert_eq!(bound(&universe, spelling, Stance::Restrictive).unwrap(), ["github.issue_write"], "{spelling}");
        let error = bound(&universe, spelling, Stance::Permissive).unwrap_err();
        assert_eq!(
            (error.code().as_str(), error.fix().as_str()),
            ("rule-matches-nothing", "write `github.issue_write`")
        );
    }
    // The short name has a new owner; who was meant once stays guarded as well.
    let both = ["github.issue_write", "linear.create_issue"];
    assert_eq!(bound(&universe, "create_issue", Stance::Restrictive).unwrap(), both);
    assert_eq!(bound(&universe, "create_issue", Stance::Permissive).unwrap(), ["linear.create_issue"]);
}

#[test]
fn a_rename_that_leads_in_a_circle_leads_nowhere() {
    let catalog = small();
    let former = [(name("x.a"), name("x.b")), (name("x.b"), name("x.a"))];
    let universe = Universe::new(&catalog, &former, &[]);
    assert!(bound(&universe, "x.a", Stance::Restrictive).is_err());
}

#[test]
fn a_pack_that_is_switched_off_or_not_listed_yet_may_be_named() {
    let off = small().with_enabled(&"db".parse().unwrap(), false).unwrap();
    assert_eq!(means(&off, "db.query"), ["db.query"]);
    assert_eq!(means(&off, "query"), ["db.query"]);
    let awaited: [PackName; 1] = ["slack".parse().unwrap()];
    let catalog = small();
    let universe = Universe::new(&catalog, &[], &awaited);
    for pattern in ["slack.*", "mcp__Slack__post", "slack/post", "post"] {
        assert!(bound(&universe, pattern, Stance::Restrictive).unwrap().is_empty(), "{pattern}");
    }
    assert!(bound(&universe, "github.post", Stance::Restrictive).is_err());
    let switched = small().with_enabled(&"gitlab".parse().unwrap(), false).unwrap();
    assert_eq!(means(&switched, "create_issue"), ["github.create_issue"]);
}

#[test]
fn packs_are_bound_by_name() {
    let catalog = catalog(&[("my-server", &["a"])]);
    let universe = Universe::new(&catalog, &[], &[]);
    assert_eq!(universe.bind_pack("policy `p`", "My_Server").unwrap().unwrap().as_str(), "my-server");
    let error = universe.bind_pack("policy `p`", "my-sever").unwrap_err();
    assert!(error.fix().contains("my-server"), "{}", error.fix());
    let all: BTreeSet<_> = universe.bind("r", "my-server.*", Stance::Permissive).unwrap();
    assert_eq!(all.len(), 1);
}
