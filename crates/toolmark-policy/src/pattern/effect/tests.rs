use super::*;

fn patterns(texts: &[&str]) -> Vec<EffectPattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn a_pattern_names_what_is_done_or_what_is_dangerous() {
    let drop = Effect::mutating(Action::Delete, "drops a table").unbounded();
    let peek = Effect::pure(Action::Read, "reads /etc/shadow").with(Danger::Secret);
    for (pattern, on_drop, on_peek) in [
        ("*", true, true),
        ("MUTATES|DELETE", true, false),
        ("MUTATES|DELETE|*", true, false),
        ("*|CREATE,DELETE", true, false),
        ("PURE|*", false, true),
        ("unbounded", true, false),
        ("secret", false, true),
        ("unclear", false, false),
    ] {
        let parsed: EffectPattern = pattern.parse().unwrap();
        assert_eq!((parsed.touches(&drop), parsed.touches(&peek)), (on_drop, on_peek), "{pattern}");
        assert_eq!(parsed.to_string().parse(), Ok(parsed), "{pattern}");
    }
}

#[test]
fn a_permissive_rule_must_name_every_danger() {
    let peek = Effect::pure(Action::Read, "reads /etc/shadow").with(Danger::Secret);
    let drop = Effect::mutating(Action::Delete, "drops a table").unbounded();
    assert!(!cover(&patterns(&["PURE|*"]), &peek));
    assert!(!cover(&patterns(&["secret"]), &peek));
    assert!(cover(&patterns(&["PURE|*", "secret"]), &peek));
    assert!(!cover(&patterns(&["MUTATES|*", "secret"]), &drop));
    assert!(cover(&patterns(&["MUTATES|*", "unbounded"]), &drop));
    assert!(cover(&patterns(&["*"]), &peek) && cover(&patterns(&["*"]), &drop));
}

#[test]
fn every_danger_has_a_word() {
    // A danger that is added makes this fail to compile; its word belongs into `EffectWord::ALL`.
    let next = |danger: Danger| match danger {
        Danger::Secret => Some(Danger::Escape),
        Danger::Escape => Some(Danger::Exhaustion),
        Danger::Exhaustion => Some(Danger::Outward),
        Danger::Outward => Some(Danger::Code),
        Danger::Code => Some(Danger::Privilege),
        Danger::Privilege => None,
    };
    for danger in std::iter::successors(Some(Danger::Secret), |danger| next(*danger)) {
        assert!(EffectWord::ALL.contains(&EffectWord::Danger(danger)), "{danger:?}");
        assert!(danger.as_str().parse::<EffectPattern>().is_ok());
    }
}

#[test]
fn what_no_effect_can_match_is_refused() {
    for bad in ["", "delete", "MUTATES", "MUTATES|GONE", "PURE|DELETE", "MUTATES|DELETE|ISSUE", "a|b|c|d"] {
        let error = bad.parse::<EffectPattern>().unwrap_err();
        assert_eq!(error.code().as_str(), "rule-syntax", "{bad}");
    }
}
