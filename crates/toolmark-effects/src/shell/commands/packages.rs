//! Package managers: listing reads, installing runs what the packages bring along, publishing sends.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use super::verbs::{DRY, Does, Verbs, read};
use crate::shell::call::Call;
use crate::shell::options::Spec;
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    verbs(name).map(|_| by_verb as Reader)
}

fn by_verb(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    if matches!(call.name, "dpkg" | "rpm" | "pacman") {
        return by_letter(call, walk);
    }
    let installs = matches!(call.name, "yarn" | "bundle") && call.args.is_empty();
    let sets = call.name == "go"
        && call.first() == Some("env")
        && call.args.iter().any(|arg| matches!(arg.text.as_str(), "-w" | "-u"));
    if installs || sets {
        walk.found.effect(call.mutating(if sets { Action::Update } else { Action::Create }).with(Danger::Code));
        return Input::Output;
    }
    match verbs(call.name) {
        Some(verbs) => read(call, walk, &verbs),
        None => Input::Output,
    }
}

/// Managers whose verb is an option.
fn by_letter(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let first = call.first().unwrap_or_default();
    let runs = |text: &str| {
        text.contains("%(")
            || ["--eval", "-E", "--define", "-D", "--pipe", "--load", "--rcfile", "--hookdir", "--config"]
                .iter()
                .any(|option| text.starts_with(option))
    };
    if call.args.iter().any(|arg| arg.floating || runs(&arg.text)) {
        walk.found.unclear(format!("`{}` may run something", call.name));
    }
    let looks = match call.name {
        "dpkg" => matches!(
            first,
            "-l" | "-L"
                | "-s"
                | "-S"
                | "-p"
                | "-I"
                | "-c"
                | "--list"
                | "--listfiles"
                | "--status"
                | "--search"
                | "--get-selections"
                | "--print-architecture"
        ),
        "rpm" => first.starts_with("-q") || matches!(first, "--query" | "-V" | "--verify"),
        _ => first.starts_with("-Q") || matches!(first, "-Ss" | "-Si" | "-Sl" | "-Sg"),
    };
    let does = if looks {
        Does::Reads
    } else if matches!(first, "-r" | "-P" | "--remove" | "--purge" | "-e" | "--erase") || first.starts_with("-R") {
        Does::Deletes
    } else {
        Does::Installs
    };
    if let Some(effect) = super::verbs::effect(call, does) {
        walk.found.effect(effect);
    }
    Input::Output
}

const NONE: Spec = Spec { short: "", long: &[], stops: false };

fn verbs(name: &str) -> Option<Verbs> {
    let versioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rows: &[(&str, Does)] = match versioned {
        "npm" | "yarn" | "pnpm" => NPM,
        "npx" | "bunx" | "pnpx" | "uvx" | "dlx" => return Some(Verbs { spec: NONE, rows: &[], dry: &[] }),
        "pip" | "pipx" | "uv" | "poetry" | "pipenv" | "conda" | "mamba" | "pdm" | "hatch" => PYTHON,
        "cargo" | "go" | "rustup" => COMPILED,
        "gem" | "composer" | "dotnet" | "nuget" | "luarocks" => OTHER,
        // They run the file that lists the packages, whatever they are asked.
        "bundle" | "bundler" | "mix" | "cpan" => return Some(Verbs { spec: NONE, rows: &[], dry: &[] }),
        "apt" | "apt-get" | "apt-cache" | "yum" | "dnf" | "apk" | "zypper" | "brew" | "snap" | "flatpak" | "port"
        | "choco" | "winget" | "aptitude" => SYSTEM,
        "dpkg" | "rpm" | "pacman" => SYSTEM,
        _ => return None,
    };
    let spec = Spec { short: "C", long: &["prefix", "registry", "manifest-path", "cwd"], stops: false };
    // Elsewhere a dry run still builds what it would install.
    let dry: &[&str] = if matches!(versioned, "npm" | "apt" | "apt-get") { DRY } else { &[] };
    Some(Verbs { spec, rows, dry })
}

use Does::{Creates, Deletes, Installs, Reads, Reveals, Runs, Searches, Sends, Updates};

const NPM: &[(&str, Does)] = &[
    ("ls", Reads),
    ("list", Reads),
    ("ll", Reads),
    ("la", Reads),
    ("view", Reads),
    ("info", Reads),
    ("show", Reads),
    ("v", Reads),
    ("outdated", Reads),
    ("search", Searches),
    ("audit", Reads),
    ("audit fix", Installs),
    ("why", Reads),
    ("explain", Reads),
    ("ping", Reads),
    ("root", Reads),
    ("prefix", Reads),
    ("bin", Reads),
    ("help", Reads),
    ("fund", Reads),
    ("whoami", Reads),
    ("doctor", Reads),
    ("config get", Reads),
    ("config list", Reads),
    ("config ls", Reads),
    ("config set", Updates),
    ("config delete", Deletes),
    ("config edit", Runs),
    ("query", Reads),
    ("licenses", Reads),
    ("licenses list", Reads),
    ("install", Installs),
    ("i", Installs),
    ("in", Installs),
    ("add", Installs),
    ("ci", Installs),
    ("update", Installs),
    ("up", Installs),
    ("upgrade", Installs),
    ("dedupe", Installs),
    ("rebuild", Installs),
    ("link", Installs),
    ("import", Installs),
    ("uninstall", Deletes),
    ("un", Deletes),
    ("remove", Deletes),
    ("rm", Deletes),
    ("prune", Deletes),
    ("cache clean", Deletes),
    ("cache ls", Reads),
    ("cache verify", Updates),
    ("init", Creates),
    ("create", Installs),
    ("pack", Creates),
    ("version", Updates),
    ("publish", Sends),
    ("unpublish", Sends),
    ("deprecate", Sends),
    ("dist-tag", Sends),
    ("dist-tag ls", Reads),
    ("owner", Sends),
    ("owner ls", Reads),
    ("access", Sends),
    ("token", Reveals),
    ("login", Updates),
    ("adduser", Updates),
    ("logout", Updates),
    ("run", Runs),
    ("run-script", Runs),
    ("exec", Runs),
    ("x", Runs),
    ("dlx", Runs),
    ("start", Runs),
    ("stop", Runs),
    ("restart", Runs),
    ("test", Runs),
    ("t", Runs),
    ("build", Runs),
    ("dev", Runs),
    ("lint", Runs),
    ("node", Runs),
];

const PYTHON: &[(&str, Does)] = &[
    ("list", Reads),
    ("show", Reads),
    ("freeze", Reads),
    ("check", Reads),
    ("search", Searches),
    ("index", Reads),
    ("inspect", Reads),
    ("debug", Reads),
    ("help", Reads),
    ("config list", Reads),
    ("config get", Reads),
    ("config set", Updates),
    ("config", Updates),
    ("cache list", Reads),
    ("cache info", Reads),
    ("cache dir", Reads),
    ("cache purge", Deletes),
    ("cache clean", Deletes),
    ("env list", Reads),
    ("env info", Reads),
    ("env remove", Deletes),
    ("env create", Installs),
    ("env export", Reads),
    ("info", Reads),
    ("hash", Reads),
    ("version", Updates),
    ("install", Installs),
    ("download", Installs),
    ("wheel", Installs),
    ("add", Installs),
    ("sync", Installs),
    ("lock", Installs),
    ("update", Installs),
    ("upgrade", Installs),
    ("create", Installs),
    ("inject", Installs),
    ("uninstall", Deletes),
    ("remove", Deletes),
    ("clean", Deletes),
    ("run", Runs),
    ("shell", Runs),
    ("build", Runs),
    ("init", Creates),
    ("new", Creates),
    ("venv", Creates),
    ("publish", Sends),
    ("pip list", Reads),
    ("pip show", Reads),
    ("pip freeze", Reads),
    ("pip check", Reads),
    ("pip tree", Reads),
    ("pip install", Installs),
    ("pip sync", Installs),
    ("pip uninstall", Deletes),
    ("tree", Reads),
    ("python list", Reads),
    ("python install", Installs),
    ("tool list", Reads),
    ("tool install", Installs),
    ("tool run", Runs),
    ("tool uninstall", Deletes),
    ("export", Reads),
    ("graph", Reads),
    ("list-packages", Reads),
];

const COMPILED: &[(&str, Does)] = &[
    ("tree", Reads),
    ("metadata", Reads),
    ("search", Searches),
    ("info", Reads),
    ("version", Reads),
    ("locate-project", Reads),
    ("pkgid", Reads),
    ("help", Reads),
    ("verify-project", Reads),
    ("read-manifest", Reads),
    ("list", Reads),
    ("env", Reads),
    ("doc", Runs),
    ("show", Reads),
    ("toolchain list", Reads),
    ("target list", Reads),
    ("component list", Reads),
    ("which", Reads),
    ("mod graph", Reads),
    ("mod why", Reads),
    ("mod verify", Reads),
    ("mod tidy", Installs),
    ("mod download", Installs),
    ("mod init", Creates),
    ("mod edit", Updates),
    ("build", Runs),
    ("b", Runs),
    ("check", Runs),
    ("c", Runs),
    ("test", Runs),
    ("t", Runs),
    ("run", Runs),
    ("r", Runs),
    ("bench", Runs),
    ("clippy", Runs),
    ("fmt", Runs),
    ("fix", Runs),
    ("vet", Runs),
    ("generate", Runs),
    ("install", Installs),
    ("add", Installs),
    ("get", Installs),
    ("update", Installs),
    ("fetch", Installs),
    ("vendor", Installs),
    ("default", Updates),
    ("remove", Deletes),
    ("rm", Deletes),
    ("uninstall", Deletes),
    ("clean", Deletes),
    ("new", Creates),
    ("init", Creates),
    ("package", Creates),
    ("publish", Sends),
    ("yank", Sends),
    ("owner", Sends),
    ("login", Updates),
    ("logout", Updates),
    ("work", Updates),
    ("tool", Runs),
    ("toolchain install", Installs),
    ("toolchain uninstall", Deletes),
    ("component add", Installs),
    ("target add", Installs),
    ("self update", Installs),
];

const OTHER: &[(&str, Does)] = &[
    ("list", Reads),
    ("search", Searches),
    ("info", Reads),
    ("show", Reads),
    ("outdated", Reads),
    ("environment", Reads),
    ("env", Reads),
    ("check", Reads),
    ("help", Reads),
    ("contents", Reads),
    ("dependency", Reads),
    ("which", Reads),
    ("specification", Reads),
    ("validate", Reads),
    ("licenses", Reads),
    ("audit", Reads),
    ("why", Reads),
    ("list package", Reads),
    ("deps", Reads),
    ("install", Installs),
    ("update", Installs),
    ("require", Installs),
    ("add", Installs),
    ("restore", Installs),
    ("lock", Installs),
    ("uninstall", Deletes),
    ("remove", Deletes),
    ("clean", Deletes),
    ("cleanup", Deletes),
    ("exec", Runs),
    ("run", Runs),
    ("run-script", Runs),
    ("build", Runs),
    ("test", Runs),
    ("publish", Sends),
    ("push", Sends),
    ("nuget push", Sends),
    ("yank", Sends),
    ("init", Creates),
    ("new", Creates),
    ("create-project", Installs),
    ("config", Updates),
    ("config get", Reads),
    ("tool", Runs),
    ("ef", Runs),
    ("compile", Runs),
];

const SYSTEM: &[(&str, Does)] = &[
    ("list", Reads),
    ("ls", Reads),
    ("search", Searches),
    ("show", Reads),
    ("info", Reads),
    ("policy", Reads),
    ("depends", Reads),
    ("rdepends", Reads),
    ("madison", Reads),
    ("showpkg", Reads),
    ("stats", Reads),
    ("dump", Reads),
    ("pkgnames", Reads),
    ("provides", Reads),
    ("repolist", Reads),
    ("check-update", Reads),
    ("history", Reads),
    ("deps", Reads),
    ("uses", Reads),
    ("outdated", Reads),
    ("config", Reads),
    ("doctor", Reads),
    ("home", Reads),
    ("cat", Reads),
    ("desc", Reads),
    ("leaves", Reads),
    ("log", Reads),
    ("find", Searches),
    ("help", Reads),
    ("version", Reads),
    ("services", Updates),
    ("services list", Reads),
    ("changelog", Reads),
    ("moo", Reads),
    ("whatprovides", Reads),
    ("install", Installs),
    ("reinstall", Installs),
    ("add", Installs),
    ("upgrade", Installs),
    ("update", Updates),
    ("dist-upgrade", Installs),
    ("full-upgrade", Installs),
    ("tap", Installs),
    ("refresh", Installs),
    ("groupinstall", Installs),
    ("build-dep", Installs),
    ("remove", Deletes),
    ("purge", Deletes),
    ("erase", Deletes),
    ("del", Deletes),
    ("uninstall", Deletes),
    ("autoremove", Deletes),
    ("autoclean", Deletes),
    ("clean", Deletes),
    ("cleanup", Deletes),
    ("untap", Deletes),
    ("run", Runs),
    ("edit", Runs),
    ("link", Updates),
    ("unlink", Updates),
    ("pin", Updates),
    ("hold", Updates),
    ("download", Creates),
    ("fetch", Creates),
    ("source", Creates),
];
