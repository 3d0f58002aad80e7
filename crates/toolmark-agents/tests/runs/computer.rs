//! Computers that models drive: a screen that really keeps what is typed, calls that are judged and approved, and the provider's concerns.

use std::sync::Mutex;

use toolmark_agents::RunItem;
use toolmark_agents::host::{Button, Computer, ComputerTool, Done, HostTool, Pointer, Screenshot};
use toolmark_models::{HostedTool, Item, WireTool};
use toolmark_runtime::tools::ToolError;

use super::*;

/// A form of fields, one below the other, each ten pixels high.
#[derive(Clone, Default)]
struct Form(Arc<Mutex<Screen>>);

#[derive(Default)]
struct Screen {
    fields: [String; 3],
    focus: Option<usize>,
    scrolled: (i64, i64),
    pointer: (i64, i64),
    log: Vec<String>,
}

impl Form {
    fn change(&self, said: String, change: impl FnOnce(&mut Screen) -> Result<(), ToolError>) -> Done<'_> {
        let mut screen = self.0.lock().expect("a screen");
        screen.log.push(said);
        let done = change(&mut screen);
        Box::pin(std::future::ready(done))
    }

    fn log(&self) -> Vec<String> {
        self.0.lock().expect("a screen").log.clone()
    }

    /// What a screenshot of it is.
    fn picture(&self) -> Vec<u8> {
        let screen = self.0.lock().expect("a screen");
        format!("{:?} {:?} {:?} {:?}", screen.fields, screen.focus, screen.scrolled, screen.pointer).into_bytes()
    }
}

impl Computer for Form {
    fn environment(&self) -> Option<&str> {
        Some("browser")
    }

    fn dimensions(&self) -> Option<(u32, u32)> {
        Some((100, 30))
    }

    fn screenshot(&self) -> Done<'_, Screenshot> {
        self.0.lock().expect("a screen").log.push("screenshot".into());
        Box::pin(std::future::ready(Ok(Screenshot::png(&self.picture()))))
    }

    fn click(&self, at: Pointer, button: Button) -> Done<'_> {
        self.change(format!("click {} {} {button:?} {:?}", at.x, at.y, at.held), |screen| {
            let field = usize::try_from(at.y / 10).ok().filter(|field| *field < 3);
            screen.focus = Some(field.ok_or_else(|| ToolError::told("there is nothing there"))?);
            Ok(())
        })
    }

    fn double_click(&self, at: Pointer) -> Done<'_> {
        self.change(format!("double click {} {}", at.x, at.y), |screen| {
            let field = usize::try_from(at.y / 10).unwrap_or_default();
            screen.fields[field].clear();
            screen.focus = Some(field);
            Ok(())
        })
    }

    fn scroll(&self, _: Pointer, right: i64, down: i64) -> Done<'_> {
        self.change(format!("scroll {right} {down}"), |screen| {
            screen.scrolled = (screen.scrolled.0 + right, screen.scrolled.1 + down);
            Ok(())
        })
    }

    fn type_text(&self, text: String) -> Done<'_> {
        self.change(format!("type {text}"), |screen| {
            let focus = screen.focus.ok_or_else(|| ToolError::told("no field has the focus"))?;
            screen.fields[focus].push_str(&text);
            Ok(())
        })
    }

    fn wait(&self) -> Done<'_> {
        self.change("wait".into(), |_| Ok(()))
    }

    fn move_to(&self, at: Pointer) -> Done<'_> {
        self.change(format!("move {} {}", at.x, at.y), |screen| {
            screen.pointer = (at.x, at.y);
            Ok(())
        })
    }

    fn keypress(&self, keys: Vec<String>) -> Done<'_> {
        self.change(format!("keys {keys:?}"), |screen| {
            if keys == ["BACKSPACE"]
                && let Some(focus) = screen.focus
            {
                screen.fields[focus].pop();
            }
            Ok(())
        })
    }

    fn drag(&self, path: Vec<(i64, i64)>, held: Vec<String>) -> Done<'_> {
        self.change(format!("drag {path:?} {held:?}"), |screen| {
            screen.pointer = path.last().copied().unwrap_or_default();
            Ok(())
        })
    }
}

fn action(action: &Value) -> ScriptedCall {
    ScriptedCall::hosted(json!({
        "type": "computer_call", "id": "cu_1", "status": "completed", "action": action, "pending_safety_checks": [],
    }))
}

fn actions(id: &str, actions: &Value, checks: &Value) -> ScriptedCall {
    ScriptedCall::hosted(json!({
        "type": "computer_call", "id": "cu_1", "call_id": id, "status": "completed", "actions": actions,
        "pending_safety_checks": checks,
    }))
}

fn checks() -> Value {
    json!([{"id": "cu_sc_1", "code": "malicious_instructions", "message": "The page tells the model what to do."}])
}

fn shown(form: &Form) -> Value {
    let Item::Hosted(raw) = &screen(&form.picture()) else { panic!("a screen") };
    raw.value["output"].clone()
}

/// The output that shows a picture.
fn screen(picture: &[u8]) -> Item {
    use toolmark_models::{Raw, Wire};
    let url = format!("data:image/png;base64,{}", base64_of(picture));
    let value = json!({"output": {"type": "computer_screenshot", "image_url": url}});
    Item::Hosted(Raw { wire: Wire::Responses, value })
}

fn base64_of(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| LETTERS[(bits & 63) as usize] as char;
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let all = chunk.iter().fold(0, |all, byte| (all << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            out.push(if at <= chunk.len() { letter(all >> (18 - 6 * at)) } else { '=' });
        }
    }
    out
}

fn answers(items: &[RunItem]) -> Vec<Value> {
    let answers = items.iter().filter_map(|item| match &item.item {
        Item::Hosted(raw) if raw.kind() == "computer_call_output" => Some(raw.value.clone()),
        _ => None,
    });
    answers.collect()
}

#[tokio::test]
async fn a_model_fills_a_form_and_sees_the_screen_after_each_call() {
    let form = Form::default();
    let model = scripted([
        Turn::calls([action(&json!({"type": "click", "x": 5, "y": 12, "button": "left"}))]),
        Turn::calls([actions(
            "c2",
            &json!([
                {"type": "type", "text": "Adaa"}, {"type": "keypress", "keys": ["BACKSPACE"]}, {"type": "wait"},
                {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 40}, {"type": "move", "x": 3, "y": 4},
                {"type": "drag", "path": [{"x": 1, "y": 1}, {"x": 9, "y": 9}], "keys": ["SHIFT"]},
                {"type": "click", "x": 5, "y": 25, "button": "right", "keys": ["CTRL"]}, {"type": "type", "text": "Delft"},
            ]),
            &Value::Null,
        )]),
        Turn::calls([actions(
            "c3",
            &json!([{"type": "double_click", "x": 5, "y": 25}, {"type": "screenshot"}]),
            &json!([]),
        )]),
        Turn::text("done"),
    ]);
    let agent = Agent::builder("A")
        .host_tool(HostTool::computer(form.clone()))
        .model(Arc::clone(&model) as _)
        .build()
        .expect("an agent");
    let result = finished(&agent, "go").await;
    let offered = toolmark_models::tool::Computer { environment: Some("browser".into()), display: Some((100, 30)) };
    assert_eq!(model.requests()[0].tools, [WireTool::Hosted(HostedTool::Computer(offered))], "and no function");
    let answers = answers(result.items());
    assert_eq!(answers.len(), 3);
    assert_eq!(
        answers[2],
        json!({"type": "computer_call_output", "call_id": "c3", "output": shown(&form)}),
        "nothing was to be acknowledged"
    );
    assert_ne!(answers[0]["output"], answers[1]["output"]);
    assert_eq!(form.0.lock().expect("a screen").fields, ["", "Ada", ""]);
    assert_eq!(
        form.log(),
        [
            "click 5 12 Left []",
            "screenshot",
            "type Adaa",
            "keys [\"BACKSPACE\"]",
            "wait",
            "scroll 0 40",
            "move 3 4",
            "drag [(1, 1), (9, 9)] [\"SHIFT\"]",
            "click 5 25 Right [\"CTRL\"]",
            "type Delft",
            "screenshot",
            "double click 5 25",
            "screenshot",
        ]
    );
}

#[tokio::test]
async fn what_concerns_the_provider_is_acknowledged_by_a_person_for_the_very_call() {
    let form = Form::default();
    let click = json!([{"type": "click", "x": 5, "y": 2, "button": "left"}]);
    let turns = [
        Turn::calls([actions("c1", &click, &checks())]),
        Turn::calls([actions("c2", &click, &checks())]),
        Turn::text("done"),
    ];
    // Saying that the tool needs no approval takes no concern away.
    let tool = HostTool::computer(form.clone()).needs_approval(false);
    let agent = agent("A", turns).host_tool(tool).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    assert!(form.log().is_empty());
    let pending = state.pending();
    assert!(pending[0].prompt().contains("The page tells the model what to do."), "{}", pending[0].prompt());
    state.approve_always(&pending[0]).expect("it waits");
    let mut state = resumed(&agent, &state).await.interrupted().expect("nobody has seen the second concern");
    assert_eq!(answers(state.items())[0]["acknowledged_safety_checks"], checks());
    let pending = state.pending();
    state.reject(&pending[0], Some("no")).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    let result = outcome.finished().expect("an answer");
    let second = &answers(result.items())[1];
    assert!(second.get("acknowledged_safety_checks").is_none(), "nobody took responsibility");
    assert!(second["output"]["image_url"].as_str().is_some_and(|url| url.starts_with("data:image/png;base64,")));
    let told = result
        .items()
        .iter()
        .any(|item| matches!(&item.item, Item::Message(said) if said.joined_text().contains("no")));
    assert!(told, "and the model reads why");
    assert_eq!(form.log(), ["click 5 2 Left []", "screenshot"]);
}

#[tokio::test]
async fn a_function_may_look_at_what_concerns_the_provider() {
    for agrees in [true, false] {
        let form = Form::default();
        let seen = Calls::default();
        let noted = seen.clone();
        let tool = ComputerTool::new(form.clone()).on_safety_check(move |_, check| {
            noted.say(format!("{} {:?}", check.id, check.code));
            async move { agrees }
        });
        let click = json!([{"type": "click", "x": 5, "y": 2, "button": "left"}]);
        let turns = [Turn::calls([actions("c1", &click, &checks())]), Turn::text("done")];
        let agent = agent("A", turns).host_tool(tool).build().expect("an agent");
        let result = finished(&agent, "go").await;
        assert_eq!(seen.all(), ["cu_sc_1 Some(\"malicious_instructions\")"]);
        let answer = &answers(result.items())[0];
        assert_eq!(answer.get("acknowledged_safety_checks").is_some(), agrees);
        assert_eq!(form.log().is_empty(), !agrees);
    }
}

#[tokio::test]
async fn an_action_that_nobody_knows_is_refused_before_anything_is_done() {
    for wrong in [
        json!([{"type": "click", "x": 5, "y": 2, "button": "left"}, {"type": "explode"}]),
        json!([{"type": "click", "x": "5", "y": 2, "button": "left"}]),
        json!([]),
        json!({"type": "click"}),
    ] {
        let form = Form::default();
        let turns = [Turn::calls([actions("c1", &wrong, &Value::Null)]), Turn::text("done")];
        let agent = agent("A", turns).host_tool(HostTool::computer(form.clone())).build().expect("an agent");
        let result = finished(&agent, "go").await;
        assert_eq!(answers(result.items()).len(), 1, "{wrong}");
        assert!(form.log().is_empty(), "{wrong}: {:?}", form.log());
    }
}

#[tokio::test]
async fn several_calls_are_carried_out_in_the_order_in_which_they_were_made() {
    let form = Form::default();
    let typed: Vec<ScriptedCall> = (0..40)
        .map(|number| {
            let id = format!("c{number}");
            let click = json!({"type": "click", "x": 1, "y": 1, "button": "left"});
            actions(&id, &json!([click, {"type": "type", "text": format!("{number} ")}]), &Value::Null)
        })
        .collect();
    let agent = agent("A", [Turn::calls(typed), Turn::text("done")]).host_tool(HostTool::computer(form.clone()));
    finished(&agent.build().expect("an agent"), "go").await;
    let wanted: String = (0..40).map(|number| format!("{number} ")).collect();
    assert_eq!(form.0.lock().expect("a screen").fields[0], wanted);
}

#[tokio::test]
async fn without_a_computer_the_run_ends_as_before() {
    let (code, state) =
        code(&agent("A", [Turn::calls([action(&json!({"type": "screenshot"}))])]).build().expect("an agent")).await;
    assert_eq!(code, "run-hosted-call");
    assert!(state.is_some());
}
