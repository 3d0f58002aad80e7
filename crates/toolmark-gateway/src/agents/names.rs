//! Which tools does an agent mean? A name in any spelling means one tool, a pattern means some; a name that means none or several is an
//! error with everything that could be meant.

use serde_json::{Map, Value};
use toolmark_config::Config;
use toolmark_core::catalog::{Catalog, ResolveError};
use toolmark_core::digest::Mark;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::exposure::{ExposeError, ExposedTable, Profile, ProfileName, Published};
use toolmark_core::names::CanonicalName;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_policy::pattern::Glob;

/// How a tool was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `pack.tool`.
    Canonical,
    /// The server's own name, which one pack has.
    Own,
    /// The name that clients see.
    Exposed,
    /// The mark: this tool in this version.
    Mark,
    /// A pattern with `*`.
    Pattern,
}

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// The name as it is written.
    pub written: String,
    /// How it is spelled.
    pub spelling: Spelling,
    /// The tools, at least one.
    pub tools: Vec<CanonicalName>,
}

/// A name that means no tool, or several.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct ToolNameError {
    agent: String,
    name: String,
    ambiguous: bool,
    candidates: Vec<String>,
}

impl Spelling {
    /// The spelling in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Canonical => "canonical",
            Self::Own => "own",
            Self::Exposed => "exposed",
            Self::Mark => "mark",
            Self::Pattern => "pattern",
        }
    }
}

/// The names that clients see, for those who write them down.
///
/// # Errors
/// [`ExposeError`] when names that must be bare collide.
pub fn table(catalog: &Catalog, config: &Config) -> Result<ExposedTable, ExposeError> {
    let (table, refused) = running(catalog, config);
    refused.map_or(Ok(table), Err)
}

/// The same while servers come and go: a tool that must be bare while another has its name gets none, and takes nobody along.
pub(crate) fn running(catalog: &Catalog, config: &Config) -> (ExposedTable, Option<ExposeError>) {
    let (profile, mode) = (Profile::new(ProfileName::Generic), config.names.exposure);
    ExposedTable::build_partly(catalog, &profile, mode, &Published::default())
}

/// What all names of an agent mean.
///
/// # Errors
/// [`ToolNameError`] for every name that means none or several.
pub fn tools_of(
    catalog: &Catalog,
    table: &ExposedTable,
    agent: &str,
    names: &[String],
) -> Result<Vec<Meant>, Vec<ToolNameError>> {
    let (mut meant, mut errors) = (Vec::new(), Vec::new());
    for name in names {
        match means(catalog, table, name) {
            Ok((spelling, tools)) => {
                let tools = tools.into_iter().map(|tool| tool.canonical().clone()).collect();
                meant.push(Meant { written: name.clone(), spelling, tools });
            }
            Err((ambiguous, candidates)) => errors.push(ToolNameError {
                agent: visible(agent, 80),
                name: visible(name, 200),
                ambiguous,
                candidates: candidates.iter().map(|tool| visible(tool.canonical().as_str(), 200)).collect(),
            }),
        }
    }
    if errors.is_empty() { Ok(meant) } else { Err(errors) }
}

type Candidates<'c> = (bool, Vec<&'c Tool>);

fn means<'c>(
    catalog: &'c Catalog,
    table: &ExposedTable,
    name: &str,
) -> Result<(Spelling, Vec<&'c Tool>), Candidates<'c>> {
    if let Ok(mark) = name.parse::<Mark>() {
        let found: Vec<&Tool> = catalog.tools().filter(|tool| tool.mark() == mark).collect();
        return if found.is_empty() { Err((false, Vec::new())) } else { Ok((Spelling::Mark, found)) };
    }
    // Names that a catalog has are looked up in it; exposed ones in their table, never taken apart.
    let exposed = |wanted: &dyn Fn(&str) -> bool| -> Vec<&'c Tool> {
        let named: Vec<_> =
            table.listed().filter(|row| wanted(row.name.as_str())).map(|row| row.tool.canonical().clone()).collect();
        catalog.tools().filter(|tool| named.contains(tool.canonical())).collect()
    };
    match catalog.find(name, |_| true) {
        Ok(tool) if tool.canonical().as_str() == name => return Ok((Spelling::Canonical, vec![tool])),
        Ok(tool) => return Ok((Spelling::Own, vec![tool])),
        Err(ResolveError::Ambiguous { .. }) => {
            return Err((true, catalog.tools().filter(|tool| tool.raw().as_str() == name).collect()));
        }
        Err(ResolveError::NotFound { .. }) => {}
    }
    let found = exposed(&|shown| shown == name);
    if !found.is_empty() {
        return Ok((Spelling::Exposed, found));
    }
    if name.contains('*') {
        let glob = Glob::new(name);
        let shown = exposed(&|shown| glob.matches(shown));
        let fits = |tool: &Tool| {
            let own = glob.matches(tool.canonical().as_str()) || glob.matches(tool.raw().as_str());
            own || shown.iter().any(|other| std::ptr::eq(*other, tool))
        };
        let found: Vec<&Tool> = catalog.tools().filter(|tool| fits(tool)).collect();
        if !found.is_empty() {
            return Ok((Spelling::Pattern, found));
        }
    }
    Err((false, catalog.suggest(name, |_| true)))
}

impl ToolNameError {
    fn sentence(&self) -> String {
        match self.ambiguous {
            true => format!(
                "the agent `{}` names the tool `{}`, which {} packs have",
                self.agent,
                self.name,
                self.candidates.len()
            ),
            false => format!("the agent `{}` names the tool `{}`, which is not there", self.agent, self.name),
        }
    }

    /// The tools that could be meant.
    #[must_use]
    pub fn candidates(&self) -> &[String] {
        &self.candidates
    }

    /// The name as it is written.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True when several tools have that name.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }
}

impl Explain for ToolNameError {
    fn code(&self) -> Code {
        if self.ambiguous { Code::new("agent-tool-ambiguous") } else { Code::new("agent-tool-unknown") }
    }

    fn why(&self) -> String {
        match self.ambiguous {
            true => "two tools may do very different things, so nobody guesses which is meant",
            false => "an agent without a tool that was meant for it fails later, and a name that is nearly right may mean another tool",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self.candidates.as_slice() {
            [] => {
                "look at `toolmark tools` for what there is, and at `toolmark up` for servers that are not there".into()
            }
            some => format!("use {}", some.join(" or ")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("agent", self.agent.as_str().into()),
            ("tool", self.name.as_str().into()),
            ("candidates", self.candidates.as_slice().into()),
        ])
    }
}
