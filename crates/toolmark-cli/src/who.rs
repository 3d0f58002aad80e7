//! Who types? The name that a decision is recorded under when nobody gave one.

use toolmark_core::text::visible;

/// The longest name that is kept.
const LONGEST: usize = 100;

/// The variables that hold it, in the order in which they are believed.
const VARIABLES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// Who types: the name that was given, the name of the user, or at least the number of it.
pub(crate) fn name(given: Option<&str>) -> String {
    let said = |name: &str| std::env::var(name).ok().filter(|name| !name.trim().is_empty());
    let name = given.map(str::to_owned).or_else(|| VARIABLES.into_iter().find_map(said)).unwrap_or_else(user);
    visible(&name, LONGEST)
}

/// The user of this process, by the list of users that this machine keeps.
#[cfg(unix)]
fn user() -> String {
    let number = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    in_list(&users, number).unwrap_or_else(|| format!("uid {number}"))
}

#[cfg(not(unix))]
fn user() -> String {
    "somebody".to_owned()
}

/// The name of a user: `name:password:number:…`, a line each.
#[cfg(unix)]
fn in_list(users: &str, number: u32) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, own) = (fields.next()?, fields.nth(1)?);
        (!name.is_empty() && own.parse() == Ok(number)).then(|| name.to_owned())
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number_and_lines_that_are_none_are_passed_over() {
        let users = "# users\nroot:x:0:0:root:/root:/bin/sh\n\n:x:1000::\nann:x:1000:1000::/home/ann:/bin/sh\nann2:x:1000:1000:::\nbroken:x\n";
        assert_eq!(in_list(users, 0).as_deref(), Some("root"));
        assert_eq!(in_list(users, 1000).as_deref(), Some("ann"));
        assert_eq!(in_list(users, 4242), None);
        assert_eq!(in_list("", 0), None);
    }

    #[test]
    fn a_name_that_was_given_counts() {
        assert_eq!(name(Some("ann\u{202e}")), "ann\\u{202e}");
    }
}
