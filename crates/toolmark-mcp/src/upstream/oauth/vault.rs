//! Where do tokens of a login stay? In one file a server, in a folder beside the store, for its owner only.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolmark_core::text::visible;

use super::OAuthError;

/// The version of the files. A reader refuses those of later ones.
const VERSION: u32 = 1;

/// A folder of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vault(PathBuf);

/// What is kept of a login.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) version: u32,
    /// The server that the token is for. It is shown to no other.
    pub(super) server: String,
    pub(super) resource: String,
    pub(super) token_endpoint: String,
    pub(super) revocation_endpoint: Option<String>,
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    pub(super) secret_in_form: bool,
    /// Where a login returned to, for which the client was registered.
    pub(super) redirect: String,
    pub(super) issuer: Option<String>,
    pub(super) token: Token,
}

/// A token as it was given.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Token {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) scope: Option<String>,
    /// In seconds since 1970.
    pub(super) issued: u64,
    pub(super) expires: Option<u64>,
}

impl Vault {
    /// The folder that belongs to a store in a file.
    #[must_use]
    pub fn beside(store: &Path) -> Self {
        let mut name = store.as_os_str().to_owned();
        name.push(".oauth");
        Self(name.into())
    }

    fn path(&self, pack: &str) -> PathBuf {
        // Names of packs are file names: lower-case letters, digits, `-` and `_`.
        self.0.join(format!("{pack}.json"))
    }

    /// Where the tokens of a server are.
    #[must_use]
    pub fn place(&self, pack: &str) -> String {
        visible(&self.path(pack).display().to_string(), 300)
    }

    fn failed(&self, pack: &str, why: impl fmt::Display) -> OAuthError {
        OAuthError::Vault { path: self.place(pack), why: why.to_string() }
    }

    pub(super) fn load(&self, pack: &str) -> Result<Option<Record>, OAuthError> {
        let path = self.path(pack);
        let file = match fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(pack, error)),
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = file.metadata().map_err(|error| self.failed(pack, error))?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(self.failed(pack, format_args!("others can read it (mode {:o})", mode & 0o777)));
            }
        }
        let text = std::io::read_to_string(file).map_err(|error| self.failed(pack, error))?;
        // What the reader says would repeat what it read.
        let record: Record =
            serde_json::from_str(&text).map_err(|_| self.failed(pack, "it is no record of a login"))?;
        if record.version > VERSION {
            return Err(self.failed(pack, "it was written by a later version"));
        }
        Ok(Some(record))
    }

    /// Keeps a login. The file is replaced whole, so that nobody reads half of it.
    pub(super) fn keep(&self, pack: &str, record: &Record) -> Result<(), OAuthError> {
        let failed = |error: &dyn fmt::Display| self.failed(pack, error);
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            folder.mode(0o700);
        }
        folder.create(&self.0).map_err(|error| failed(&error))?;
        let path = self.path(pack);
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let text = serde_json::to_string_pretty(record).map_err(|error| failed(&error))?;
        let written = options.open(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        let written = written.and_then(|()| fs::rename(&new, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&new);
            return Err(failed(&error));
        }
        Ok(())
    }

    /// Forgets a login; says whether there was one.
    pub(super) fn forget(&self, pack: &str) -> Result<bool, OAuthError> {
        match fs::remove_file(self.path(pack)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed(pack, error)),
        }
    }
}

impl Record {
    pub(super) const VERSION: u32 = VERSION;
}

impl Token {
    /// When it is time for another: a little before its end, so that none ends on its way.
    pub(super) fn renew_at(&self) -> Option<SystemTime> {
        let expires = self.expires?;
        let early = (expires.saturating_sub(self.issued) / 4).min(30);
        Some(UNIX_EPOCH + Duration::from_secs(expires.saturating_sub(early)))
    }

    pub(super) fn is_over(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| now >= UNIX_EPOCH + Duration::from_secs(expires))
    }
}

/// Everything in it is secret, or may be.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("server", &self.server).finish_non_exhaustive()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("expires", &self.expires).finish_non_exhaustive()
    }
}
