//! The budget of display names: what is shown of one tool to one person, from a prepared table. Exits with 1 when it is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | the name of one of 5,000 tools with names in ten languages, for a browser's four wishes | at most 200 ns |
//! | the same for a tool that nobody named | at most 200 ns |
//! | the name, the spoken text, the category and the icon, each looked up by itself | at most 200 ns for each of the three texts |
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark reports on standard output and may stop")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Definition;
use toolmark_core::display::{Given, Kind, LanguageTag, Languages, Layer, NameTable};
use toolmark_core::pack::Pack;
use toolmark_core::tool::{Source, Tool, ToolKind};

const TOOLS: usize = 5_000;
const BUDGET: Duration = Duration::from_nanos(200);
const LANGUAGES: [&str; 10] = ["en", "nl", "de", "fr", "es", "pt-BR", "zh-Hans", "zh-Hant", "ar", "ja"];
const WISHES: [&str; 3] =
    ["nl-BE,nl;q=0.9,en-US;q=0.8,en;q=0.7", "zh-Hant, zh-TW;q=0.9, en;q=0.5", "fi, sv;q=0.8, de;q=0.3"];

fn main() -> ExitCode {
    // `cargo test --benches` runs this file too, without a wish for figures.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let pack = Pack::builder("pack".parse().expect("a name"), Source::new("bench"));
    let tool = |number: usize| {
        let tool = serde_json::json!({"name": format!("do_thing_{number}"), "inputSchema": {"type": "object"}});
        Definition::of_value("bench", &tool).expect("a definition")
    };
    let pack = (0..TOOLS).map(tool).fold(pack, |pack, tool| pack.tool(ToolKind::Mcp, tool)).build();
    let catalog = Catalog::builder().pack(pack).build_partly();
    let tags: Vec<LanguageTag> = LANGUAGES.iter().map(|tag| tag.parse().expect("a language")).collect();
    let named = NameTable::new(LanguageTag::english(), catalog.tools(), |tool| {
        let mut given = Given::default();
        for tag in &tags {
            given.put(Layer::Locale, Kind::Name, Some(tag.clone()), &format!("{tag} {}", tool.raw()));
            given.put(Layer::Locale, Kind::Spoken, Some(tag.clone()), "Working on it");
            given.put(Layer::Config, Kind::Category, Some(tag.clone()), "Things");
        }
        given.put_icon(Layer::Config, "🔎".parse().expect("an icon"));
        given
    });
    let only = NameTable::new(LanguageTag::english(), catalog.tools(), |tool| {
        let mut given = Given::default();
        for tag in &tags {
            given.put(Layer::Locale, Kind::Name, Some(tag.clone()), &format!("{tag} {}", tool.raw()));
        }
        given
    });
    let bare = NameTable::new(LanguageTag::english(), catalog.tools(), |_| Given::default());
    let tools: Vec<&Tool> = catalog.tools().collect();
    let mut good = true;
    for wish in WISHES {
        let languages = Languages::accept(wish).expect("languages");
        let tables =
            [("named in ten languages", &only, 1), ("named by nobody", &bare, 1), ("with all its texts", &named, 3)];
        for (what, table, texts) in tables {
            let each = least(|| {
                for tool in &tools {
                    black_box(table.shown(tool, &languages));
                }
            }) / u32::try_from(tools.len()).expect("few tools");
            let budget = BUDGET * texts;
            good &= each <= budget;
            println!("what is shown of a tool {what:<24} {wish:<40} {each:>10.1?}  budget {budget:.1?}");
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The least of several runs: what the work costs when nothing disturbs it.
fn least(mut work: impl FnMut()) -> Duration {
    let run = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..9).map(run).min().unwrap_or_default()
}
