//! Processes, services, users, schedules, firewalls: what belongs to the machine as a whole.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "kill" | "pkill" | "killall" | "xkill" | "skill" | "fuser" => kill,
        "systemctl" | "service" | "rc-service" | "launchctl" | "supervisorctl" | "pm2" | "loginctl" | "sv" => service,
        "crontab" | "at" | "batch" | "atrm" | "atq" => schedule,
        "useradd" | "adduser" | "usermod" | "userdel" | "deluser" | "groupadd" | "groupdel" | "groupmod" | "passwd"
        | "chpasswd" | "visudo" | "gpasswd" | "chage" | "chsh" | "chfn" | "vipw" | "setcap" | "setenforce"
        | "auditctl" | "dscl" | "spctl" | "csrutil" => rights,
        "reboot" | "shutdown" | "halt" | "poweroff" | "init" | "telinit" | "kexec" => power,
        "iptables" | "ip6tables" | "nft" | "ufw" | "firewall-cmd" | "ipset" | "tc" | "ebtables" | "pfctl" => firewall,
        "insmod" | "modprobe" | "rmmod" | "swapoff" | "umount" | "losetup" | "depmod" | "mkinitrd" | "update-grub"
        | "grub-install" | "renice" | "setterm" | "chvt" | "kmod" => machine,
        "sync" | "reset" => nothing,
        "logger" => log,
        "open" | "xdg-open" | "start" | "gio" => open,
        "pbcopy" | "xclip" | "xsel" | "wl-copy" => clipboard,
        "pbpaste" | "wl-paste" => paste,
        "openssl" => openssl,
        "ssh-keygen" | "ssh-add" | "gpg" | "gpg2" | "ssh-copy-id" | "keytool" | "certbot" | "age" => keys,
        "defaults" | "gsettings" => defaults,
        _ => return None,
    })
}

fn kill(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let text = |arg: &Arg| arg.text.clone();
    let words: Vec<String> = call.args.iter().map(text).collect();
    let lists = words.iter().any(|word| matches!(word.as_str(), "-l" | "-L" | "-0" | "--list"));
    let checks = call.name == "fuser" && !words.iter().any(|word| word.starts_with('-') && word.contains('k'));
    if (lists && call.name != "pkill") || checks {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    let everything =
        words.iter().any(|word| matches!(word.as_str(), "-1" | "." | "1" | "-u" | ".*")) && words.len() > 1;
    let computed = call.args.iter().any(|arg| arg.computed || arg.floating);
    let effect = call.mutating(Action::Delete);
    walk.found.effect(if everything || computed { effect.unbounded() } else { effect });
    Input::Output
}

fn service(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec {
        short: "tpnoHM",
        long: &["type", "property", "lines", "output", "state", "host", "machine"],
        stops: false,
    };
    if super::verbs::hides_verb(call.args, spec) {
        walk.found.unclear(format!("an option of `{}` may hide the verb", call.name));
    }
    let found = options(call.args, spec);
    let words: Vec<&str> = found.operands.iter().map(|arg| arg.text.as_str()).collect();
    let verb = match (call.name, words.as_slice()) {
        ("service" | "rc-service", [_, verb, ..]) => *verb,
        ("service", []) if found.has("", "status-all") => "status",
        (_, [verb, ..]) => *verb,
        _ => "list",
    };
    let looks = verb.starts_with("list")
        || verb.starts_with("is-")
        || verb.starts_with("get-")
        || matches!(
            verb,
            "status"
                | "show"
                | "cat"
                | "help"
                | "print"
                | "blame"
                | "ls"
                | "logs"
                | "avail"
                | "describe"
                | "info"
                | "jlist"
        );
    if looks && !found.uncertain {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    let effect = call.mutating(Action::Update).with(Danger::Privilege);
    let whole = matches!(
        verb,
        "poweroff"
            | "reboot"
            | "halt"
            | "isolate"
            | "rescue"
            | "emergency"
            | "kexec"
            | "suspend"
            | "kill-session"
            | "terminate-user"
            | "all"
    );
    walk.found.effect(if whole || words.contains(&"all") { effect.unbounded() } else { effect });
    Input::Output
}

fn schedule(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "ufqt", long: &[], stops: false });
    let effect = if call.name == "atq" || found.has("l", "") {
        call.pure(Action::Read)
    } else if call.name == "atrm" || found.has("rd", "") {
        call.mutating(Action::Delete).unbounded()
    } else {
        call.mutating(Action::Overwrite).with(Danger::Code)
    };
    walk.found.effect(effect);
    Input::Output
}

fn rights(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let looks = matches!(call.first(), Some("-l" | "-S" | "--list" | "status" | "-c" | "read" | "list"))
        && matches!(call.name, "chage" | "passwd" | "csrutil" | "visudo" | "dscl" | "auditctl");
    let effect = if looks {
        call.pure(Action::Read)
    } else {
        let action = match call.name {
            "useradd" | "adduser" | "groupadd" => Action::Create,
            "userdel" | "deluser" | "groupdel" => Action::Delete,
            _ => Action::Update,
        };
        call.mutating(action).with(Danger::Privilege)
    };
    walk.found.effect(effect);
    Input::Output
}

fn power(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.mutating(Action::Update).unbounded().with(Danger::Privilege));
    Input::Output
}

fn firewall(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let looks = call.args.iter().any(|arg| {
        matches!(
            arg.text.as_str(),
            "-L" | "-S" | "--list" | "list" | "status" | "show" | "--list-all" | "--state" | "-nL" | "-vnL" | "-nvL"
        )
    });
    let changes = call.args.iter().any(|arg| {
        arg.floating
            || matches!(
                arg.text.as_str(),
                "-A" | "-I"
                    | "-D"
                    | "-F"
                    | "-X"
                    | "-P"
                    | "-Z"
                    | "add"
                    | "delete"
                    | "flush"
                    | "reset"
                    | "disable"
                    | "enable"
                    | "allow"
                    | "deny"
            )
    });
    let effect = if looks && !changes {
        call.pure(Action::Read)
    } else {
        let effect = call.mutating(Action::Update).with(Danger::Privilege);
        let all = call
            .args
            .iter()
            .any(|arg| matches!(arg.text.as_str(), "-F" | "-X" | "flush" | "reset" | "disable" | "--flush"));
        if all { effect.unbounded() } else { effect }
    };
    walk.found.effect(effect);
    Input::Output
}

fn machine(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.mutating(Action::Update).with(Danger::Privilege));
    Input::Output
}

fn nothing(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.pure(Action::Read));
    Input::Output
}

fn log(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.mutating(Action::Append));
    Input::Output
}

fn open(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.mutating(Action::Execute).with(Danger::Code));
    Input::Output
}

fn clipboard(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let reads = call.args.iter().any(|arg| matches!(arg.text.as_str(), "-o" | "--output" | "-out"));
    walk.found.effect(if reads {
        call.pure(Action::Read).with(Danger::Secret)
    } else {
        call.mutating(Action::Overwrite)
    });
    Input::Output
}

fn paste(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.pure(Action::Read).with(Danger::Secret));
    Input::Output
}

fn openssl(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let value = |name: &str| call.args.iter().position(|arg| arg.text == name).and_then(|at| call.args.get(at + 1));
    if call
        .args
        .iter()
        .any(|arg| matches!(arg.text.as_str(), "-engine" | "-provider" | "-config" | "-provider-path") || arg.floating)
    {
        walk.found.unclear("`openssl` loads something of its own");
    }
    if let Some(target) = value("-out") {
        walk.found.effect(redirect::write(target, Action::Overwrite));
    }
    let effect = match call.first() {
        Some(
            "version" | "x509" | "verify" | "dgst" | "rand" | "asn1parse" | "ciphers" | "crl" | "prime" | "md5"
            | "sha256" | "help" | "list",
        ) => call.pure(Action::Read),
        Some("s_client") => call.pure(Action::Read).with(Danger::Outward),
        Some("enc" | "base64" | "aes-256-cbc") => {
            walk.found.effect(call.reading(call.pure(Action::Read), value("-in")));
            return Input::Decoded;
        }
        Some("rsa" | "pkey" | "ec" | "pkcs12" | "pkcs8") => call.pure(Action::Read).with(Danger::Secret),
        _ => {
            walk.found.unclear("`openssl` is called in a way that is not known");
            return Input::Output;
        }
    };
    walk.found.effect(call.reading(effect, value("-in")));
    Input::Output
}

fn keys(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let has = |words: &[&str]| call.args.iter().any(|arg| words.contains(&arg.text.as_str()));
    let effect = match call.name {
        "ssh-keygen" if has(&["-l", "-lf", "-F", "-B"]) => call.pure(Action::Read),
        "ssh-keygen" if has(&["-y"]) => call.pure(Action::Read).with(Danger::Secret),
        "ssh-add" if has(&["-l", "-L"]) => call.pure(Action::Read),
        "ssh-copy-id" => call.mutating(Action::Send).with(Danger::Outward).with(Danger::Privilege),
        "gpg" | "gpg2"
            if has(&[
                "--list-keys",
                "--list-secret-keys",
                "-k",
                "-K",
                "--verify",
                "--fingerprint",
                "--list-packets",
            ]) =>
        {
            call.pure(Action::Read)
        }
        "gpg" | "gpg2" if has(&["--export-secret-keys", "-d", "--decrypt"]) => {
            call.pure(Action::Read).with(Danger::Secret)
        }
        "keytool" if has(&["-list"]) => call.pure(Action::Read),
        "certbot" if has(&["certificates"]) => call.pure(Action::Read),
        _ => call.mutating(Action::Create).with(Danger::Secret),
    };
    if call.args.iter().any(|arg| arg.floating || arg.text == "-D" || arg.text == "-s" && call.name == "ssh-add") {
        walk.found.unclear(format!("`{}` loads something of its own", call.name));
    }
    walk.found.effect(effect);
    Input::Output
}

fn defaults(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let looks = matches!(
        call.first(),
        Some(
            "read"
                | "find"
                | "domains"
                | "get"
                | "list-schemas"
                | "list-keys"
                | "list-recursively"
                | "range"
                | "describe"
                | "read-type"
        )
    );
    walk.found.effect(if looks { call.pure(Action::Read) } else { call.mutating(Action::Update) });
    Input::Output
}
