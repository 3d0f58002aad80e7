//! Which places belong to the system, and which are so high up that whatever happens there happens to everything.

/// Places that belong to the system.
const SYSTEM: &[&str] = &[
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/root",
    "/boot",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/run",
    "/var/run",
    "/var/lib",
    "/var/spool",
    "/private/etc",
    "/private/var",
    "/system",
    "/library",
    "/windows",
    "c:/windows",
    "c:/program files",
    "c:/program files (x86)",
    "c:/programdata",
    "c:/users/default",
];

/// Places from which programs are started that nobody asked for.
const STARTS: &[&str] = &[
    "/.config/autostart",
    "/.config/systemd",
    "/library/launchagents",
    "/library/launchdaemons",
    "/.git/hooks/",
    "/start menu/programs/startup",
];

/// Devices and the like that everything may use.
const HARMLESS: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Places below which whole systems, users or disks stand.
const TOPS: &[&str] = &[
    "",
    "/",
    "~",
    ".",
    "..",
    "*",
    "/home",
    "/users",
    "/var",
    "/opt",
    "/srv",
    "/mnt",
    "/media",
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/boot",
    "/root",
    "/dev",
    "/proc",
    "/sys",
    "/run",
    "/system",
    "/library",
    "/applications",
    "/volumes",
    "/windows",
    "c:",
    "c:/windows",
    "c:/users",
];

/// True when a resolved path lies in a place that belongs to the system.
pub(crate) fn is_system(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    if HARMLESS.contains(&path.as_str()) {
        return false;
    }
    if STARTS.iter().any(|place| path.contains(place)) {
        return true;
    }
    SYSTEM.iter().any(|place| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// True when a path names a root: of the disk, of the home directory, of wherever the program stands.
pub(crate) fn is_root(path: &str) -> bool {
    let path = path.replace('\\', "/").replace("${HOME}", "~").replace("$HOME", "~").to_ascii_lowercase();
    let path = path.replace("/./", "/");
    let mut rest = path.as_str();
    loop {
        let shorter = ["/*", "/.", "/**", "/.*", "/"].iter().find_map(|end| rest.strip_suffix(end));
        match shorter {
            Some(shorter) if !rest.is_empty() => rest = shorter,
            _ => break,
        }
    }
    let rest = rest.strip_prefix("./").unwrap_or(rest);
    // A text of slashes and stars alone shrinks to nothing, which is the root too.
    TOPS.contains(&rest) || (rest.contains('*') && rest.chars().all(|c| matches!(c, '.' | '*' | '/')))
}
