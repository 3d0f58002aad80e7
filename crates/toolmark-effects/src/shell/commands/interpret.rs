//! Programs that run programs: shells, whose language is read, and every other, whose language is not.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    let versioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match versioned {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "rbash" => shell,
        "python" | "pypy" | "ipython" => python,
        "node" | "nodejs" | "deno" | "bun" | "ruby" | "perl" | "php" | "lua" | "luajit" | "Rscript" | "R" | "julia"
        | "tclsh" | "osascript" | "powershell" | "pwsh" | "java" | "jshell" | "kotlin" | "scala" | "groovy"
        | "swift" | "ts-node" | "tsx" | "fish" | "csh" | "tcsh" | "irb" | "erl" | "elixir" | "ghci" | "runghc"
        | "guile" | "sbcl" | "clojure" | "octave" | "matlab" | "dc" | "bc" | "gdb" | "lldb" | "cmd" | "wscript"
        | "cscript" | "mshta" | "rundll" | "elixirc" | "iex" => other,
        "make" | "gmake" | "cmake" | "ninja" | "meson" | "gradle" | "gradlew" | "mvn" | "mvnw" | "ant" | "bazel"
        | "sbt" | "rake" | "just" | "task" | "pytest" | "tox" | "nox" | "jest" | "vitest" | "mocha" | "tsc"
        | "webpack" | "vite" | "eslint" | "prettier" | "gcc" | "g++" | "clang" | "clang++" | "cc" | "c++" | "rustc"
        | "javac" | "ld" | "as" | "pre-commit" | "ansible" | "ansible-playbook" | "packer" | "vagrant" | "pulumi"
        | "serverless" | "sam" | "cdk" | "ruff" | "black" | "mypy" | "rubocop" | "scrapy" | "jupyter"
        | "playwright" | "cypress" | "nx" | "turbo" | "lerna" => project,
        _ => return None,
    })
}

fn shell(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec { short: "oO", long: &["rcfile", "init-file"], stops: true };
    let found = options(call.args, spec);
    if found.has_any(&["rcfile", "init-file"]) || found.uncertain || found.has("i", "") {
        walk.found.unclear(format!("`{}` runs a file when it starts", call.name));
    }
    if found.has("c", "") {
        match found.operands.first() {
            Some(script) if script.exact => walk.shell(&script.text),
            _ => walk.found.unclear(format!("`{} -c` runs a text that is computed", call.name)),
        }
        return Input::Output;
    }
    let checks = found.flags.iter().any(|flag| !flag.long && flag.name == "n");
    if checks {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    if !found.operands.is_empty() && !found.has("s", "") {
        walk.found.unclear(format!("`{}` runs a file", call.name));
        return Input::Output;
    }
    match call.input {
        Input::Text(text) => walk.shell(text),
        Input::Remote => walk.found.effect(call.runs().with(Danger::Outward)),
        Input::Decoded => walk.found.effect(call.runs()),
        Input::File(_) | Input::Names | Input::Output | Input::Inherit => {
            walk.found.unclear(format!("`{}` runs what it reads", call.name));
        }
    }
    Input::Output
}

fn python(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let words: Vec<&str> = call.args.iter().filter(|arg| arg.exact).map(|arg| arg.text.as_str()).collect();
    let known = words.len() == call.args.len();
    match words.as_slice() {
        // Reads a file and prints it; with a second name it writes.
        ["-m", "json.tool"] | ["-m", "json.tool", _] if known => {
            let files = call.args.get(2..).unwrap_or_default();
            walk.found.effect(call.reading(call.pure(Action::Read), files));
        }
        ["-m", "pip", ..] | ["-m", "venv", ..] | ["-m", "http.server", ..] if known => {
            let mut args = call.args.get(1..).unwrap_or_default().to_vec();
            if let Some(name) = args.first_mut() {
                name.text = if name.text == "pip" { "pip".into() } else { format!("python -m {}", name.text) };
            }
            if words.get(1) == Some(&"pip") {
                return walk.run(&args, call.input);
            }
            let serves = words.get(1) == Some(&"http.server");
            let effect = call.mutating(if serves { Action::Execute } else { Action::Create });
            walk.found.effect(if serves { effect.with(Danger::Outward) } else { effect });
        }
        _ => return other(call, walk),
    }
    Input::Output
}

fn other(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let checks = match call.name {
        "node" | "nodejs" | "ruby" | "deno" | "bun" | "php" | "perl"
            if call.args.len() == 1 && call.first() == Some("-v") =>
        {
            true
        }
        "node" | "nodejs" => call.first() == Some("--check"),
        "php" => call.first() == Some("-l"),
        "bc" => *call.input != Input::Inherit && call.args.iter().all(|arg| matches!(arg.text.as_str(), "-l" | "-q")),
        _ => false,
    };
    if checks {
        walk.found.effect(call.pure(Action::Read));
    } else if matches!(call.input, Input::Remote | Input::Decoded) {
        walk.found.effect(call.runs());
    } else {
        walk.found.unclear(format!("`{}` runs a program in another language", call.name));
    }
    Input::Output
}

fn project(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.unclear(format!("`{}` runs what the project says", call.name));
    Input::Output
}
