//! What a redirection opens: files that are read, files that are written, and devices that are neither.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::arg::Arg;
use super::tree::{Piece, Redirect, RedirectKind};
use super::walk::{Input, Walk};
use crate::paths;

/// Files that hold nothing.
const NOWHERE: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"];

impl Walk<'_> {
    /// Notes what a redirection does, and says what the command reads if that changes.
    pub(super) fn redirect(&mut self, redirect: &Redirect) -> Option<Input> {
        if let RedirectKind::HereDocument(number) = redirect.kind {
            self.read_body(number);
            let text = self.body(number).and_then(super::tree::Word::literal);
            return Some(text.map_or(Input::Output, Input::Text));
        }
        self.word(&redirect.target);
        if let [Piece::Process(_)] = redirect.target.pieces.as_slice() {
            return (redirect.kind == RedirectKind::Read).then_some(Input::Output);
        }
        let args = self.args(&redirect.target);
        let target = match args.as_slice() {
            [target] => target.clone(),
            _ => Arg { floating: true, ..Arg::default() },
        };
        match redirect.kind {
            RedirectKind::HereString => Some(if target.exact { Input::Text(target.text) } else { Input::Output }),
            RedirectKind::Read => {
                self.reads(&target);
                Some(Input::File(target.text))
            }
            RedirectKind::Duplicate => {
                self.duplicates(&target);
                None
            }
            RedirectKind::ReadWrite | RedirectKind::Overwrite => {
                self.writes(&target, Action::Overwrite);
                None
            }
            RedirectKind::Append => {
                self.writes(&target, Action::Append);
                None
            }
            RedirectKind::HereDocument(_) => None,
        }
    }

    fn duplicates(&mut self, target: &Arg) {
        let descriptor = target.text.trim_end_matches('-');
        if target.exact && descriptor.chars().all(|c| c.is_ascii_digit()) {
            return;
        }
        if target.exact {
            self.writes(target, Action::Overwrite);
        } else {
            self.found.unclear("a redirection goes to a place that is computed");
        }
    }

    fn reads(&mut self, target: &Arg) {
        let shown = visible(&target.text, 80);
        let mut effect = Effect::pure(Action::Read, format!("< {shown}")).on([shown]);
        if is_socket(&target.text) {
            effect = effect.with(Danger::Outward);
        }
        if target.obscure {
            self.found.unclear("a redirection reads a file whose name is hidden");
        }
        if paths::is_secret(&target.text) {
            effect = effect.with(Danger::Secret);
        }
        self.found.effect(effect);
    }

    fn writes(&mut self, target: &Arg, action: Action) {
        if target.exact && NOWHERE.contains(&target.text.as_str()) {
            return;
        }
        self.found.effect(write(target, action));
    }
}

/// The effect of writing to a file.
pub(super) fn write(target: &Arg, action: Action) -> Effect {
    let shown = visible(&target.text, 80);
    let sign = if action == Action::Append { ">>" } else { ">" };
    if is_socket(&target.text) {
        return Effect::mutating(Action::Send, format!("{sign} {shown}")).on([shown]).with(Danger::Outward);
    }
    let mut effect = Effect::mutating(action, format!("{sign} {shown}")).on([shown]);
    if paths::is_system(&target.text) {
        effect = effect.with(Danger::Escape);
    }
    if is_device(&target.text) || target.floating {
        effect = effect.unbounded();
    }
    if paths::is_secret(&target.text) {
        effect = effect.with(Danger::Secret);
    }
    effect
}

/// True for a disk: whatever is written there replaces everything on it.
pub(super) fn is_device(path: &str) -> bool {
    let device = path.strip_prefix("/dev/").unwrap_or_default();
    let disks = ["sd", "hd", "nvme", "vd", "xvd", "disk", "rdisk", "mapper/", "mmcblk", "dm-", "loop", "md"];
    disks.iter().any(|disk| device.starts_with(disk)) || path.starts_with("/proc/") || path.starts_with("/sys/")
}

/// True for the paths with which bash opens connections.
pub(super) fn is_socket(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}
