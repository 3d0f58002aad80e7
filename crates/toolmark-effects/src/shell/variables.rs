//! What follows from setting a variable: some change which programs run, some hold the name of a secret.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::arg::{lower, written};
use super::tree::Word;
use super::walk::Walk;

/// Variables that change which programs run, or what they run.
const DANGEROUS: &[&str] = &[
    "PATH",
    "ENV",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "GREP_OPTIONS",
    "CURL_HOME",
    "WGETRC",
    "HOME",
    "XDG_CONFIG_HOME",
    "KUBECONFIG",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "FPATH",
    "CDPATH",
    "GCONV_PATH",
    "PSQLRC",
    "PSQL_PAGER",
    "PSQL_EDITOR",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RSYNC_RSH",
    "HOSTALIASES",
    "OPENSSL_CONF",
    "INPUTRC",
];

/// Beginnings of the names of such variables.
const DANGEROUS_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "npm_config_",
    "NPM_CONFIG_",
    "CARGO_",
    "RUSTC",
    "PIP_",
    "KUBECTL_",
    "MAVEN_",
];

/// Such variables, with values that do no harm.
const HARMLESS_VALUES: &[&str] = &["", "cat", "/bin/cat", "less", "true", "0", "1", "never", "always"];

impl Walk<'_> {
    /// Notes `name=value`.
    pub(super) fn assign(&mut self, name: &str, value: &Word, partial: bool) {
        let mut args = Vec::new();
        lower(value, &self.scope, &mut args);
        let obscure = args.iter().any(|arg| arg.obscure);
        let known = match args.as_slice() {
            [] => Some(String::new()),
            [arg] if arg.exact => Some(arg.text.clone()),
            _ => None,
        };
        self.note_variable(name, &written(value), known.is_some());
        match known {
            Some(text) if !partial => self.scope.set(name, text),
            _ => self.scope.set_computed(name, obscure),
        }
    }

    /// Notes what follows from setting a variable.
    pub(super) fn note_variable(&mut self, name: &str, value: &str, known: bool) {
        let listed = DANGEROUS.contains(&name) || DANGEROUS_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        // What is only added at the end of the search path hides no program that stands before it.
        let extends = name == "PATH" && value.starts_with("$PATH:");
        if listed && !extends && !(known && HARMLESS_VALUES.contains(&value)) {
            self.found.unclear(format!("`{name}` is set, which can change what programs do"));
        }
        if crate::paths::is_secret(value) {
            let effect = Effect::pure(Action::Read, format!("{name}={}", visible(value, 60))).with(Danger::Secret);
            self.found.effect(effect);
        }
    }
}
