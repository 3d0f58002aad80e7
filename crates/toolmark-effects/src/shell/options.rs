//! The options of a command line, read as `getopt` reads them: clusters, values, abbreviations and `--`.

use super::arg::Arg;

/// Which options of a command take a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spec {
    /// Short options with a value, such as `ok` for `-o file -k 2`.
    pub(super) short: &'static str,
    /// Long options with a value.
    pub(super) long: &'static [&'static str],
    /// The first operand ends the options, as in `env` and `xargs`.
    pub(super) stops: bool,
}

/// A command line in parts.
#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    pub(super) flags: Vec<Flag<'a>>,
    pub(super) operands: Vec<&'a Arg>,
    /// Some argument may be an option that nobody knows.
    pub(super) uncertain: bool,
}

/// One option.
#[derive(Debug)]
pub(super) struct Flag<'a> {
    /// `o` or `output`.
    pub(super) name: &'a str,
    pub(super) long: bool,
    pub(super) value: Option<&'a str>,
}

/// Reads options and operands.
pub(super) fn options<'a>(args: &'a [Arg], spec: Spec) -> Options<'a> {
    let mut found = Options::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg.floating {
            found.uncertain = true;
            found.operands.push(arg);
        } else if arg.text == "--" {
            found.operands.extend(rest.by_ref());
        } else if let Some(long) = arg.text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let takes = value.is_none() && spec.long.contains(&name);
            let value = if takes { rest.next().map(|arg| arg.text.as_str()) } else { value };
            found.flags.push(Flag { name, long: true, value });
        } else if arg.text.starts_with('-') && arg.text.len() > 1 {
            cluster(arg, &mut rest, spec, &mut found);
        } else {
            found.operands.push(arg);
        }
        if spec.stops && !found.operands.is_empty() {
            found.operands.extend(rest.by_ref());
        }
    }
    found
}

fn cluster<'a>(arg: &'a Arg, rest: &mut std::slice::Iter<'a, Arg>, spec: Spec, found: &mut Options<'a>) {
    let letters = arg.text.get(1..).unwrap_or_default();
    for (at, letter) in letters.char_indices() {
        let end = at + letter.len_utf8();
        let name = letters.get(at..end).unwrap_or_default();
        if !spec.short.contains(letter) {
            found.flags.push(Flag { name, long: false, value: None });
            continue;
        }
        let attached = letters.get(end..).filter(|value| !value.is_empty());
        let value = attached.or_else(|| rest.next().map(|arg| arg.text.as_str()));
        found.flags.push(Flag { name, long: false, value });
        return;
    }
}

impl<'a> Options<'a> {
    /// The option with this letter or this long name, however it is abbreviated.
    pub(super) fn get(&self, short: &str, long: &str) -> Option<&Flag<'a>> {
        self.flags.iter().find(|flag| flag.is(short, long))
    }

    pub(super) fn has(&self, short: &str, long: &str) -> bool {
        self.get(short, long).is_some()
    }

    /// The value of an option.
    pub(super) fn value(&self, short: &str, long: &str) -> Option<&'a str> {
        self.get(short, long).and_then(|flag| flag.value)
    }

    /// True when one of these long names was given, however it is abbreviated.
    pub(super) fn has_any(&self, long: &[&str]) -> bool {
        long.iter().any(|name| self.has("", name))
    }
}

impl Flag<'_> {
    pub(super) fn is(&self, short: &str, long: &str) -> bool {
        if self.long {
            !self.name.is_empty() && long.starts_with(self.name)
        } else {
            !short.is_empty() && short.contains(self.name)
        }
    }
}
