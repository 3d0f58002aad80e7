//! Arguments that hold commands and programs: shells, `kubectl`, code.

use super::clues::{Clues, Kind};
use super::{Carrier, With};
use crate::kubernetes;
use crate::language::Language;

pub(super) fn find(clues: &Clues, out: &mut Vec<Carrier>) {
    kubernetes(clues, out);
    shell(clues, out);
    code(clues, out);
}

fn kubernetes(clues: &Clues, out: &mut Vec<Carrier>) {
    if clues.named(&["cloudwatch", "guidance", "insights", "policy", "policies", "stacks"]) {
        return;
    }
    let cluster = clues.served_by(&["kubernetes", "k8s", "kubectl", "openshift", "eks", "gke"])
        || clues.named(&["kubectl", "k8s", "kubernetes"]);
    if !cluster {
        return;
    }
    let executes = clues.named(&["exec", "execute"]) && clues.parameter(&["podname", "pod", "name"]).is_some();
    if let Some(command) = clues.parameter(&["command", "cmd", "args", "kubectlcommand"]).filter(|_| !executes) {
        let kubectl = clues.named(&["kubectl", "helm"]) || clues.says(&["kubectl command", "kubectl "]);
        if kubectl && matches!(command.kind, Kind::Text | Kind::Texts) {
            let arguments =
                clues.parameter(&["args", "arguments"]).filter(|arguments| arguments.pointer != command.pointer);
            let with = arguments.map_or(With::Nothing, |arguments| With::Arguments(arguments.name()));
            out.push(Carrier::new(&command.pointer, Language::Kubernetes, "the tool is `kubectl`").with(with));
            return;
        }
    }
    let acts = clues
        .parameter(&["kind", "resource", "resourcetype", "manifest", "scale", "replicas", "yaml", "nodename"])
        .is_some()
        || (clues.parameter(&["name", "podname"]).is_some() && clues.parameter(&["namespace"]).is_some());
    let verb = kubernetes::is_operation(&clues.raw)
        || clues.parameter(&["operation", "verb", "action", "subcommand"]).is_some();
    if acts && !executes && verb {
        let carrier = Carrier::new("", Language::Kubernetes, "the tool acts on a cluster");
        out.push(carrier.with(With::Name(clues.raw.clone())));
    }
}

/// Names of arguments that hold a command.
const COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "commands",
    "script",
    "bash",
    "shell",
    "commandline",
    "shellcommand",
    "bashcommand",
    "clicommand",
    "terminalcommand",
    "inputtext",
    "shellscript",
    "bashscript",
    "executecommand",
    "input",
];

fn shell(clues: &Clues, out: &mut Vec<Carrier>) {
    let runs = clues.named(&[
        "run",
        "exec",
        "execute",
        "shell",
        "terminal",
        "bash",
        "command",
        "cmd",
        "console",
        "cli",
        "ssh",
        "process",
        "spawn",
        "powershell",
        "send",
        "call",
    ]);
    for parameter in clues.parameters.iter().filter(|parameter| parameter.choices.is_empty()) {
        if !COMMANDS.contains(&parameter.key.as_str()) || !matches!(parameter.kind, Kind::Text | Kind::Texts) || !runs {
            continue;
        }
        let typed = matches!(parameter.key.as_str(), "inputtext" | "input");
        let plain = parameter.key != "script" && !typed;
        let speaks = |texts: &[&str]| clues.says(texts) || parameter.says(texts);
        let shell = (!typed || clues.named(&["process", "terminal", "shell", "session"]))
            && speaks(&[
                "shell",
                "terminal",
                "bash",
                "command line",
                "command-line",
                "cli command",
                "ssh",
                "linux",
                "powershell",
            ]);
        let process = typed
            && clues.named(&["process", "terminal", "shell", "repl", "send"])
            && clues.says(&["command", "process"]);
        let command = process
            || plain
                && (clues.named(&["command", "cmd", "shell", "exec", "bash", "cli"])
                    || speaks(&[
                        "execute a command",
                        "run a command",
                        "command to execute",
                        "command to run",
                        "system command",
                    ]));
        // Servers of databases and of clouds call their own verbs commands.
        let other = parameter.says(&["against the specified tool", "redis command", "valkey command", "sql"])
            || clues.served_by(&["redis", "valkey", "azure", "mongo"])
            || clues.says(&["javascript"]);
        if !(shell || command) || other {
            continue;
        }
        let evidence = if shell { "the tool speaks of a shell" } else { "the tool runs commands" };
        let arguments =
            clues.parameter(&["args", "arguments", "argv"]).filter(|arguments| arguments.kind == Kind::Texts && plain);
        let (language, with) = match (parameter.kind, arguments) {
            (Kind::Texts, _) if parameter.key == "commands" => (Language::Shell, With::Nothing),
            (Kind::Texts, _) => (Language::Argv, With::Nothing),
            (_, Some(arguments)) => (Language::Shell, With::Arguments(arguments.name())),
            _ => (Language::Shell, With::Nothing),
        };
        let pointer = if parameter.key == "commands" && parameter.kind == Kind::Texts {
            format!("{}/*", parameter.pointer)
        } else {
            parameter.pointer.clone()
        };
        out.push(Carrier::new(pointer, language, evidence).with(with));
    }
}

/// Names of arguments that hold a program.
const PROGRAMS: &[&str] = &[
    "code",
    "script",
    "python",
    "javascript",
    "js",
    "function",
    "program",
    "snippet",
    "pythoncode",
    "pythonscript",
    "jscode",
    "sourcecode",
    "initscript",
    "codesnippet",
    "javascriptcode",
    "cellsource",
    "cellcode",
    "expression",
    "typescript",
    "source",
];

fn code(clues: &Clues, out: &mut Vec<Carrier>) {
    for parameter in
        clues.parameters.iter().filter(|parameter| parameter.is_text() && PROGRAMS.contains(&parameter.key.as_str()))
    {
        let language = |texts: &dyn Fn(&[&str]) -> bool| {
            texts(&[
                "javascript",
                "python",
                "typescript",
                "js function",
                "playwright code",
                "code to",
                "ruby",
                "node.js",
                "source code",
                "r code",
                "lua",
            ])
        };
        let speaks = language(&|texts| parameter.says(texts)) || language(&|texts| clues.says(texts));
        let runs = clues.named(&[
            "evaluate",
            "eval",
            "run",
            "execute",
            "exec",
            "interpreter",
            "repl",
            "interact",
            "sandbox",
            "navigate",
        ]) || parameter.says(&["to execute", "to run", "to evaluate", "to be executed"]);
        let named = clues.named(&["python", "javascript", "code", "js", "repl"])
            && clues.named(&["run", "execute", "exec", "eval", "evaluate", "interpreter"]);
        let needs_more = matches!(parameter.key.as_str(), "expression" | "source" | "function");
        let said = speaks && (parameter.says(&["javascript", "python", "code", "=>"]) || !needs_more);
        let live = clues.says(&["live browser session"]) && parameter.key == "code";
        if (runs && said) || (named && !needs_more) || live {
            out.push(Carrier::new(&parameter.pointer, Language::Code, "the tool runs programs"));
        }
    }
}
