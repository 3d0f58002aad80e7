//! From what an operator wrote and which tools there are to the workspace that judges calls.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_config::Config;
use toolmark_config::sections;
use toolmark_config::values::{self, Trust};
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::catalog::Catalog;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::gate::{Baseline, Expectation};
use toolmark_core::names::{CanonicalName, PackName};
use toolmark_core::pack::Pack;
use toolmark_core::pins::{FirstUse, Pins};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_effects::EffectCache;
use toolmark_policy::PolicyConfig;
use toolmark_policy::pattern::Glob;
use toolmark_runtime::{Task, TaskName, Tasks, Workspace, WorkspaceBuilder};

use crate::baselines::{self, BaselineMissing, Baselines};
use crate::files::Files;
use crate::opinions;

/// The largest file with policies or a baseline that is read.
const MOST_BYTES: u64 = 16 << 20;

/// Where an operator's files are found, and what their variables stand for.
pub struct Surroundings<'s> {
    /// The directory that relative paths start from: the one of `toolmark.toml`.
    pub directory: &'s Path,
    /// The environment.
    pub environment: &'s dyn Fn(&str) -> Option<String>,
    /// The baselines that tasks take from the store.
    pub baselines: &'s Baselines,
    /// What was found out about calls under an earlier configuration.
    pub effects: Option<Arc<EffectCache>>,
}

/// How a setting is taken that names a tool which is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// As a mistake: somebody is looking at the configuration.
    Checking,
    /// As one that waits for its tool: a server that loses a tool must not take the others down.
    Running,
}

/// A configuration from which no workspace can be made, with everything that is wrong.
#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be used: {} of its parts are wrong", .problems.len())]
pub struct AssembleError {
    problems: Vec<Problem>,
}

/// A file that the configuration names and that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{owner} names `{path}`, which cannot be read: {why}")]
pub(crate) struct FileMissing {
    owner: String,
    path: String,
    why: String,
}

/// A pattern for files that matches none.
#[derive(Debug, thiserror::Error)]
#[error("`[policy]` names `{0}`, and there is no such file")]
struct NoPolicyFile(String);

/// A pattern for files of names that matches none.
#[derive(Debug, thiserror::Error)]
#[error("`names.locales` names `{0}`, and there is no such file")]
pub(crate) struct NoLocaleFile(pub(crate) String);

/// A directory with a variable that is not set.
#[derive(Debug, thiserror::Error)]
#[error("the variable `{variable}` in `packs.{pack}.roots` is not set")]
struct RootUnknown {
    pack: String,
    variable: String,
}

/// A tool that the configuration describes and its pack does not have.
#[derive(Debug, thiserror::Error)]
#[error("`[packs.{pack}.tools.{tool}]` describes a tool that the pack does not have")]
struct ToolMissing {
    pack: String,
    tool: String,
    known: Vec<String>,
}

/// The files that a configuration names, whether they are there or not: policies, baselines, names, opinions, and those with variables of
/// packs. A pattern stands for itself, and for those that are there.
#[must_use]
pub fn files(config: &Config, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
    let directory = surroundings.directory;
    let mut files: Vec<PathBuf> = Vec::new();
    for pattern in config.policy.cedar.0.iter().chain(&config.names.locales) {
        files.push(directory.join(pattern));
        files.extend(matching(directory, pattern));
    }
    if let Some(named) = &config.behavior.opinions {
        let folder = directory.join(named);
        files.push(folder.join("*.jsonl"));
        files.extend(opinions::files(&folder).unwrap_or_default());
    }
    let baselines = config.tasks.iter().filter_map(|(_, task)| task.baseline.as_deref());
    files.extend(baselines.filter(|name| baselines::in_store(name).is_none()).map(|path| directory.join(path)));
    let variables = config.packs.iter().filter_map(|(_, pack)| pack.env_file.as_ref());
    let variables = variables.filter_map(|file| file.expand(&surroundings.environment).ok());
    files.extend(variables.map(|file| directory.join(file.expose())));
    files
}

/// Makes the workspace for a catalog. What holds for tools that are pinned nowhere is what the configuration says.
///
/// # Errors
/// [`AssembleError`] with every problem of policies, tasks, baselines and tools.
pub fn workspace(
    config: &Config,
    catalog: Catalog,
    pins: Pins,
    surroundings: &Surroundings<'_>,
    strictness: Strictness,
) -> Result<Workspace, AssembleError> {
    workspace_keeping(config, catalog, pins, surroundings, strictness, &Files::default())
}

/// The same by what the files that the configuration names said when it was taken over.
pub(crate) fn workspace_keeping(
    config: &Config,
    catalog: Catalog,
    pins: Pins,
    surroundings: &Surroundings<'_>,
    strictness: Strictness,
    files: &Files,
) -> Result<Workspace, AssembleError> {
    built(collected(config, None, &catalog, pins, (surroundings, files), strictness), catalog)
}

/// The same with the text of Cedar policies that are in no file.
pub(crate) fn workspace_trying(
    config: &Config,
    cedar: Option<&str>,
    catalog: Catalog,
    pins: Pins,
    surroundings: &Surroundings<'_>,
) -> Result<Workspace, AssembleError> {
    built(collected(config, cedar, &catalog, pins, (surroundings, &Files::default()), Strictness::Running), catalog)
}

fn built(
    (builder, mut problems): (WorkspaceBuilder, Vec<Problem>),
    catalog: Catalog,
) -> Result<Workspace, AssembleError> {
    match builder.build(catalog) {
        Ok(workspace) if problems.is_empty() => Ok(workspace),
        Ok(_) => Err(AssembleError { problems }),
        Err(error) => {
            problems.extend(error.problems().iter().cloned());
            Err(AssembleError { problems })
        }
    }
}

/// Everything that decides about calls of these tools, for workspaces that hold some of them, such as those of one agent.
///
/// # Errors
/// [`AssembleError`] with every problem of policies, tasks and baselines.
pub(crate) fn rules(
    config: &Config,
    catalog: &Catalog,
    pins: Pins,
    surroundings: &Surroundings<'_>,
    files: &Files,
) -> Result<WorkspaceBuilder, AssembleError> {
    let (builder, problems) = collected(config, None, catalog, pins, (surroundings, files), Strictness::Running);
    if problems.is_empty() { Ok(builder) } else { Err(AssembleError { problems }) }
}

fn collected(
    config: &Config,
    cedar: Option<&str>,
    catalog: &Catalog,
    pins: Pins,
    (surroundings, files): (&Surroundings<'_>, &Files),
    strictness: Strictness,
) -> (WorkspaceBuilder, Vec<Problem>) {
    let mut problems = Vec::new();
    let tasks = tasks(config, surroundings, files, &mut problems);
    let mut policy = policy(config, catalog, (surroundings.directory, files), strictness, &mut problems);
    if let Some(text) = cedar {
        policy = policy.cedar("cedar", text);
    }
    let pins = pins.first_use(match config.pins.first_use {
        values::FirstUse::Trust => FirstUse::Trust,
        values::FirstUse::Ask => FirstUse::Ask,
        values::FirstUse::Locked => FirstUse::Locked,
    });
    let mut builder = WorkspaceBuilder::new().policy(policy).tasks(tasks.clone()).pins(pins);
    if let Some(effects) = &surroundings.effects {
        builder = builder.effects(Arc::clone(effects));
    }
    for (name, pack) in &config.packs {
        let listed = catalog.pack(name.as_str());
        if let Some(listed) = listed.filter(|_| pack.trust == Trust::Trusted) {
            builder = believed(builder, listed);
        }
        let checked = listed.filter(|_| strictness == Strictness::Checking);
        builder = of_pack(builder, (name, pack), checked, strictness, &tasks, surroundings, &mut problems);
    }
    if let Some(named) = &config.behavior.opinions {
        match files.opinions(&surroundings.directory.join(named)) {
            Ok(opinions) => {
                for tool in catalog.tools() {
                    let against = opinions.against(tool);
                    if !against.is_empty() {
                        builder = builder.opinions(tool.canonical().clone(), against);
                    }
                }
            }
            Err(error) => {
                let (owner, path) = ("`[behavior]`".to_owned(), visible(named, 300));
                let error = FileMissing { owner, path, why: error.to_string() };
                problems.push(Problem::refused(error.report(), None));
            }
        }
    }
    (builder, problems)
}

/// What a trusted publisher says of its tools, taken as the operator's word. What the operator says itself comes after and wins.
fn believed(builder: WorkspaceBuilder, pack: &Pack) -> WorkspaceBuilder {
    let claimed = |tool: &Tool| Some((tool.canonical().clone(), KnownBehavior::claimed(tool.definition())?));
    pack.tools().iter().filter_map(claimed).fold(builder, |builder, (tool, behavior)| builder.behavior(tool, behavior))
}

/// What one pack adds.
fn of_pack(
    mut builder: WorkspaceBuilder,
    (name, pack): (&PackName, &sections::Pack),
    listed: Option<&Pack>,
    strictness: Strictness,
    tasks: &Tasks,
    surroundings: &Surroundings<'_>,
    problems: &mut Vec<Problem>,
) -> WorkspaceBuilder {
    let mut roots = Vec::new();
    for root in &pack.roots {
        match root.expand(&surroundings.environment) {
            Ok(root) => roots.push(root.expose().to_owned()),
            // Its server cannot be started either. Nothing is below a directory that nobody knows.
            Err(_) if strictness == Strictness::Running => roots.push("${…}".to_owned()),
            Err(missing) => {
                let pack = name.to_string();
                let unknown = missing.into_iter().map(|variable| RootUnknown { pack: pack.clone(), variable });
                problems.extend(unknown.map(|error| Problem::refused(error.report(), None)));
            }
        }
    }
    if let Some(task) = pack.task.as_ref().and_then(|task| tasks.find(task.as_str()).ok()) {
        builder = builder.pack_task(name.clone(), Arc::clone(task));
    }
    for (raw, tool) in &pack.tools {
        if let Some(listed) = listed
            && !listed.tools().iter().any(|known| known.raw() == raw)
        {
            let known = listed.tools().iter().map(|known| visible(known.raw().as_str(), 80)).collect();
            let error = ToolMissing { pack: name.to_string(), tool: visible(raw.as_str(), 80), known };
            problems.push(Problem::refused(error.report(), None));
            continue;
        }
        let Ok(canonical) = format!("{name}.{raw}").parse::<CanonicalName>() else { continue };
        if let Some(behavior) = tool.behavior {
            builder = builder.behavior(canonical.clone(), behavior);
        }
        builder = builder.settings(canonical, Arc::new(tool.settings(roots.clone())));
    }
    if !roots.is_empty() {
        let settings = toolmark_effects::settings::Settings { roots, ..Default::default() };
        builder = builder.pack_settings(name.clone(), Arc::new(settings));
    }
    builder
}

fn tasks(config: &Config, surroundings: &Surroundings<'_>, files: &Files, problems: &mut Vec<Problem>) -> Tasks {
    let mut tasks = Tasks::default();
    for (name, task) in &config.tasks {
        let parsed = match name.as_str().parse::<TaskName>() {
            Ok(parsed) => parsed,
            Err(error) => {
                problems.push(Problem::refused(error.report(), None));
                continue;
            }
        };
        let mut expectation = Expectation::new(name.as_str(), task.expect.clone(), task.on_mismatch);
        if let Some(named) = &task.baseline {
            let text = match baselines::in_store(named) {
                Some(kept) => surroundings.baselines.get(kept).cloned().ok_or_else(|| {
                    BaselineMissing { task: visible(name.as_str(), 100), name: visible(kept, 100) }.report()
                }),
                None => files
                    .text(surroundings.directory, &format!("the task `{name}`"), named)
                    .map_err(|error| error.report()),
            };
            let refused = match text {
                Err(report) => Some(report),
                Ok(text) => match Baseline::read(&text) {
                    Err(error) => Some(error.report()),
                    Ok(baseline) => {
                        expectation = expectation.with_baseline(baseline);
                        None
                    }
                },
            };
            problems.extend(refused.map(|report| Problem::refused(report, None)));
        }
        tasks.insert(Task::new(parsed, expectation));
    }
    tasks
}

/// The rules, the texts of Cedar policies, and the packs that are configured but not listed yet.
fn policy(
    config: &Config,
    catalog: &Catalog,
    (directory, files): (&Path, &Files),
    strictness: Strictness,
    problems: &mut Vec<Problem>,
) -> PolicyConfig {
    let mut policy = config.policy_config();
    for (name, _) in &config.packs {
        if strictness == Strictness::Running || catalog.pack(name.as_str()).is_none() {
            policy = policy.awaited(name.clone());
        }
    }
    for pattern in &config.policy.cedar.0 {
        let paths = files.matching(directory, pattern);
        if paths.is_empty() {
            problems.push(Problem::refused(NoPolicyFile(visible(pattern, 300)).report(), None));
        }
        for path in paths {
            let label = path.display().to_string();
            match files.text(directory, "`[policy]`", &label) {
                Ok(text) => policy = policy.cedar(label, text),
                Err(error) => problems.push(Problem::refused(error.report(), None)),
            }
        }
    }
    policy
}

/// The files that a pattern means, by name; `*` stands for any run of characters in the last part of a path.
pub(crate) fn matching(directory: &Path, pattern: &str) -> Vec<PathBuf> {
    let whole = directory.join(pattern);
    let Some(last) = whole.file_name().and_then(|last| last.to_str()) else { return Vec::new() };
    if !last.contains('*') {
        return if whole.is_file() { vec![whole] } else { Vec::new() };
    }
    let glob = Glob::new(last);
    let parent = whole.parent().unwrap_or(directory);
    let entries = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| glob.matches(name));
    // What is named so and cannot be read, such as a link that leads nowhere, is an error later; it is never skipped.
    let found: BTreeSet<PathBuf> = entries.filter(|path| !path.is_dir() && named(path)).collect();
    found.into_iter().collect()
}

/// Reads a file that the configuration names.
pub(crate) fn read_file(directory: &Path, owner: &str, path: &str) -> Result<String, FileMissing> {
    let refuse = |why: String| FileMissing { owner: owner.to_owned(), path: visible(path, 300), why };
    let whole = directory.join(path);
    let size = fs::metadata(&whole).map_err(|error| refuse(error.to_string()))?.len();
    if size > MOST_BYTES {
        return Err(refuse(format!("it has {size} bytes, and {MOST_BYTES} are read")));
    }
    fs::read_to_string(&whole).map_err(|error| refuse(error.to_string()))
}

impl AssembleError {
    /// Everything that is wrong.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl Explain for FileMissing {
    fn code(&self) -> Code {
        Code::new("config-file-missing")
    }

    fn why(&self) -> String {
        "what stands in that file would otherwise not hold, and nobody would notice".into()
    }

    fn fix(&self) -> String {
        "correct the path; it is relative to the folder of `toolmark.toml`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("path", self.path.as_str().into())])
    }
}

impl Explain for NoPolicyFile {
    fn code(&self) -> Code {
        Code::new("config-file-missing")
    }

    fn why(&self) -> String {
        "a policy that is not found protects nothing".into()
    }

    fn fix(&self) -> String {
        "correct the path; it is relative to the folder of `toolmark.toml`, and `*` stands for part of a file's name"
            .into()
    }
}

impl Explain for NoLocaleFile {
    fn code(&self) -> Code {
        Code::new("config-file-missing")
    }

    fn why(&self) -> String {
        "names that are not found are not shown, and nobody would notice".into()
    }

    fn fix(&self) -> String {
        "correct the path; it is relative to the folder of `toolmark.toml`, and `*` stands for part of a file's name"
            .into()
    }
}

impl Explain for RootUnknown {
    fn code(&self) -> Code {
        Code::new("config-variable-missing")
    }

    fn why(&self) -> String {
        "without it, nobody knows which directories the arguments of this pack may name".into()
    }

    fn fix(&self) -> String {
        format!("set `{}`, or give it a default: `${{{}:-/some/path}}`", self.variable, self.variable)
    }
}

impl Explain for ToolMissing {
    fn code(&self) -> Code {
        Code::new("config-tool-missing")
    }

    fn why(&self) -> String {
        "a setting that names nothing protects nothing; the tool it was meant for goes without".into()
    }

    fn fix(&self) -> String {
        let mut known = self.known.clone();
        known.truncate(20);
        format!("use the server's own name of the tool; it has {}", known.join(", "))
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("pack", self.pack.as_str().into()), ("tool", self.tool.as_str().into())])
    }
}
