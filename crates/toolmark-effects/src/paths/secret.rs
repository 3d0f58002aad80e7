//! Which files and variables hold credentials, keys or what somebody typed. Names only; examples and public halves are left alone.

/// Directories in which everything is secret, but for the files named with them.
const DIRECTORIES: &[(&str, &[&str])] = &[
    (".ssh", &["known_hosts", "config"]),
    (".aws", &["config"]),
    (".gnupg", &[]),
    (".kube", &["cache"]),
    (".azure", &["config"]),
    (".password-store", &[]),
    ("keyrings", &[]),
    ("keychains", &[]),
];

/// Files that are secret wherever they stand.
const FILES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    ".s3cfg",
    ".boto",
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".history",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".node_repl_history",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "authorized_keys",
    "credentials.json",
    "credentials.db",
    "access_tokens.db",
    "application_default_credentials.json",
    "service-account.json",
    "service_account.json",
    "serviceaccount.json",
    "client_secret.json",
    "client_secrets.json",
    "accesstokens.json",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "secret.yml",
    "secret.yaml",
    "secrets.env",
    "master.key",
    "kubeconfig",
    "kubeconfig.yaml",
    "kubeconfig.yml",
    "admin.conf",
    "terraform.tfstate",
    "wallet.dat",
    "key4.db",
    "key3.db",
    "logins.json",
    "login data",
    "ntds.dit",
    "unattend.xml",
];

/// Ends of paths that are secret together.
const ENDS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/master.passwd",
    "/etc/krb5.keytab",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".composer/auth.json",
    "system32/config/sam",
    "system32/config/system",
    "system32/config/security",
    "/proc/kcore",
    "/dev/mem",
    "/dev/kmem",
];

/// Places below which everything is secret.
const PLACES: &[&str] =
    &["/run/secrets", "/var/run/secrets", "/etc/ssl/private", "/etc/sudoers.d", "/etc/kubernetes/pki"];

/// Ends of the names of files that hold keys.
const EXTENSIONS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".keytab", ".ovpn", ".p8", ".pkcs12"];

/// Parts of names that say a file holds no key after all.
const PUBLIC: &[&str] = &[
    "cert",
    "chain",
    "public",
    "pub.",
    "bundle",
    "ca.",
    "ca-",
    "cacert",
    "root",
    "slides",
    "keynote",
    "deck",
    "presentation",
    "example",
    "sample",
    "template",
    "csr",
];

/// Words that mark a file as an example.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema", "tpl"];

/// True when a path names something that holds credentials.
pub(crate) fn is_secret(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'']).replace('\\', "/").to_lowercase();
    let path = path.replace("${home}", "~").replace("$home", "~");
    let path = path.strip_prefix("file://").unwrap_or(&path);
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    if name.ends_with(".pub") {
        return false;
    }
    let inside = |(place, open): &(&str, &[&str])| {
        let inner = directory.split('/').any(|part| part == *place);
        (inner && !open.contains(&name) && !open.iter().any(|open| directory.ends_with(open))) || name == *place
    };
    DIRECTORIES.iter().any(inside)
        || FILES.contains(&name)
        || ENDS.iter().any(|end| path.ends_with(end) || path == end.trim_start_matches('/'))
        || PLACES.iter().any(|place| path.starts_with(place))
        || is_environment(name)
        || is_key(name)
        || is_process_memory(path)
        || may_match(directory, name)
}

fn is_environment(name: &str) -> bool {
    let rest = name.strip_prefix(".env").and_then(|rest| rest.strip_prefix(['.', '-', '_']));
    match rest.or_else(|| name.strip_suffix(".env")) {
        Some(kind) => !kind.split(['.', '-', '_']).any(|part| EXAMPLES.contains(&part)),
        None => false,
    }
}

fn is_key(name: &str) -> bool {
    let host_key = name.starts_with("ssh_host_") && name.ends_with("_key");
    let extended = EXTENSIONS.iter().any(|extension| name.ends_with(extension) && name.len() > extension.len());
    let client = name.starts_with("client_secret") && name.ends_with(".json");
    let state = name.ends_with(".tfstate") || name.ends_with(".tfstate.backup");
    host_key || client || state || (extended && !PUBLIC.iter().any(|part| name.contains(part)))
}

/// `/proc/…/environ` and its kin.
fn is_process_memory(path: &str) -> bool {
    path.starts_with("/proc/") && ["/environ", "/mem", "/maps"].iter().any(|end| path.ends_with(end))
}

/// True when a pattern was made for a secret name: it matches one, and little else.
fn may_match(directory: &str, name: &str) -> bool {
    const TARGETS: &[&str] = &[
        ".env",
        "id_rsa",
        "id_ed25519",
        "id_ecdsa",
        "shadow",
        "gshadow",
        "sudoers",
        ".netrc",
        ".npmrc",
        ".pgpass",
        ".git-credentials",
        ".bash_history",
        ".zsh_history",
        "credentials",
    ];
    let secret_directory = || {
        let patterns = directory.split('/').filter(|part| part.contains(['*', '?', '[']));
        patterns.into_iter().any(|part| [".ssh", ".aws", ".gnupg", ".kube"].iter().any(|place| aims_at(part, place)))
    };
    (name.contains(['*', '?', '[']) && TARGETS.iter().any(|target| aims_at(name, target))) || secret_directory()
}

fn aims_at(pattern: &str, target: &str) -> bool {
    let literal = pattern.chars().filter(|c| !matches!(c, '*' | '?' | '[' | ']')).count();
    (literal * 2 >= target.len() || (literal >= 2 && pattern.starts_with('.'))) && matches(pattern, target)
}

/// Matches a shell pattern without backtracking further than the last star.
fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = simplified(pattern);
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(&character) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&expected) if expected == '?' || expected == character => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, t));
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// The pattern with each set of characters as `?`.
fn simplified(pattern: &str) -> Vec<char> {
    let mut out = Vec::new();
    let mut set = false;
    for character in pattern.chars() {
        match character {
            '[' if !set => {
                set = true;
                out.push('?');
            }
            ']' if set => set = false,
            _ if set => {}
            other => out.push(other),
        }
    }
    out
}

/// True when a variable of this name usually holds a credential.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let marks =
        ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"];
    marks.iter().any(|mark| name.contains(mark))
        || name.ends_with("_PASS")
        || name.ends_with("_PWD")
        || name == "PGPASS"
}
