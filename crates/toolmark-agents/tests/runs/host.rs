//! Shells and patches: calls in the provider's own words that this program really runs, judged and approved like any other.

use std::path::Path;
use std::time::Duration;

use toolmark_agents::host::{
    CommandOutput, CommandRequest, Commands, FileOperation, HostTool, LocalShell, PatchFolder,
};
use toolmark_models::{HostedTool, Item, Wire, WireTool};
use toolmark_runtime::tools::ToolContext;

use super::*;

fn shell_call(commands: &[&str]) -> ScriptedCall {
    ScriptedCall::hosted(json!({
        "type": "shell_call", "id": "sh_1", "status": "completed",
        "action": {"commands": commands, "timeout_ms": null, "max_output_length": null},
    }))
}

fn local_shell_call(action: &Value) -> ScriptedCall {
    ScriptedCall::hosted(json!({"type": "local_shell_call", "id": "lsh_1", "status": "completed", "action": action}))
}

fn patch_call(operation: &Value) -> ScriptedCall {
    ScriptedCall::hosted(
        json!({"type": "apply_patch_call", "id": "ap_1", "status": "completed", "operation": operation}),
    )
}

fn shell(folder: &Path) -> LocalShell {
    LocalShell::in_folder(folder).expect("a folder").timeout(Duration::from_secs(30))
}

/// What the host answered, as it stands on the wire.
fn answers(items: &[toolmark_agents::RunItem]) -> Vec<Value> {
    let answers = items.iter().filter_map(|item| match &item.item {
        Item::Hosted(raw) if raw.is_answer() => Some(raw.value.clone()),
        _ => None,
    });
    answers.collect()
}

/// A run of one answer with these calls, and its answers.
async fn run(tool: HostTool, calls: impl IntoIterator<Item = ScriptedCall>) -> Vec<Value> {
    let agent = agent("A", [Turn::calls(calls), Turn::text("done")]).host_tool(tool).build().expect("an agent");
    agreed(&agent).await
}

#[tokio::test]
async fn a_shell_really_runs_and_answers_in_the_words_of_the_provider() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.txt"), "inside\n").expect("a file");
    let model = scripted([Turn::calls([shell_call(&["cat a.txt", "ls missing"])]), Turn::text("done")]);
    let agent = Agent::builder("A")
        .host_tool(HostTool::shell(shell(folder.path())))
        .model(Arc::clone(&model) as _)
        .build()
        .expect("an agent");
    finished(&agent, "go").await;
    let requests = model.requests();
    assert_eq!(requests[0].tools, [WireTool::Hosted(HostedTool::Shell { environment: None })], "and no function");
    let [.., Item::Hosted(call), Item::Hosted(answer)] = &requests[1].input[..] else { panic!("{:?}", requests[1]) };
    assert_eq!((call.kind(), call.wire), ("shell_call", Wire::Responses));
    let entries = answer.value["output"].as_array().expect("an output for each command");
    assert_eq!(entries[0], json!({"stdout": "inside\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}));
    assert_eq!(entries[1]["outcome"]["type"], "exit");
    assert_ne!(entries[1]["outcome"]["exit_code"], 0);
    assert!(entries[1]["stderr"].as_str().is_some_and(|text| text.contains("missing")));
    let keys: Vec<&String> = answer.value.as_object().expect("an item").keys().collect();
    assert_eq!(
        (keys.len(), &answer.value["type"], &answer.value["call_id"]),
        (3, &json!("shell_call_output"), &json!("call_1"))
    );
}

#[tokio::test]
async fn commands_see_nothing_of_this_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let answers = run(HostTool::shell(shell(folder.path()).env("GIVEN", "yes")), [shell_call(&["env", "pwd"])]).await;
    let seen = answers[0]["output"][0]["stdout"].as_str().expect("a text");
    let mut names: Vec<&str> = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    names.retain(|name| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_"));
    names.sort_unstable();
    assert_eq!(names, ["GIVEN", "HOME", "LANG", "PATH"]);
    let real = folder.path().canonicalize().expect("a path");
    assert_eq!(answers[0]["output"][1]["stdout"].as_str().expect("a text").trim(), real.to_string_lossy());
}

fn is_running(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

async fn is_gone(pid: &str) {
    while is_running(pid) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Runs an agent and agrees to everything, so that what runs can be looked at.
async fn agreed(agent: &Agent) -> Vec<Value> {
    let mut outcome = Runner::new().run(agent, "go", RunContext::new()).await.expect("a run");
    while let RunOutcome::Interrupted(mut state) = outcome {
        for pending in state.pending() {
            state.approve(&pending).expect("it waits");
        }
        outcome = resumed(agent, &state).await;
    }
    answers(outcome.finished().expect("an answer").items())
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let quick = shell(folder.path()).timeout(Duration::from_millis(300));
    let turns =
        [Turn::calls([shell_call(&["sleep 600 & echo $!; echo before; sleep 600", "echo never"])]), Turn::text("done")];
    let agent = agent("A", turns).host_tool(HostTool::shell(quick)).build().expect("an agent");
    let answers = agreed(&agent).await;
    let entries = answers[0]["output"].as_array().expect("outputs");
    assert_eq!(entries.len(), 1, "what comes after is not run");
    assert_eq!(entries[0]["outcome"], json!({"type": "timeout"}));
    let said = entries[0]["stdout"].as_str().expect("a text");
    assert!(said.contains("before"), "what it said until then is kept: {said}");
    is_gone(said.lines().next().expect("the id of the process")).await;
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let turns = [Turn::calls([shell_call(&["sleep 600 & echo $!"])]), Turn::text("done")];
    let agent = agent("A", turns).host_tool(HostTool::shell(shell(folder.path())));
    let answers = agreed(&agent.build().expect("an agent")).await;
    assert_eq!(answers[0]["output"][0]["outcome"]["exit_code"], 0);
    is_gone(answers[0]["output"][0]["stdout"].as_str().expect("an id")).await;
}

#[tokio::test]
async fn a_run_that_is_dropped_takes_its_commands_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let turns = [Turn::calls([shell_call(&["echo $$ > pid; sleep 600"])]), Turn::text("done")];
    let agent = agent("A", turns).host_tool(HostTool::shell(shell(folder.path())));
    let agent = agent.build().expect("an agent");
    let file = folder.path().join("pid");
    let begun = async {
        loop {
            match std::fs::read_to_string(&file) {
                Ok(pid) if pid.ends_with('\n') => return pid,
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    let pid = tokio::select! {
        pid = begun => pid,
        _ = agreed(&agent) => panic!("it sleeps"),
    };
    is_gone(&pid).await;
}

#[tokio::test]
async fn output_has_a_limit_of_ours_and_one_of_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = shell(folder.path()).output_limit(100);
    let answers = run(HostTool::shell(small), [shell_call(&["seq 1 1000"])]).await;
    let said = answers[0]["output"][0]["stdout"].as_str().expect("a text");
    assert!(said.starts_with("1\n2\n") && said.ends_with("more bytes are left out]") && said.len() < 150, "{said}");
    let asked = ScriptedCall::hosted(json!({
        "type": "shell_call", "action": {"commands": ["printf 'äöü'; printf 123 >&2", "printf x"], "max_output_length": 5},
    }));
    let answers = run(HostTool::shell(shell(folder.path())), [asked]).await;
    let texts: Vec<&Value> = ["/output/0/stdout", "/output/0/stderr", "/output/1/stdout"]
        .iter()
        .map(|pointer| answers[0].pointer(pointer).expect("a text"))
        .collect();
    assert_eq!(texts, ["äöü", "12", ""]);
    assert_eq!(answers[0]["max_output_length"], 5);
}

#[tokio::test]
async fn commands_are_analyzed_and_a_person_agrees_to_what_changes_something() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept");
    std::fs::write(&kept, "x").expect("a file");
    let turns =
        || [Turn::calls([shell_call(&["ls"]), shell_call(&["rm kept && echo gone >> log"])]), Turn::text("done")];
    let build = || agent("A", turns()).host_tool(HostTool::shell(shell(folder.path()))).build().expect("an agent");
    // Nobody is asked about reading; it runs beside the call that waits.
    let agent = build();
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].tool(), kept.exists()), ("shell", true));
    assert!(pending[0].prompt().contains("rm kept"), "{}", pending[0].prompt());
    state.reject(&pending[0], Some("Keep it.")).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    let items = outcome.finished().expect("an answer").items().to_vec();
    let second = answers(&items)[1].clone();
    assert_eq!(
        second["output"],
        json!([{"stdout": "", "stderr": "Keep it.", "outcome": {"type": "exit", "exit_code": 1}}])
    );
    assert!(kept.exists());

    let agent = build();
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    assert!(outcome.finished().is_some());
    assert!(!kept.exists());
    assert_eq!(std::fs::read_to_string(folder.path().join("log")).expect("a file"), "gone\n");
}

#[tokio::test]
async fn the_older_shell_runs_a_program_without_a_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("below")).expect("a folder");
    let tool = || HostTool::local_shell(shell(folder.path()).settable(["LC_ALL"]));
    let action = json!({
        "type": "exec", "command": ["printf", "%s", "$HOME; echo no"], "env": {"LC_ALL": "C"}, "timeout_ms": 5000,
        "user": null, "working_directory": "below",
    });
    let answers = run(tool(), [local_shell_call(&action)]).await;
    assert_eq!(answers[0]["type"], "local_shell_call_output");
    let said: Value = serde_json::from_str(answers[0]["output"].as_str().expect("a text")).expect("JSON");
    assert_eq!(said, json!({"stdout": "$HOME; echo no", "stderr": "", "exit_code": 0}));
    for (member, value, why) in [
        ("working_directory", json!("/"), "outside"),
        ("working_directory", json!("../.."), "outside"),
        ("working_directory", json!("nowhere"), "is not there"),
        ("env", json!({"LD_PRELOAD": "/tmp/evil.so"}), "may not be set"),
        ("user", json!("root"), "as the user `root`"),
    ] {
        let mut action = json!({"type": "exec", "command": ["pwd"], "env": {}});
        action[member] = value;
        let answers = run(tool(), [local_shell_call(&action)]).await;
        let said = answers[0]["output"].as_str().expect("a text");
        assert!(said.contains(why) && said.contains("Nothing was run"), "{member}: {said}");
    }
    let answers = run(tool(), [local_shell_call(&json!({"type": "exec", "command": ["printf", "%d", "x"]}))]).await;
    let said: Value = serde_json::from_str(answers[0]["output"].as_str().expect("a text")).expect("JSON");
    assert_eq!(said["exit_code"], 1);
}

#[tokio::test]
async fn patches_create_change_and_delete_files_below_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let patches = || PatchFolder::at(folder.path()).expect("a folder");
    let turns = [
        Turn::calls([patch_call(
            &json!({"type": "create_file", "path": "src/a.rs", "diff": "+fn a() {}\n+fn b() {}\n"}),
        )]),
        Turn::calls([patch_call(
            &json!({"type": "update_file", "path": "src/a.rs", "diff": "@@\n fn a() {}\n-fn b() {}\n+fn c() {}\n"}),
        )]),
        Turn::calls([
            patch_call(&json!({"type": "update_file", "path": "src/a.rs", "diff": "-fn z() {}\n"})),
            patch_call(&json!({"type": "create_file", "path": "../outside", "diff": "+x\n"})),
        ]),
        Turn::text("done"),
    ];
    let agent = agent("A", turns).host_tool(HostTool::apply_patch(patches()));
    let answers = agreed(&agent.build().expect("an agent")).await;
    assert_eq!(
        answers[0],
        json!({"type": "apply_patch_call_output", "call_id": "call_1", "status": "completed", "output": "Created src/a.rs"})
    );
    assert_eq!(std::fs::read_to_string(folder.path().join("src/a.rs")).expect("a file"), "fn a() {}\nfn c() {}");
    assert_eq!((&answers[2]["status"], &answers[3]["status"]), (&json!("failed"), &json!("failed")));
    let said = answers[2]["output"].as_str().expect("a text");
    assert!(said.starts_with("Nothing was changed: ") && said.contains("fn z() {}"), "{said}");
    assert!(answers[3]["output"].as_str().expect("a text").contains("no path inside of the folder"));
    assert!(!folder.path().join("../outside").exists());
}

#[tokio::test]
async fn a_patch_that_a_person_must_agree_to_waits_and_is_done_once() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("log"), "").expect("a file");
    let build = || {
        let call = patch_call(&json!({"type": "update_file", "path": "log", "diff": "+line\n"}));
        let tool = HostTool::apply_patch(PatchFolder::at(folder.path()).expect("a folder")).needs_approval(true);
        agent("A", [Turn::calls([call]), Turn::text("done")]).host_tool(tool).build().expect("an agent")
    };
    let agent = build();
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    assert_eq!(pending[0].tool(), "apply_patch");
    assert_eq!(std::fs::read_to_string(folder.path().join("log")).expect("a file"), "");
    state.approve(&pending[0]).expect("it waits");
    let done = resumed(&agent, &state).await;
    let over = resumed(&agent, &RunState::from_json(&finished_state(&done)).expect("a state")).await;
    assert!(over.finished().is_some(), "a run that is over stays over");
    assert_eq!(std::fs::read_to_string(folder.path().join("log")).expect("a file"), "line\n");

    let agent = build();
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.reject(&pending[0], None).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    let answer = answers(outcome.finished().expect("an answer").items())[0].clone();
    assert_eq!(answer["status"], "failed");
    assert!(!answer["output"].as_str().expect("a text").is_empty());
}

fn finished_state(outcome: &RunOutcome) -> String {
    outcome.finished().expect("an answer").state().to_json()
}

#[tokio::test]
async fn programs_may_run_commands_and_edit_files_in_their_own_way() {
    let heard = Calls::default();
    let (own, other) = (heard.clone(), heard.clone());
    let runs = move |_: ToolContext, request: CommandRequest| {
        let Commands::Shell(commands) = request.commands else { panic!("a shell") };
        own.say(commands.join("; "));
        async move { Ok(vec![CommandOutput { stdout: "from elsewhere".into(), ..CommandOutput::default() }]) }
    };
    let edits = move |_: ToolContext, operation: FileOperation| {
        other.say(format!("{operation:?}"));
        async move { Ok("kept in a database".to_owned()) }
    };
    let turns = [
        Turn::calls([shell_call(&["ls"]), patch_call(&json!({"type": "delete_file", "path": "a"}))]),
        Turn::text("done"),
    ];
    let agent = agent("A", turns)
        .host_tool(HostTool::shell(runs))
        .host_tool(HostTool::apply_patch(edits).tool(|tool| tool.behavior_of("MUTATES|UPDATE|DIFF")));
    let answers = agreed(&agent.build().expect("an agent")).await;
    assert_eq!(answers[0]["output"][0]["stdout"], "from elsewhere");
    assert_eq!(answers[1]["output"], "kept in a database");
    let mut heard = heard.all();
    heard.sort();
    assert_eq!(heard, [r#"DeleteFile { path: "a" }"#, "ls"]);
}

#[tokio::test]
async fn calls_that_make_no_sense_are_answered_and_nothing_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    for action in [json!({}), json!({"commands": "ls"}), json!({"commands": []}), json!(7), Value::Null] {
        let call = ScriptedCall::hosted(json!({"type": "shell_call", "action": action}));
        let answers = run(HostTool::shell(shell(folder.path())), [call]).await;
        let said = answers[0]["output"][0]["stderr"].as_str().expect("a text");
        assert!(said.contains("was not called"), "{action}: {said}");
        assert_eq!(answers[0]["output"][0]["outcome"], json!({"type": "exit", "exit_code": 1}));
    }
    for operation in [json!({}), json!({"type": "move_file", "path": "a"}), json!({"type": "delete_file"}), json!([])] {
        let tool = HostTool::apply_patch(PatchFolder::at(folder.path()).expect("a folder"));
        let answers = run(tool, [patch_call(&operation)]).await;
        assert_eq!(answers[0]["status"], "failed");
    }
    // Without an id nobody could say what is answered.
    let call = ScriptedCall::hosted(json!({"type": "shell_call", "call_id": 7, "action": {"commands": ["ls"]}}));
    let agent = agent("A", [Turn::calls([call])]).host_tool(HostTool::shell(shell(folder.path()))).build();
    assert_eq!(code(&agent.expect("an agent")).await.0, "run-hosted-call");
}

#[tokio::test]
async fn a_shell_that_nobody_runs_ends_the_run_and_one_that_the_provider_runs_does_not() {
    let hosted = HostedTool::Shell { environment: Some(serde_json::Map::new()) };
    let alone = agent("A", [Turn::calls([shell_call(&["ls"])])]).hosted(hosted.clone()).build().expect("an agent");
    assert_eq!(code(&alone).await.0, "run-hosted-call");
    let call = ScriptedCall { call_id: Some("c1".into()), ..shell_call(&["ls"]) };
    let answer = ScriptedCall::hosted(json!({"type": "shell_call_output", "call_id": "c1", "output": []}));
    let turns = [Turn { text: Some("looked".into()), ..Turn::calls([call, answer]) }];
    let agent = agent("A", turns).hosted(hosted).build().expect("an agent");
    assert_eq!(finished(&agent, "go").await.output(), "looked");
}

#[tokio::test]
async fn a_shell_is_offered_while_its_condition_holds_and_its_name_is_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = scripted([Turn::calls([shell_call(&["ls"])]), Turn::text("done")]);
    let agent = Agent::builder("A")
        .host_tool(HostTool::shell(shell(folder.path())).enabled(false))
        .model(Arc::clone(&model) as _)
        .build()
        .expect("an agent");
    let result = finished(&agent, "go").await;
    assert!(model.requests()[0].tools.is_empty());
    let said = answers(result.items())[0]["output"][0]["stderr"].as_str().expect("a text").to_owned();
    assert!(said.contains("there is no tool `shell`"), "{said}");

    let calls = Calls::default();
    let twice = super::agent("A", [Turn::text("x")])
        .host_tool(HostTool::shell(shell(folder.path())))
        .tool(calls.tool("shell"))
        .build()
        .expect("an agent");
    assert!(Runner::new().run(&twice, "go", RunContext::new()).await.is_err(), "two tools of one name");
    let handoff = super::agent("B", [Turn::text("x")]).build().expect("an agent");
    let handoff = toolmark_agents::Handoff::to(&handoff).name("shell");
    let both = super::agent("A", [Turn::text("x")])
        .host_tool(HostTool::shell(shell(folder.path())))
        .handoff(handoff)
        .build()
        .expect("an agent");
    assert_eq!(code(&both).await.0, "hosted-tool-collision");
}
