//! What says that a text is secret: the name before it, or the text itself.

/// Names of variables and headers whose values are masked: all that are not known to be harmless.
pub(in crate::render) fn may_be_secret(name: &str) -> bool {
    const HARMLESS: &[&str] =
        &["PATH", "HOME", "LANG", "NODE_ENV", "DEBUG", "LOG_LEVEL", "Content-Type", "Accept", "User-Agent"];
    !HARMLESS.iter().any(|harmless| harmless.eq_ignore_ascii_case(name))
}

/// Names, also of options, that say that what comes is secret; but not those that say where it is or what kind it is.
pub(super) fn names_secret(name: &str) -> bool {
    const INSIDE: &[&str] = &[
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "credential",
        "header",
        "bearer",
        "cookie",
        "apikey",
        "signature",
    ];
    const WORDS: &[&str] = &[
        "pwd",
        "pass",
        "pw",
        "psw",
        "pat",
        "sas",
        "sig",
        "otp",
        "totp",
        "mfa",
        "2fa",
        "pin",
        "jwt",
        "cred",
        "session",
        "sessionid",
        "private",
        "mnemonic",
    ];
    const ABOUT: &[&str] = &[
        "file",
        "path",
        "dir",
        "directory",
        "folder",
        "url",
        "uri",
        "endpoint",
        "type",
        "mode",
        "method",
        "scheme",
        "provider",
        "algorithm",
        "timeout",
        "ttl",
        "env",
        "var",
        "name",
        "issuer",
    ];
    const SWITCHES: &[&str] = &["no", "skip", "disable", "allow", "require"];
    let words = words(name);
    let is_among = |list: &[&str], word: Option<&String>| word.is_some_and(|word| list.contains(&word.as_str()));
    if is_among(ABOUT, words.last()) || (name.starts_with("--") && is_among(SWITCHES, words.first())) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let one = |word: &str| {
        let single = word.strip_suffix('s').unwrap_or(word);
        WORDS.contains(&word)
            || WORDS.contains(&single)
            || single.ends_with("key")
            || word.ends_with("pwd")
            || (word.contains("auth") && (!word.contains("author") || word.contains("authoriz")))
    };
    INSIDE.iter().any(|inside| name.contains(inside))
        || name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(one)
        || words.iter().any(|word| one(word))
}

/// The words of a name, however they are put together: `--api-key`, `apiKey`, `API_KEY`.
fn words(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        let inside = before.is_ascii_alphanumeric();
        let hump = letter.is_ascii_uppercase() && !before.is_ascii_uppercase();
        if letter.is_ascii_alphanumeric() {
            match all.last_mut().filter(|_| inside && !hump) {
                Some(word) => word.push(letter.to_ascii_lowercase()),
                None => all.push(letter.to_ascii_lowercase().to_string()),
            }
        }
        before = letter;
    }
    all
}

/// True for what stands after such a name and is no secret all the same: a number of tokens, a file that holds the key, the next option.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    const FILES: &[&str] =
        &[".pem", ".key", ".crt", ".cer", ".p12", ".pfx", ".json", ".txt", ".toml", ".yaml", ".yml", ".env"];
    let name = name.to_ascii_lowercase();
    let amount = name.contains("tokens")
        && ["max", "min", "limit", "budget", "count"].iter().any(|word| name.contains(word))
        && value.len() <= 9
        && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let lower = value.to_ascii_lowercase();
    let file = value.contains(['/', '\\'])
        && !value.contains(char::is_whitespace)
        && FILES.iter().any(|end| lower.ends_with(end));
    let option = value.strip_prefix("--").map(|rest| rest.split_once('=').map_or(rest, |(name, _)| name));
    let option = option.is_some_and(|option| {
        option.len() <= 40
            && option.starts_with(|first: char| first.is_ascii_lowercase())
            && option.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    });
    amount || file || option || matches!(lower.as_str(), "true" | "false")
}

/// Long runs of letters and digits, and well-known beginnings.
pub(super) fn looks_secret(text: &str) -> bool {
    let text = text.trim_end_matches('=');
    let value = text.rsplit_once('=').map_or(text, |(_, value)| value);
    // What is named by its digest is public.
    let digest = value.rsplit_once("sha256:").or_else(|| value.rsplit_once("sha512:"));
    let value = match value.rsplit_once(':') {
        Some(_) if digest.is_some() => return false,
        Some((_, after)) => after.trim_start(),
        None => value,
    };
    is_dense(value) || begins_as_secret(value)
}

/// The same for a word somewhere in a text, where a short one may be anything.
pub(super) fn is_secret_word(word: &str) -> bool {
    word.len() >= 16 && begins_as_secret(word) && !is_wordy(word)
}

fn begins_as_secret(value: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "sk-",
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "rk_test_",
        "pk_live_",
        "whsec_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "gldt-",
        "glrt-",
        "xoxa-",
        "xoxb-",
        "xoxe-",
        "xoxe.",
        "xoxp-",
        "xoxr-",
        "xoxs-",
        "xapp-",
        "AKIA",
        "AIza",
        "ya29.",
        "eyJ",
        "Bearer ",
        "Basic ",
        "npm_",
        "hf_",
        "ntn_",
        "secret_",
        "SG.",
        "shpat_",
        "shpss_",
        "dop_v1_",
        "doo_v1_",
        "dckr_pat_",
        "hvs.",
        "figd_",
        "lin_api_",
        "sbp_",
        "gsk_",
        "ATATT",
        "AGE-SECRET-KEY-",
        "-----BEGIN",
    ];
    BEGINNINGS.iter().any(|beginning| value.starts_with(beginning))
}

/// A long run of letters and digits that is not made of words.
fn is_dense(value: &str) -> bool {
    value.len() >= 24
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'~'))
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !is_wordy(value)
}

/// True for what people write by hand: small words and numbers with something between them.
fn is_wordy(value: &str) -> bool {
    let word = |piece: &str| {
        let rest = piece.strip_prefix(|first: char| first.is_ascii_alphabetic()).unwrap_or(piece);
        let small = piece.len() <= 20 && rest.bytes().all(|byte| byte.is_ascii_lowercase());
        let loud = piece.len() <= 12 && piece.bytes().all(|byte| byte.is_ascii_uppercase());
        small || loud
    };
    let pieces: Vec<&str> = value.split(['-', '_', '.']).collect();
    let short = pieces.iter().filter(|piece| piece.len() <= 4).count();
    // Short pieces alone are how codes are written too.
    short * 2 <= pieces.len() + 1 && pieces.iter().all(|piece| piece.len() <= 4 || word(piece))
}
