use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn dutch() -> LanguageTag {
    "nl".parse().unwrap()
}

fn read(text: &str, format: LocaleFormat) -> Result<LocaleFile, Vec<Problem>> {
    LocaleFile::read(text, "locales/nl", dutch(), format)
}

fn texts(file: &LocaleFile) -> Vec<(Subject, Kind, &str)> {
    file.entries().iter().map(|entry| (entry.of.clone(), entry.kind, entry.text.as_str())).collect()
}

/// The lines at which something is wrong.
fn lines(text: &str, format: LocaleFormat) -> Vec<usize> {
    let problems = read(text, format).map(|_| ()).unwrap_err();
    problems.iter().map(|problem| problem.place().unwrap().line).collect()
}

#[test]
fn fluent_gives_names_spoken_texts_and_categories() {
    let file = read(
        "# Voor vertalers\n\nagora--search_regulations = Zoeken in regelgeving\n    .spoken = Ik ga de regelgeving\n      doorzoeken\n    .category = Regelgeving\n\n\
         -agora = AGORA\nagent--inspector = Inspecteur\n    .handoff = Overdragen aan de inspecteur\nquoted = { \"{x} \\u00e9\" }\n",
        LocaleFormat::Fluent,
    )
    .unwrap();
    let message = || Subject::Message("agora--search_regulations".into());
    assert_eq!(
        texts(&file),
        [
            (message(), Kind::Name, "Zoeken in regelgeving"),
            (message(), Kind::Spoken, "Ik ga de regelgeving doorzoeken"),
            (message(), Kind::Category, "Regelgeving"),
            (Subject::Pack("agora".into()), Kind::Name, "AGORA"),
            (Subject::Agent("inspector".into()), Kind::Name, "Inspecteur"),
            (Subject::Handoff("inspector".into()), Kind::Name, "Overdragen aan de inspecteur"),
            (Subject::Message("quoted".into()), Kind::Name, "{x} é"),
        ]
    );
    assert_eq!(file.entries()[0].place.line, 3);
}

#[test]
fn toml_gives_the_same() {
    let file = read(
        "[tools]\n\"agora.search_regulations\" = \"Zoeken\"\n[tools.\"agora.read\"]\nname = \"Lezen\"\nspoken = \"Ik lees\"\n[packs]\nagora = \"AGORA\"\n[agents.inspector]\nhandoff = \"Overdragen\"\n",
        LocaleFormat::Toml,
    )
    .unwrap();
    assert_eq!(
        texts(&file),
        [
            (Subject::Tool("agora.search_regulations".into()), Kind::Name, "Zoeken"),
            (Subject::Tool("agora.read".into()), Kind::Name, "Lezen"),
            (Subject::Tool("agora.read".into()), Kind::Spoken, "Ik lees"),
            (Subject::Pack("agora".into()), Kind::Name, "AGORA"),
            (Subject::Handoff("inspector".into()), Kind::Name, "Overdragen"),
        ]
    );
}

#[test]
fn every_mistake_has_its_line() {
    assert_eq!(lines("a = A\n= x\n", LocaleFormat::Fluent), [2]);
    assert_eq!(lines("a = A\na = B\n", LocaleFormat::Fluent), [2]);
    assert_eq!(lines("a = { $name }\nb = { -pack }\nc = C\n    .other = x\n", LocaleFormat::Fluent), [1, 2, 4]);
    assert_eq!(lines("a = A\nb = x\u{202e}y\n", LocaleFormat::Fluent), [2]);
    assert_eq!(lines(&format!("a = {}\n", "x".repeat(81)), LocaleFormat::Fluent), [1]);
    assert_eq!(lines(&format!("a = {}\n", "{".repeat(100)), LocaleFormat::Fluent), [1]);
    assert_eq!(lines("[tools]\n\"a.b\" = 7\n\"a.c\" = { nam = \"x\" }\n[tool]\n", LocaleFormat::Toml), [2, 3, 4]);
    assert_eq!(lines("[tools]\n\"a.b\" = \n", LocaleFormat::Toml), [2]);
    assert_eq!(lines("[tools]\n\"a.b\" = \" \"\n", LocaleFormat::Toml), [2]);
}

#[test]
fn the_language_is_the_last_part_of_the_name() {
    let language = |path: &str| LocaleFile::language_of(Path::new(path)).map(|tag| tag.to_string());
    assert_eq!(language("locales/nl.ftl").unwrap(), "nl");
    assert_eq!(language("agora.zh-hant.toml").unwrap(), "zh-Hant");
    assert_eq!(language("names.ftl").unwrap_err().code().as_str(), "locale-file-name");
    assert!(language("nl_BE.ftl").is_err());
    assert!(language(".ftl").is_err());
}

#[test]
fn a_canonical_name_becomes_an_identifier() {
    assert_eq!(message_id("github.merge_pull_request"), "github--merge_pull_request");
    assert_eq!(message_id("x.a.b/c"), "x--a_u2e_b_u2f_c");
    assert_eq!(message_id("1st"), "u_1st");
    assert_eq!(message_id("agent.ask"), "u_agent--ask");
}

fn put(text: &str, format: LocaleFormat, more: &[(Subject, Kind, &str)]) -> String {
    let known = read(text, format).unwrap();
    let more: BTreeMap<(Subject, Kind), String> =
        more.iter().map(|(subject, kind, text)| ((subject.clone(), *kind), (*text).to_owned())).collect();
    edit(text, format, Some(&known), &more).unwrap()
}

#[test]
fn a_changed_file_keeps_what_nobody_changed() {
    let before = "# Comment\n\na--one = Een\n    .spoken = Bezig\n\n# Two\na--two = Twee\n    meer\n\n### End\n";
    let tool = |name: &str| Subject::Tool(name.into());
    let after = put(
        before,
        LocaleFormat::Fluent,
        &[(tool("a.one"), Kind::Name, "Eén"), (tool("a.three"), Kind::Name, "Drie {x}")],
    );
    assert_eq!(
        after,
        "# Comment\n\na--one = Eén\n    .spoken = Bezig\n\n# Two\na--two = Twee\n    meer\n\n### End\n\na--three = { \"Drie {x}\" }\n"
    );
    assert_eq!(texts(&read(&after, LocaleFormat::Fluent).unwrap()).len(), 4);
    let before = "# Comment\n[tools]\n\"a.one\" = \"Een\" # one\n\n[tools.\"a.two\"]\nname = \"Twee\"\n";
    let after = put(
        before,
        LocaleFormat::Toml,
        &[
            (tool("a.one"), Kind::Spoken, "Bezig"),
            (tool("a.two"), Kind::Name, "2"),
            (Subject::Pack("a".into()), Kind::Name, "A"),
        ],
    );
    assert!(after.starts_with("# Comment\n[tools]\n"), "{after}");
    let file = read(&after, LocaleFormat::Toml).unwrap();
    assert_eq!(
        texts(&file),
        [
            (tool("a.one"), Kind::Name, "Een"),
            (tool("a.one"), Kind::Spoken, "Bezig"),
            (tool("a.two"), Kind::Name, "2"),
            (Subject::Pack("a".into()), Kind::Name, "A"),
        ]
    );
}

proptest! {
    #[test]
    fn reading_never_panics(text in "(\\PC|[a-z={}.\"\\[\\]# \n-]){0,200}") {
        let _ = read(&text, LocaleFormat::Fluent);
        let _ = read(&text, LocaleFormat::Toml);
    }

    #[test]
    fn what_is_written_is_read_again(name in "[\\PC]{1,60}", raw in "[a-zA-Z0-9_./ -]{1,20}", toml in any::<bool>()) {
        let name = display::safe(&name, display::NAME);
        prop_assume!(unsafe_text(&name, Kind::Name).is_none());
        let format = if toml { LocaleFormat::Toml } else { LocaleFormat::Fluent };
        let canonical = format!("pack.{raw}");
        let text = put("", format, &[(Subject::Tool(canonical.clone()), Kind::Name, &name), (Subject::Tool(canonical), Kind::Spoken, &name)]);
        let file = read(&text, format).unwrap();
        prop_assert_eq!(file.entries().len(), 2);
        prop_assert!(file.entries().iter().all(|entry| entry.text == name), "{}", text);
    }
}

#[test]
fn what_packs_offer_beside_tools_has_names_and_nothing_else() {
    let fluent =
        read("prompt--agora--plan_visit = Bezoek\nresource--agora--file_u3a_x = Regels\n", LocaleFormat::Fluent)
            .unwrap();
    assert_eq!(
        texts(&fluent),
        [
            (Subject::Message(offer_id(Offered::Prompt, "agora", "plan_visit")), Kind::Name, "Bezoek"),
            (Subject::Message(offer_id(Offered::Resource, "agora", "file:x")), Kind::Name, "Regels"),
        ]
    );
    assert_eq!(lines("prompt--agora--a = Bezoek\n    .spoken = Ik plan\n", LocaleFormat::Fluent), [2]);
    let tables = read(
        "[prompts]\n\"agora.plan_visit\" = \"Bezoek\"\n[templates.\"agora.x://{id}\"]\nname = \"Sjabloon\"\n",
        LocaleFormat::Toml,
    )
    .unwrap();
    assert_eq!(
        texts(&tables),
        [
            (Subject::Offer(Offered::Prompt, "agora.plan_visit".into()), Kind::Name, "Bezoek"),
            (Subject::Offer(Offered::Template, "agora.x://{id}".into()), Kind::Name, "Sjabloon"),
        ]
    );
    assert_eq!(lines("[resources.\"a.b\"]\nspoken = \"x\"\n", LocaleFormat::Toml), [2]);
    // A tool of a pack that is called like a kind is not taken for one.
    assert_eq!(message_id("prompt.docs--x"), "u_prompt--docs--x");
    assert_eq!(message_id("prompts.x"), "prompts--x");
}

#[test]
fn names_of_offers_are_written_into_both_kinds_of_files() {
    let texts = BTreeMap::from([
        ((Subject::Offer(Offered::Prompt, "agora.plan visit".into()), Kind::Name), "Bezoek".to_owned()),
        ((Subject::Offer(Offered::Resource, "agora.file:///x.md".into()), Kind::Name), "Regels".to_owned()),
    ]);
    for format in [LocaleFormat::Fluent, LocaleFormat::Toml] {
        let written = edit("", format, None, &texts).unwrap();
        let again = read(&written, format).unwrap();
        assert_eq!(again.entries().len(), 2, "{written}");
        assert_eq!(edit(&written, format, Some(&again), &texts).unwrap(), written);
    }
}
