use toolmark_config::Config;

use super::*;

fn pack(keys: &str) -> Pack {
    let config = Config::read(&format!("[packs.a]\n{keys}"), "f").unwrap_or_else(|error| panic!("{error}: {keys}"));
    config.packs.get(&"a".parse().unwrap()).unwrap().clone()
}

#[test]
fn a_server_is_its_program_and_arguments_or_its_address_and_nothing_else() {
    let program = "command = \"npx\"\nargs = [\"-y\", \"gh\"]\n";
    let with_settings = format!("{program}prefix = \"x\"\nlimits = {{ timeout = \"5s\" }}\nenv = {{ A = \"1\" }}\n");
    assert!(is_same(&pack(program), &pack(&with_settings)));
    for other in [
        "command = \"node\"\nargs = [\"-y\", \"gh\"]",
        "command = \"npx\"\nargs = [\"-y\"]",
        "command = \"npx\"\nargs = [\"-y\", \"evil\"]",
        "command = \"npx\"\nargs = [\"-y\", \"gh\", \"--all\"]",
        "url = \"https://evil.example/mcp\"",
    ] {
        assert!(!is_same(&pack(program), &pack(other)), "{other}");
        assert!(!is_same(&pack(other), &pack(program)), "{other}");
    }
    let address = pack("url = \"https://a.example/mcp\"");
    assert!(is_same(&address, &address));
    assert!(!is_same(&address, &pack("url = \"https://b.example/mcp\"")));
}

#[test]
fn a_variable_may_stand_for_what_the_other_side_writes_out() {
    let of = |url: &str| pack(&format!("url = \"{url}\""));
    let whole = "https://a.example/mcp?key=s3cret&x=1";
    for fitting in ["https://a.example/mcp?key=${KEY}&x=1", "https://${HOST}/mcp?key=${KEY}&x=${X}", "${URL}"] {
        assert!(is_same(&of(fitting), &of(whole)) && is_same(&of(whole), &of(fitting)), "{fitting}");
    }
    for other in
        ["https://b.example/mcp?key=${KEY}&x=1", "https://a.example/mcp?key=${KEY}&x=2", "https://a.example/${A}/x"]
    {
        assert!(!is_same(&of(other), &of(whole)) && !is_same(&of(whole), &of(other)), "{other}");
    }
}

#[test]
fn a_pack_that_was_named_after_its_client_is_looked_at_too() {
    let named = |pack: &str| is_named(&pack.parse().unwrap(), &"gh".parse().unwrap(), Client::Cursor);
    assert!(["gh", "gh-cursor", "gh-cursor-2", "gh-cursor-17"].into_iter().all(named));
    assert!(!["ghx", "gh-2", "gh-codex", "gh-cursor-", "gh-cursor-x"].into_iter().any(named));
}
