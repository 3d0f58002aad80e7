//! Package managers: listing reads, installing runs what the packages bring along, publishing sends.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use super::tables::packages::{COMPILED, NPM, OTHER, PYTHON, SYSTEM};
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
    let dry: &[&str] = match versioned {
        "npm" => DRY,
        "apt" | "apt-get" => &["dry-run", "simulate", "just-print", "no-act", "recon", "s"],
        _ => &[],
    };
    Some(Verbs { spec, rows, dry })
}
