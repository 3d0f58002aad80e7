//! `CREATE`, `ALTER` and `DROP`: what kind of thing is made, changed or removed, and what comes with it.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::effect::absorb;
use super::functions::{self, Where};
use super::lex::Kind;
use super::place::Place;
use super::query;
use super::script::Reader;
use super::tokens::Tokens;

/// Kinds of things, and what making or changing one of them means beyond itself.
const KINDS: &[(&str, Option<Danger>)] = &[
    ("AGGREGATE", Some(Danger::Code)),
    ("ASSEMBLY", Some(Danger::Code)),
    ("CATALOG", None),
    ("COLLATION", None),
    ("COLUMN", None),
    ("CONNECTION", Some(Danger::Escape)),
    ("CREDENTIAL", Some(Danger::Privilege)),
    ("DATABASE", None),
    ("DEFAULT", Some(Danger::Privilege)),
    ("DICTIONARY", Some(Danger::Escape)),
    ("DOMAIN", None),
    ("EVENT", Some(Danger::Code)),
    ("EXTENSION", Some(Danger::Code)),
    ("FUNCTION", Some(Danger::Code)),
    ("GROUP", Some(Danger::Privilege)),
    ("INDEX", None),
    ("INTEGRATION", Some(Danger::Escape)),
    ("KEYSPACE", None),
    ("LANGUAGE", Some(Danger::Code)),
    ("LIBRARY", Some(Danger::Code)),
    ("LOGIN", Some(Danger::Privilege)),
    ("MACRO", None),
    ("MODEL", None),
    ("OPERATOR", None),
    ("OWNED", Some(Danger::Privilege)),
    ("PACKAGE", Some(Danger::Code)),
    ("PIPE", Some(Danger::Escape)),
    ("POLICY", Some(Danger::Privilege)),
    ("PROC", Some(Danger::Code)),
    ("PROCEDURE", Some(Danger::Code)),
    ("PROFILE", Some(Danger::Privilege)),
    ("PUBLICATION", Some(Danger::Outward)),
    ("QUOTA", Some(Danger::Privilege)),
    ("ROLE", Some(Danger::Privilege)),
    ("ROUTINE", Some(Danger::Code)),
    ("RULE", Some(Danger::Code)),
    ("SCHEMA", None),
    ("SECRET", Some(Danger::Secret)),
    ("SEQUENCE", None),
    ("SERVER", Some(Danger::Escape)),
    ("SESSION", None),
    ("SHARE", Some(Danger::Outward)),
    ("STAGE", Some(Danger::Escape)),
    ("STATISTICS", None),
    ("STREAM", None),
    ("SUBSCRIPTION", Some(Danger::Outward)),
    ("SYNONYM", None),
    ("SYSTEM", Some(Danger::Privilege)),
    ("TABLE", None),
    ("TABLESPACE", Some(Danger::Escape)),
    ("TASK", Some(Danger::Code)),
    ("TRANSFORM", Some(Danger::Code)),
    ("TRIGGER", Some(Danger::Code)),
    ("TYPE", None),
    ("USER", Some(Danger::Privilege)),
    ("VIEW", None),
    ("WAREHOUSE", None),
];

/// Engines of ClickHouse that keep their data somewhere else.
const ENGINES: &[&str] = &[
    "URL",
    "S3",
    "S3Queue",
    "File",
    "MySQL",
    "PostgreSQL",
    "MongoDB",
    "HDFS",
    "JDBC",
    "ODBC",
    "Kafka",
    "RabbitMQ",
    "NATS",
    "Redis",
    "Executable",
    "ExecutablePool",
];

/// Reads one of these statements.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let (at, kind, danger) = kind(tokens).ok_or("it does not say what it creates, alters or drops")?;
    let target = name(tokens.after(at + 1));
    let shown = target.as_deref().map_or_else(String::new, |target| format!(" `{target}`"));
    let what = kind.to_ascii_lowercase();
    let effect = match tokens.word(0).to_ascii_lowercase().as_str() {
        "drop" => Effect::mutating(Action::Delete, format!("drops the {what}{shown}")).unbounded().on(target),
        "alter" => alteration(
            tokens.after(at + 1),
            Effect::mutating(Action::Update, format!("alters the {what}{shown}")).on(target),
        ),
        _ => creation(reader, tokens, at, kind, &format!("the {what}{shown}"))?.on(target),
    };
    let right = ["USER", "ROLE", "LOGIN", "POLICY", "OWNED"].contains(&kind);
    Ok(match danger {
        // What is dropped runs no code and reaches nowhere; who may do what still changes.
        Some(danger) if !tokens.is(0, "DROP") || right => effect.with(danger),
        _ => effect,
    })
}

/// The kind of thing, where it is said.
fn kind(tokens: Tokens<'_>) -> Option<(usize, &'static str, Option<Danger>)> {
    (1..tokens.len().min(12)).take_while(|&at| !tokens.symbol(at, "(")).find_map(|at| {
        let (kind, danger) = KINDS.iter().find(|(kind, _)| tokens.is(at, kind))?;
        let foreign = tokens.is_one_of(at - 1, &["FOREIGN", "EXTERNAL"]) && *kind == "TABLE";
        let mapping = *kind == "USER" && tokens.is(at + 1, "MAPPING");
        Some((
            at,
            *kind,
            if foreign {
                Some(Danger::Escape)
            } else if mapping {
                Some(Danger::Privilege)
            } else {
                *danger
            },
        ))
    })
}

fn name(tokens: Tokens<'_>) -> Option<String> {
    let noise = &["IF", "NOT", "EXISTS", "CONCURRENTLY", "ONLY", "DATA", "WRAPPER", "BY", "FAMILY", "CLASS", "MAPPING"];
    let at = (0..tokens.len().min(6)).find(|&at| !tokens.is_one_of(at, noise))?;
    tokens.name(at).map(|(name, _)| name)
}

fn creation(reader: &Reader, tokens: Tokens<'_>, at: usize, kind: &str, what: &str) -> Result<Effect, String> {
    let replaces = tokens.starts(&["CREATE", "OR", "REPLACE"]) || tokens.starts(&["CREATE", "OR", "ALTER"]);
    let action = if replaces { Action::Overwrite } else { Action::Create };
    let mut effect = Effect::mutating(action, format!("{} {what}", if replaces { "replaces" } else { "creates" }));
    // A view is only a definition; a table that is replaced takes its rows with it.
    if replaces && matches!(kind, "TABLE" | "DATABASE" | "SCHEMA") {
        effect = effect.unbounded();
    }
    let rest = tokens.after(at + 1);
    if matches!(kind, "TABLE" | "VIEW")
        && let Some(query) = source(rest)
    {
        absorb(&mut effect, query::read(reader, query)?);
    }
    // ClickHouse makes tables from functions: `CREATE TABLE t AS url('…')`.
    let function = rest.find(&["AS"]).and_then(|at| rest.name(at + 1)).filter(|(_, end)| rest.symbol(*end, "("));
    if function.is_some_and(|(name, _)| functions::find(&name.to_ascii_lowercase(), Where::Relation).is_some()) {
        effect = effect.with(Danger::Escape);
    }
    if let Some(engine) = (0..rest.len()).find(|&at| rest.is(at, "ENGINE")) {
        let named = engine + 1 + usize::from(rest.symbol(engine + 1, "="));
        if rest.is_one_of(named, ENGINES) && rest.symbol(named + 1, "(") {
            effect = effect.with(Danger::Escape);
        }
    }
    let files = (0..rest.len()).filter_map(|at| rest.literal(at));
    if tokens.is(at - 1, "VIRTUAL") && files.into_iter().any(|file| Place::of(&file).read_danger().is_some()) {
        effect = effect.with(Danger::Escape);
    }
    if hides_another(rest) && !matches!(kind, "TRIGGER" | "RULE" | "POLICY") {
        effect = effect.unbounded();
    }
    Ok(effect)
}

/// The query that a table or view is made from: at the top level, after `AS` or, in MySQL, after the columns.
fn source(rest: Tokens<'_>) -> Option<Tokens<'_>> {
    let mut depth = 0_usize;
    let at = (0..rest.len()).find(|&at| {
        let top = depth == 0;
        match rest.kind(at) {
            Some(Kind::Open) => depth += 1,
            Some(Kind::Close) => depth = depth.saturating_sub(1),
            _ => {}
        }
        let led = rest.is(at.wrapping_sub(1), "AS")
            || rest.is(at, "SELECT")
            || (rest.symbol(at, "(") && rest.is(at + 1, "SELECT"));
        top && led && query::begins(rest.after(at))
    })?;
    // `WITH NO DATA` and `WITH CHECK OPTION` are no part of it.
    let query = rest.after(at);
    let tail =
        query.find(&["WITH"]).filter(|&with| query.is_one_of(with + 1, &["NO", "DATA", "CHECK", "LOCAL", "CASCADED"]));
    Some(query.before(tail.unwrap_or(query.len())))
}

/// Two statements without a semicolon between them, as T-SQL allows.
fn hides_another(rest: Tokens<'_>) -> bool {
    let mut depth = 0_usize;
    (0..rest.len()).any(|at| {
        match rest.kind(at) {
            Some(Kind::Open) => depth += 1,
            Some(Kind::Close) => depth = depth.saturating_sub(1),
            _ => {}
        }
        let verb = rest.is_one_of(at, &["DROP", "TRUNCATE", "DELETE", "EXEC", "EXECUTE", "SHUTDOWN"]);
        let clause = rest.is_one_of(at.wrapping_sub(1), &["ON", "OR", "FOR", "BEFORE", "AFTER", "OF", "AS", "WITH"]);
        depth == 0 && verb && !clause && matches!(rest.kind(at + 1), Some(Kind::Word | Kind::Quoted | Kind::Open))
    })
}

fn alteration(rest: Tokens<'_>, effect: Effect) -> Effect {
    let says = |words: &[&str]| rest.find(words);
    let kept = &[
        "CONSTRAINT",
        "DEFAULT",
        "NOT",
        "IDENTITY",
        "EXPRESSION",
        "INDEX",
        "KEY",
        "PRIMARY",
        "FOREIGN",
        "CHECK",
        "PROJECTION",
    ];
    let mut effect = effect;
    let drops = (0..rest.len()).any(|at| rest.is(at, "DROP") && !rest.is_one_of(at + 1, kept));
    let whole = says(&["DELETE", "UPDATE"]).is_some_and(|at| {
        rest.after(at).find(&["WHERE"]).is_none_or(|at_where| rest.after(at + at_where + 1).is_tautology())
    });
    if drops || whole || says(&["TRUNCATE", "DISCARD", "CLEAR"]).is_some() {
        effect = effect.unbounded();
    }
    if says(&["DELETE"]).is_some_and(|at| rest.after(at).find(&["WHERE"]).is_some()) {
        effect.action = Action::Delete;
    }
    if says(&["OWNER", "SECURITY", "SUPERUSER"]).is_some()
        || (says(&["DISABLE"]).is_some() && says(&["TRIGGER", "ROW", "RULE"]).is_some())
    {
        effect = effect.with(Danger::Privilege);
    }
    effect
}
