//! Data that enters or leaves through files, addresses and other databases: `COPY`, `ATTACH`, `LOAD DATA`, `VACUUM INTO` and their like.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::Dialect;
use super::effect::{absorb, join, name};
use super::glance::Glance;
use super::lex::Kind;
use super::place::Place;
use super::query;
use super::script::Reader;
use super::tokens::Tokens;
use super::verbs::object;

/// Reads one of these statements.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let effect = match tokens.word(0).to_ascii_lowercase().as_str() {
        "copy" if tokens.is(1, "INTO") => stage(tokens),
        "copy" => return copy(reader, tokens),
        "unload" => return unload(reader, tokens),
        "export" if tokens.is(1, "DATA") => return unload(reader, tokens),
        "export" => leaving(tokens, "exports the database"),
        "import" => entering(tokens, "imports"),
        "attach" => attach(reader, tokens),
        "detach" if tokens.is_one_of(1, &["TABLE", "VIEW", "DICTIONARY"]) => {
            Effect::mutating(Action::Update, "detaches").on(object(tokens.after(1))).unbounded()
        }
        "detach" => Effect::mutating(Action::Update, "detaches a database").on(object(tokens.after(1))),
        "vacuum" if tokens.find(&["INTO"]).is_some() => {
            let copy = Effect::mutating(Action::Create, "copies the whole database into a file");
            copy.on(first_text(tokens)).with(Danger::Escape)
        }
        "vacuum" => Effect::mutating(Action::Update, "rewrites the database").on(object(tokens.after(1))),
        "load" if tokens.is_one_of(1, &["DATA", "XML"]) => load(tokens),
        "load" if tokens.is(1, "INDEX") => Effect::mutating(Action::Update, "loads indexes into the cache"),
        "load" => {
            Effect::mutating(Action::Execute, "loads code").on(object(tokens.after(1))).unbounded().with(Danger::Code)
        }
        "backup" => leaving(tokens, "backs up"),
        "restore" => entering(tokens, "restores").unbounded(),
        "bulk" | "put" | "get" => entering(tokens, "moves files"),
        other => return Err(format!("`{other}` is not understood here")),
    };
    Ok(effect)
}

/// `COPY … TO …` and `COPY … FROM …`.
fn copy(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let Some(at) = tokens.find(&["TO", "FROM"]) else { return Err("the COPY says neither TO nor FROM".into()) };
    let source = tokens.before(at).after(1);
    let out = tokens.is(at, "TO");
    let mut effect = if source.symbol(0, "(") {
        reader.inner(source.inside(0))?
    } else {
        let table = object(source.after(usize::from(source.is(0, "BINARY"))));
        let vault = Glance::at(reader, tokens).vault || table.as_deref().is_some_and(super::secrets::is_secret_table);
        let effect = Effect::pure(Action::Read, "copies").on(table);
        if vault && out { effect.with(Danger::Secret) } else { effect }
    };
    let place = tokens.after(at + 1);
    let moved = match (place.kind(0), out) {
        _ if place.is(0, "PROGRAM") => Effect::mutating(Action::Execute, "runs a program on the server")
            .on(text(place, 1))
            .unbounded()
            .with(Danger::Code),
        _ if place.is(0, "STDOUT") => return Ok(effect),
        _ if place.is(0, "STDIN") => Effect::mutating(Action::Create, "adds rows from the client"),
        _ if place.is(0, "DATABASE") => Effect::mutating(Action::Create, "copies a database"),
        (Some(Kind::Text), true) => written(reader, &place.literal(0).unwrap_or_default()),
        (Some(Kind::Text), false) => {
            let file = place.literal(0).unwrap_or_default();
            let load = Effect::mutating(Action::Create, "adds rows from a file").on([visible(&file, 120)]);
            let danger =
                if reader.dialect == Dialect::Duckdb { Place::of(&file).read_danger() } else { Some(Danger::Escape) };
            danger.into_iter().fold(load, Effect::with)
        }
        // ClickHouse and DuckDB also copy to functions and partitions; where that leads is not known.
        (_, true) => Effect::mutating(Action::Send, "copies to a place that cannot be read").with(Danger::Outward),
        (_, false) => {
            Effect::mutating(Action::Create, "adds rows from a place that cannot be read").with(Danger::Escape)
        }
    };
    join(&mut effect, moved);
    Ok(effect)
}

fn written(reader: &Reader, file: &str) -> Effect {
    let place = Place::of(file);
    let effect = match place {
        Place::Remote => Effect::mutating(Action::Send, "sends the result to an address"),
        _ => Effect::mutating(Action::Create, "writes the result into a file"),
    };
    // PostgreSQL writes relative to its own data directory, which is never what a caller may touch.
    let server = !matches!(reader.dialect, Dialect::Duckdb) && place == Place::Near;
    let danger = place.write_danger().or(server.then_some(Danger::Escape));
    danger.into_iter().fold(effect.on([visible(file, 120)]), Effect::with)
}

/// Snowflake's `COPY INTO`: from a stage into a table, or the other way.
fn stage(tokens: Tokens<'_>) -> Effect {
    let target = tokens.after(2);
    if matches!(target.kind(0), Some(Kind::Variable | Kind::Text)) {
        return leaving(tokens, "unloads into files");
    }
    let from = target.find(&["FROM"]).map_or(target, |at| target.after(at + 1));
    let remote = from.kind(0) == Some(Kind::Text);
    let effect = Effect::mutating(Action::Create, "loads files").on(object(target));
    if remote { effect.with(Danger::Escape) } else { effect }
}

/// Redshift's and Athena's `UNLOAD`, BigQuery's `EXPORT DATA`: the result of a query goes into a bucket.
fn unload(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let mut effect = Effect::mutating(Action::Send, "sends the result of a query into files").with(Danger::Outward);
    name(&mut effect, (0..tokens.len()).filter_map(|at| text(tokens, at)).filter(|text| text.contains("://")));
    let query = (0..tokens.len()).find(|&at| query::begins(tokens.after(at)));
    if let Some(at) = query {
        let end = if tokens.symbol(at, "(") { tokens.closing(at) + 1 } else { tokens.len() };
        absorb(&mut effect, query::read(reader, tokens.before(end).after(at))?);
    } else if let Some(effects) = tokens.literal(2).and_then(|sql| reader.nested(&sql)) {
        effects.into_iter().for_each(|inner| absorb(&mut effect, inner));
    }
    Ok(effect)
}

fn attach(reader: &Reader, tokens: Tokens<'_>) -> Effect {
    if tokens.is_one_of(1, &["TABLE", "VIEW", "DICTIONARY"]) || reader.dialect == Dialect::Clickhouse {
        return Effect::mutating(Action::Create, "attaches").on(object(tokens.after(1)));
    }
    let file = first_text(tokens);
    let effect = Effect::mutating(Action::Create, "opens or creates another database").on(file.clone());
    match file.as_deref().map(Place::of) {
        Some(Place::Nowhere) => effect,
        _ => effect.with(Danger::Escape),
    }
}

fn load(tokens: Tokens<'_>) -> Effect {
    let replaces = tokens.find(&["REPLACE", "OVERWRITE"]).is_some();
    let action = if replaces { Action::Overwrite } else { Action::Create };
    let table = tokens.find(&["TABLE"]).and_then(|at| tokens.name(at + 1)).map(|(name, _)| name);
    Effect::mutating(action, "adds rows from a file").on(first_text(tokens)).on(table).with(Danger::Escape)
}

/// Something that is written outside the database.
fn leaving(tokens: Tokens<'_>, does: &str) -> Effect {
    let file = first_text(tokens);
    let remote = file.as_deref().is_some_and(|file| Place::of(file) == Place::Remote)
        || (0..tokens.len()).any(|at| tokens.is_one_of(at, &["S3", "URL", "AzureBlobStorage"]));
    let (action, danger) = if remote { (Action::Send, Danger::Outward) } else { (Action::Create, Danger::Escape) };
    Effect::mutating(action, does).on(file).with(danger)
}

/// Something that comes from outside the database.
fn entering(tokens: Tokens<'_>, does: &str) -> Effect {
    Effect::mutating(Action::Create, does).on(first_text(tokens)).with(Danger::Escape)
}

fn first_text(tokens: Tokens<'_>) -> Option<String> {
    (0..tokens.len()).find_map(|at| text(tokens, at))
}

fn text(tokens: Tokens<'_>, at: usize) -> Option<String> {
    tokens.literal(at).map(|text| visible(&text, 120))
}
