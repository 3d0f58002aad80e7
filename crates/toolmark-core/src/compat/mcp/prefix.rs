//! Tool names with their server in front: `mcp_<server>__<tool>`, cut to fit and told apart by a hash where they coincide.

use std::collections::{HashMap, HashSet};

use sha1::{Digest as _, Sha1};

use super::all_tools::Server;
use crate::digest::hex;

/// The longest name that every provider takes.
const MAX: usize = 64;
/// A shortened name ends in `_` and this many hexadecimal digits.
const HASH: usize = 8;

/// The part of a name that is safe everywhere: what is not an ASCII letter, digit, `_` or `-` becomes `_`, and `_` and `-`
/// are taken off both ends. When nothing is left, the fallback.
#[must_use]
pub fn safe_name_part(text: &str, fallback: &str) -> String {
    let safe: String = text
        .chars()
        .map(
            |character| {
                if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') { character } else { '_' }
            },
        )
        .collect();
    match safe.trim_matches(['_', '-']) {
        "" => fallback.to_owned(),
        part => part.to_owned(),
    }
}

/// The name before it is cut or told apart.
#[must_use]
pub fn prefixed_base_name(server: &str, tool: &str) -> String {
    format!("mcp_{}__{}", safe_name_part(server, "server"), safe_name_part(tool, "tool"))
}

/// The names of all tools of all servers, in their order. None is given twice, and none of `reserved` is given.
#[must_use]
pub fn prefixed_tool_names(servers: &[Server], reserved: &HashSet<String>) -> Vec<Vec<String>> {
    let mut wanted = wanted(servers, reserved);
    wanted.sort_by(|one, other| one.order().cmp(&other.order()));

    let mut names: Vec<Vec<String>> = servers.iter().map(|server| vec![String::new(); server.tools().len()]).collect();
    let mut taken = reserved.clone();
    // Twins go on counting where the one before them stopped: what was taken then is taken still.
    let mut counters: HashMap<(String, String), u64> = HashMap::new();
    for tool in wanted {
        let mut name = tool.first;
        if taken.contains(&name) {
            let counter = counters.entry((tool.base.clone(), tool.seed.clone())).or_default();
            while taken.contains(&name) {
                *counter += 1;
                name = shortened(&tool.base, &format!("{}\0{counter}", tool.seed));
            }
        }
        taken.insert(name.clone());
        let place = names.get_mut(tool.server).and_then(|names| names.get_mut(tool.tool));
        place.into_iter().for_each(|place| place.clone_from(&name));
    }
    names
}

/// A tool that needs a name.
struct Wanted {
    /// The name it gets if nobody has it yet.
    first: String,
    base: String,
    seed: String,
    server: usize,
    tool: usize,
}

impl Wanted {
    /// Who chooses first. The order of the servers counts only between tools that nothing else tells apart.
    fn order(&self) -> (&str, &str, usize, usize) {
        (&self.first, &self.seed, self.server, self.tool)
    }
}

fn wanted(servers: &[Server], reserved: &HashSet<String>) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    let mut uses: HashMap<String, usize> = HashMap::new();
    for (server_index, server) in servers.iter().enumerate() {
        let label = server.log_name();
        for (tool_index, tool) in server.tools().iter().enumerate() {
            let base = prefixed_base_name(&label, tool);
            *uses.entry(base.clone()).or_default() += 1;
            let seed = format!("{label}\0{tool}");
            wanted.push(Wanted { first: String::new(), base, seed, server: server_index, tool: tool_index });
        }
    }
    for tool in &mut wanted {
        let unique = uses.get(&tool.base) == Some(&1);
        let fits = unique && tool.base.len() <= MAX && !reserved.contains(&tool.base);
        tool.first = if fits { tool.base.clone() } else { shortened(&tool.base, &tool.seed) };
    }
    wanted
}

/// The beginning of `base` and a hash of `seed`. `base` is ASCII.
fn shortened(base: &str, seed: &str) -> String {
    let stem = base.get(..MAX - HASH - 1).unwrap_or(base).trim_end_matches(['_', '-']);
    let stem = if stem.is_empty() { "mcp" } else { stem };
    let digest = hex(&Sha1::digest(seed));
    format!("{stem}_{}", digest.get(..HASH).unwrap_or_default())
}
