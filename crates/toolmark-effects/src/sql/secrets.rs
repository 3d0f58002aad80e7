//! Which names of columns and tables promise credentials. Names only: `token_count` and `password_changed_at` promise none.

/// Where the name of a secret ends: what it is, without what was done to it.
const PROCESSED: &[&str] = &[
    "bcrypt",
    "cipher",
    "ciphertext",
    "digest",
    "enc",
    "encrypted",
    "hash",
    "hashed",
    "hashes",
    "md5",
    "plain",
    "plaintext",
    "raw",
    "sha1",
    "sha256",
    "string",
    "text",
    "value",
];

/// Nouns that are secrets by themselves.
const SECRETS: &[&str] = &[
    "apikey",
    "apikeys",
    "apisecret",
    "apitoken",
    "authtoken",
    "clientsecret",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "pwd",
    "pwhash",
    "rolpassword",
    "secret",
    "secretkey",
    "secrets",
    "ssn",
];

/// `… key` is a secret after these.
const KEYS: &[&str] =
    &["access", "api", "app", "encryption", "master", "private", "secret", "service", "signing", "ssh"];

/// `… token` is a secret after these.
const TOKENS: &[&str] = &[
    "access",
    "api",
    "auth",
    "authentication",
    "bearer",
    "bot",
    "confirmation",
    "csrf",
    "device",
    "id",
    "jwt",
    "login",
    "oauth",
    "personal",
    "refresh",
    "remember",
    "reset",
    "secret",
    "security",
    "session",
    "verification",
];

/// Relations that hold nothing but credentials.
const VAULTS: &[&str] = &[
    "decrypted_secrets",
    "duckdb_secrets",
    "pg_authid",
    "pg_shadow",
    "pg_user_mapping",
    "pg_user_mappings",
    "sql_logins",
    "syslogins",
    "user$",
    "which_secret",
];

/// Columns that are secrets in a table whose name says so.
const CONTENTS: &[&str] = &["content", "data", "hash", "key", "payload", "secret", "token", "value"];

/// Columns named `token` are credentials in tables about these.
const TOKEN_TABLES: &[&str] = &[
    "account",
    "accounts",
    "auth",
    "client",
    "clients",
    "device",
    "devices",
    "identities",
    "identity",
    "integration",
    "integrations",
    "invitation",
    "invitations",
    "key",
    "keys",
    "login",
    "logins",
    "member",
    "members",
    "oauth",
    "session",
    "sessions",
    "tokens",
    "user",
    "users",
    "webhook",
    "webhooks",
];

/// True when a column of this name holds a credential.
pub(crate) fn is_secret_column(name: &str) -> bool {
    let parts = parts(name);
    let mut rest = parts.as_slice();
    let mut processed = false;
    while let [before @ .., last] = rest {
        if before.is_empty() || !PROCESSED.contains(&last.as_str()) {
            break;
        }
        rest = before;
        processed = true;
    }
    match rest {
        [first, ..] if rest.len() > 1 && ["is", "has", "had", "no", "needs", "requires"].contains(&first.as_str()) => {
            false
        }
        [last] if processed && ["pass", "pw", "token"].contains(&last.as_str()) => true,
        [last] => SECRETS.contains(&last.as_str()) || (last == "authentication" && processed),
        [.., before, last] => match last.as_str() {
            "pass" => before == "user" || before == "db" || processed,
            "key" | "keys" => KEYS.contains(&before.as_str()),
            "token" | "tokens" => TOKENS.contains(&before.as_str()),
            "number" => before == "card" || before == "security",
            "card" => before == "credit",
            last => SECRETS.contains(&last),
        },
        [] => false,
    }
}

/// True when a column of this name holds a credential, given the table it is read from.
pub(crate) fn is_secret_column_of(column: &str, table: &str) -> bool {
    if is_secret_column(column) {
        return true;
    }
    let column = column.to_ascii_lowercase();
    (is_secret_table(table) && CONTENTS.contains(&column.as_str()))
        || (column == "token" && parts(table).iter().any(|part| TOKEN_TABLES.contains(&part.as_str())))
}

/// True when a table of this name holds credentials in some of its columns.
pub(crate) fn is_secret_table(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if is_vault(&lower) || lower == "mysql.user" || lower.ends_with(".mysql.user") {
        return true;
    }
    let parts = parts(lower.rsplit('.').next().unwrap_or(&lower));
    match parts.as_slice() {
        [.., last] if ["credentials", "secrets", "passwords", "apikeys"].contains(&last.as_str()) => true,
        [.., before, last] => match last.as_str() {
            "key" | "keys" => KEYS.contains(&before.as_str()),
            "token" | "tokens" => TOKENS.contains(&before.as_str()),
            _ => false,
        },
        _ => false,
    }
}

/// True when whatever is read from a relation of this name is a credential.
pub(super) fn is_vault(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    VAULTS.contains(&lower.rsplit('.').next().unwrap_or(&lower))
}

/// True when a column of this name may be a credential in some table: a cheap question first, the exact one if need be.
pub(super) fn is_suspicious(word: &str) -> bool {
    let hint = word.as_bytes().windows(3).any(|three| {
        let [a, b, c] = three else { return false };
        let lower = [a.to_ascii_lowercase(), b.to_ascii_lowercase(), c.to_ascii_lowercase()];
        matches!(
            &lower,
            b"pas"
                | b"pwd"
                | b"pwh"
                | b"sec"
                | b"tok"
                | b"key"
                | b"red"
                | b"ssn"
                | b"cvv"
                | b"cvc"
                | b"car"
                | b"pw_"
                | b"hen"
        )
    });
    hint && (word.eq_ignore_ascii_case("token") || is_secret_column(word))
}

/// `encryptedPassword`, `encrypted_password` and `Encrypted-Password` alike, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut lower_before = false;
    for character in name.chars().take(128) {
        if !character.is_alphanumeric() && character != '$' {
            parts.push(String::new());
        } else {
            if character.is_uppercase() && lower_before {
                parts.push(String::new());
            }
            if let Some(last) = parts.last_mut() {
                last.push(character.to_ascii_lowercase());
            }
        }
        lower_before = character.is_lowercase() || character.is_ascii_digit();
    }
    parts.retain(|part| !part.is_empty());
    parts
}
