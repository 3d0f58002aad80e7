//! The rules, as data: what each looks for, why that matters, and how to fix it. `docs/lint.md` has a section for each.

use std::fmt;
use std::str::FromStr;

use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    id: &'static str,
    severity: Severity,
    summary: &'static str,
    why: &'static str,
    fix: &'static str,
}

/// A word that names no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no lint rule `{0}`")]
pub struct ParseRuleIdError(String);

macro_rules! rules {
    ($($name:ident = $id:literal, $severity:ident, $summary:literal, $why:literal, $fix:literal;)+) => {
        /// Which rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum RuleId {
            $(#[doc = concat!("`", $id, "`: ", $summary, ".")] $name),+
        }

        impl RuleId {
            /// Every rule, in the order of [`rules`].
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The rule.
            #[must_use]
            pub const fn rule(self) -> &'static Rule {
                match self {
                    $(Self::$name => {
                        &Rule { id: $id, severity: Severity::$severity, summary: $summary, why: $why, fix: $fix }
                    })+
                }
            }
        }
    };
}

rules! {
    CatalogProblem = "catalog-problem", High,
        "a definition or a pack could not be taken into the catalog",
        "what was left out cannot be called, and what stood beside it may be something else than was meant",
        "follow the fix of the error that is quoted";
    SharedName = "shared-name", Medium,
        "several packs have a tool of the same name",
        "a client that shows bare names keeps one of them, often the last that was loaded, and rules written for one apply to the other",
        "call them by their canonical names, `pack.tool`, or give a pack a prefix";
    NameAfterSanitizing = "name-after-sanitizing", High,
        "different names become the same once a client has replaced the characters that it does not take",
        "clients turn `-`, `.` and everything else that they refuse into `_`; of two tools that end up with one name, one is never reached",
        "rename one of the tools so that they differ in more than separators and case";
    NameAfterShortening = "name-after-shortening", High,
        "different names become the same once a client has cut them to its limit",
        "clients that cut long names call whichever tool they saw first or last",
        "shorten the names where they begin alike, so that they differ within the limit";
    NameRefused = "name-refused", Medium,
        "some clients refuse the name",
        "one name that is too long or holds a character that the provider refuses can fail the whole request, with every other tool in it",
        "rename the tool to at most 49 of the characters A-Z, a-z, 0-9, `_` and `-`, or let Toolmark expose it under a shortened name";
    SameSchema = "same-schema", High,
        "tools of one pack take exactly the same arguments and do different things",
        "arguments that were meant for one are valid for the other: nothing but the name keeps a call that should read from one that deletes",
        "declare a behavior for each of them, so that the gate can tell them apart, or give the dangerous one a parameter of its own, such as `confirm`";
    AnnotationsMissing = "annotations-missing", Low,
        "tools say nothing about whether they only read",
        "clients must assume the worst and ask for every call, or assume the best and ask for none",
        "set `readOnlyHint`, and `destructiveHint` for tools that write, on the server; or declare behaviors under `[packs.<pack>.tools.<tool>]`";
    AnnotationsContradict = "annotations-contradict", High,
        "what a tool says about itself does not agree",
        "clients skip their question for a tool that claims to only read; a wrong claim lets a write through",
        "correct the hints on the server, or declare the behavior under `[packs.<pack>.tools.<tool>]`";
    BehaviorDisputed = "behavior-disputed", High,
        "what is claimed of a tool is contradicted",
        "a claim that is false lets a write pass as a read; while the two disagree, the tool asks before every call",
        "read what the tool does, and declare the behavior under `[packs.<pack>.tools.<tool>]`, or correct the hints on the server";
    BehaviorUndeclared = "behavior-undeclared", Medium,
        "tools change something, and nobody declares it",
        "rules and tasks then rest on what the classifier makes of names and descriptions, and clients cannot ask before a write",
        "declare what each does under `[packs.<pack>.tools.<tool>]`, or publish hints and `_meta[\"dev.toolmark/behavior\"]` on the server";
    BehaviorByArgument = "behavior-by-argument", Medium,
        "one tool reads or writes, as an argument says",
        "a rule, a hint or an approval for the tool covers its writes as well as its reads",
        "declare the worst of it, so that every call is guarded alike; or leave it as it is and write rules for its argument";
    BehaviorNotSeparated = "behavior-not-separated", Low,
        "tools of one pack share their arguments and their behavior",
        "neither validation nor an expectation can tell a call of one from a call of the other; only rules that name the tool can",
        "declare all seven fields, so that the target tells them apart, `MUTATES|DELETE|ACK|NONE|label|NEUTRAL|NAMED`; or give them different parameters";
    HiddenCharacters = "hidden-characters", High,
        "a definition holds characters that nobody sees",
        "the model reads them and the reviewer does not: what was approved is not what is obeyed",
        "remove the characters on the server; do not approve the tool before";
    BidirectionalCharacters = "bidirectional-characters", High,
        "a definition holds characters that reorder the text on the screen",
        "what a person reads is not what the model reads, nor what is compared",
        "remove the characters on the server; do not approve the tool before";
    LookAlikeName = "look-alike-name", High,
        "a name looks like another",
        "a person who approves or writes a rule takes one for the other",
        "rename the tool with plain letters, or leave it out: `deny = [\"…\"]` under its pack";
    InstructsModel = "instructs-model", High,
        "a definition gives the model instructions that are not about how to use the tool",
        "a description is part of the prompt: whoever writes it can make the model read files, hide calls or prefer a tool",
        "read the quoted text; ask the publisher to describe the tool instead, or leave it out: `deny = [\"…\"]` under its pack";
    SchemaInvalid = "schema-invalid", Medium,
        "a schema is not a valid JSON Schema, or contradicts itself",
        "validators disagree on what it means: some refuse every call, some check nothing",
        "correct the schema on the server";
    SchemaMissing = "schema-missing", Medium,
        "a tool has no input schema",
        "nothing can be checked: whatever the model writes is sent on",
        "publish an `inputSchema`; for a tool without parameters `{\"type\": \"object\", \"additionalProperties\": false}`";
    SchemaUnbounded = "schema-unbounded", Info,
        "a schema accepts anything in some place, or a whole program in a string",
        "validation says nothing about such arguments; only an analyzer or a policy can",
        "say what may stand there: `type`, `properties`, `enum`, `maxLength`; or write a rule for its arguments";
    RemoteRef = "remote-ref", High,
        "a schema refers to something outside of itself",
        "whoever serves the other document decides what is valid, and can change it after the tool was approved; fetching it is a request to a stranger's address",
        "copy what is referred to into `$defs` of the schema";
    EmptyDescription = "empty-description", Medium,
        "a description is missing or says no more than the name",
        "the model chooses by the description; without one it guesses by the name",
        "describe on the server what the tool does and what it changes";
    ParametersUndescribed = "parameters-undescribed", Info,
        "parameters have no description",
        "the model guesses what belongs there",
        "describe the parameters on the server";
    DuplicateDisplayName = "duplicate-display-name", Medium,
        "several tools are shown under the same name in one language",
        "a person who approves a call by its name takes one for the other",
        "give one of them another `display_name`, or another text in its file of translations";
    UnsafeDisplayName = "unsafe-display-name", Medium,
        "what a tool calls itself is not shown as it is written",
        "hidden characters, line breaks and endless names are taken out, and names under a language that is none are never shown",
        "correct `title` and `_meta[\"dev.toolmark/names\"]` on the server, or give the tool a `display_name`";
    DeadLabel = "dead-label", Medium,
        "a name is given to something that is not there",
        "the tool that it was meant for is shown under another name, and nobody notices",
        "write the tool's canonical name, or remove the text";
    ShadowedLabel = "shadowed-label", Low,
        "a text is never shown because another one goes before it",
        "whoever changes it sees nothing happen, and the two drift apart",
        "keep one of the two";
    MissingTranslation = "missing-translation", Low,
        "a tool has no name in a language that other tools have names in",
        "people who read that language see a name in another one, or one made of the tool's own",
        "add the text: `toolmark names export` lists what is missing";
    TooManyTools = "too-many-tools", Info,
        "there are more tools than some clients take",
        "clients drop what exceeds their limit, mostly without a word, and models choose worse among many",
        "expose fewer: `allow = [\"…\"]` under each pack, or one endpoint per task";
}

/// Every rule, in the order of the documentation.
pub fn rules() -> impl ExactSizeIterator<Item = &'static Rule> {
    RuleId::ALL.iter().map(|id| id.rule())
}

impl RuleId {
    /// The id as text: kebab-case and stable.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.rule().id
    }

    /// Its place in [`rules`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for RuleId {
    type Err = ParseRuleIdError;

    fn from_str(text: &str) -> Result<Self, ParseRuleIdError> {
        Self::ALL.iter().copied().find(|id| id.as_str() == text).ok_or_else(|| ParseRuleIdError(visible(text, 60)))
    }
}

impl serde::Serialize for RuleId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Rule {
    /// The id as text.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// The severity of most of its findings; each finding has its own.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What it finds, in one line.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// Why that matters.
    #[must_use]
    pub fn why(&self) -> &'static str {
        self.why
    }

    /// What to do about it.
    #[must_use]
    pub fn fix(&self) -> &'static str {
        self.fix
    }
}
