//! Does a rule match a call? A restrictive rule does when any part of the call does, a permissive one only when all parts do; where
//! that cannot be told, a restrictive rule says so.

use serde_json::Value;
use toolmark_core::facts::{Effect, Facts, Reading};

use super::Rule;
use crate::pattern::{ArgumentPath, ArgumentPattern, EffectWord, Stance, cover, is_trusted};
use crate::request::{Caller, Request};

/// What came of comparing a rule with a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Match<'a> {
    /// A condition does not hold.
    No,
    /// All conditions hold, or may: this one cannot be told. Only for restrictive rules.
    CannotTell(Doubt),
    /// All conditions hold. The effect is the first that was meant, where effects are named.
    Yes(Option<&'a Effect>),
}

/// What cannot be told about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Nobody knows what the tool does.
    Behavior,
    /// An argument holds a program that was not understood.
    Effect,
}

impl Rule {
    /// Compares everything but the tool's name, which was settled when the policy was loaded.
    pub(crate) fn matches<'a>(&self, request: &Request<'a>) -> Match<'a> {
        let rest = self.matches_but_for_arguments(request);
        let arguments = || self.arguments.iter().all(|one| argument_matches(one, request, self.stance()));
        if rest == Match::No || !arguments() { Match::No } else { rest }
    }

    /// Compares everything but the tool's name and the arguments.
    pub(crate) fn matches_but_for_arguments<'a>(&self, request: &Request<'a>) -> Match<'a> {
        if !self.is_for_caller(request.caller) || !self.is_for_task(request.task) {
            return Match::No;
        }
        let behavior = self.matches_behavior(request);
        if behavior == Match::No {
            return Match::No;
        }
        let effect = self.matches_effect(request.facts);
        if effect == Match::No {
            return Match::No;
        }
        match (behavior, effect) {
            (Match::CannotTell(doubt), _) => Match::CannotTell(doubt),
            _ => effect,
        }
    }

    fn is_for_caller(&self, caller: Caller<'_>) -> bool {
        self.caller.is_empty() || self.caller.iter().any(|pattern| pattern.matches(caller))
    }

    fn is_for_task(&self, task: Option<&str>) -> bool {
        self.task.is_empty() || task.is_some_and(|task| self.task.iter().any(|glob| glob.matches(task)))
    }

    fn matches_behavior(&self, request: &Request<'_>) -> Match<'static> {
        if self.behavior.is_empty() {
            return Match::Yes(None);
        }
        let known = request.behavior;
        let behavior = known.behavior_of(request.arguments);
        let is_meant = behavior.is_some_and(|behavior| self.behavior.iter().any(|pattern| pattern.matches(&behavior)));
        match self.stance() {
            // Invariant: what a publisher alone claims, or somebody disputes, makes no call less guarded.
            Stance::Permissive if is_meant && is_trusted(known) => Match::Yes(None),
            Stance::Permissive => Match::No,
            Stance::Restrictive if is_meant => Match::Yes(None),
            Stance::Restrictive => {
                let open = self.behavior.iter().any(|pattern| pattern.may_match(behavior.as_ref(), known));
                if open { Match::CannotTell(Doubt::Behavior) } else { Match::No }
            }
        }
    }

    fn matches_effect<'a>(&self, facts: &'a Facts) -> Match<'a> {
        if self.effect.is_empty() {
            return Match::Yes(None);
        }
        let unclear = facts.unclear().next().is_some();
        let names_unclear = self.effect.iter().any(|pattern| pattern.names(EffectWord::Unclear));
        match self.stance() {
            Stance::Restrictive => {
                let touched = |effect: &&Effect| self.effect.iter().any(|pattern| pattern.touches(effect));
                match facts.effects().find(touched) {
                    Some(effect) => Match::Yes(Some(effect)),
                    None if unclear && names_unclear => Match::Yes(None),
                    None if unclear => Match::CannotTell(Doubt::Effect),
                    None => Match::No,
                }
            }
            // Without a program in the arguments there is no effect that could be covered.
            Stance::Permissive => {
                let something = unclear || facts.effects().next().is_some();
                let covered = something
                    && (!unclear || names_unclear)
                    && facts.effects().all(|effect| cover(&self.effect, effect));
                if covered { Match::Yes(facts.effects().next()) } else { Match::No }
            }
        }
    }
}

fn argument_matches((path, pattern): &(ArgumentPath, ArgumentPattern), request: &Request<'_>, stance: Stance) -> bool {
    // Invariant: `allow` for the command `git *` does not cover `git status; rm -rf /`. The star says nothing about statements.
    let to_the_letter = stance == Stance::Permissive && holds_several_statements(path, request.facts);
    let meets = |value: Option<&Value>| match value {
        Some(value) if to_the_letter => pattern.matches_to_the_letter(value),
        Some(value) => pattern.matches(value, stance),
        None => pattern.matches_absence(stance),
    };
    let (mut any, mut all) = (false, true);
    path.visit(request.arguments, &mut |value| {
        let met = meets(value);
        any |= met;
        all &= met;
        match stance {
            Stance::Restrictive => !met,
            Stance::Permissive => met,
        }
    });
    match stance {
        Stance::Restrictive => any,
        Stance::Permissive => any && all,
    }
}

/// True when an argument under this path carries more than one statement, or one that was not understood.
fn holds_several_statements(path: &ArgumentPath, facts: &Facts) -> bool {
    facts.parts().iter().any(|part| {
        let several = match &part.reading {
            Reading::Understood(effects) => effects.len() > 1,
            Reading::CannotTell { .. } => true,
        };
        several && path.argument().is_none_or(|name| first_segment(&part.pointer).is_none_or(|own| own == name))
    })
}

/// The argument that a pointer begins with; `None` for one that points at all of them or is escaped.
fn first_segment(pointer: &str) -> Option<&str> {
    let first = pointer.strip_prefix('/')?.split('/').next()?;
    (!first.contains('~')).then_some(first)
}
