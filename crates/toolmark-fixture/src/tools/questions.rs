//! Tools that ask their client something before they answer: a person, a model, or for the folders it works in.

use rmcp::model::{ErrorData, InputRequiredResult, InputResponses, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Call, Outcome, plain, text, tool};
use crate::ask::{Asked, Asker, field, form, is_modern, refusal, roots, sampled, sampling, text_form};

pub(super) fn definitions() -> Vec<Tool> {
    let message = json!({ "message": { "type": "string", "description": "What to show" } });
    let prompt = json!({ "prompt": { "type": "string", "description": "What to send to the model" } });
    let question = json!({ "question": { "type": "string", "description": "What to ask" } });
    vec![
        tool(
            "ask_user",
            "Asks the person behind the client a question and returns the answer",
            question,
            &["question"],
        ),
        tool("test_sampling", "Asks the client's model", prompt, &["prompt"]),
        tool("test_elicitation", "Asks for a user name and an address", message, &["message"]),
        plain("test_elicitation_sep1034_defaults", "Asks with a default for each type"),
        plain("test_elicitation_sep1330_enums", "Asks with each kind of choice"),
        plain("test_missing_capability", "Refuses clients without sampling"),
        plain("test_streaming_elicitation", "Asks on a stream"),
        plain("test_input_required_result_elicitation", "Asks for a name"),
        plain("test_input_required_result_sampling", "Asks for a capital"),
        plain("test_input_required_result_list_roots", "Asks for the client's folders"),
        plain("test_input_required_result_request_state", "Asks for a confirmation and wants its state back"),
        plain("test_input_required_result_tampered_state", "Asks for a confirmation and trusts no state but its own"),
        plain("test_input_required_result_multiple_inputs", "Asks three questions at once"),
        plain("test_input_required_result_multi_round", "Asks two questions, one after the other"),
        plain("test_input_required_result_capabilities", "Asks what the client can answer"),
    ]
}

pub(super) async fn run(call: &Call<'_>) -> Outcome {
    let asker = call.asker();
    match call.tool {
        "ask_user" => ask_user(call, &asker).await,
        "test_sampling" => {
            let prompt = text_argument(call, "prompt")?;
            let answers = asker.ask([("answer", sampling(prompt, 100))], None).await?;
            finish(answers, |answers| format!("LLM response: {}", sampled(answers, "answer").unwrap_or_default()))
        }
        "test_elicitation" => {
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                },
                "required": ["username", "email"],
            });
            let answers = asker.ask([("answer", form(text_argument(call, "message")?, schema)?)], None).await?;
            finish(answers, |answers| format!("User response: {}", outcome(answers)))
        }
        "test_elicitation_sep1034_defaults" => {
            let answers = asker.ask([("answer", form("Please check these values", defaults())?)], None).await?;
            finish(answers, |answers| format!("Elicitation completed: {}", outcome(answers)))
        }
        "test_elicitation_sep1330_enums" => {
            let answers = asker.ask([("answer", form("Please choose", choices())?)], None).await?;
            finish(answers, |answers| format!("Elicitation completed: {}", outcome(answers)))
        }
        "test_missing_capability" => match asker.missing(&sampling("", 1)) {
            Some(missing) => Err(refusal(call.context, missing)),
            None => text("The client has the capability"),
        },
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            let answers = asker.ask([("user_name", text_form("What is your name?", "name")?)], None).await?;
            finish(answers, |answers| format!("Hello, {}!", name(answers, "user_name")))
        }
        "test_input_required_result_sampling" => {
            let question = sampling("What is the capital of France?", 100);
            let answers = asker.ask([("capital_question", question)], None).await?;
            finish(answers, |answers| sampled(answers, "capital_question").unwrap_or_default().to_owned())
        }
        "test_input_required_result_list_roots" => {
            let answers = asker.ask([("client_roots", roots())], None).await?;
            finish(answers, |answers| format!("The client works in {}", folders(answers)))
        }
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            confirm(&asker).await
        }
        "test_input_required_result_multiple_inputs" => {
            let questions = [
                ("user_name", text_form("What is your name?", "name")?),
                ("greeting", sampling("Generate a greeting", 50)),
                ("client_roots", roots()),
            ];
            let _: Option<Marker> = asker.open()?;
            let answers = asker.ask(questions, Some(asker.seal(&Marker::Asked)?)).await?;
            finish(answers, |answers| {
                let greeting = sampled(answers, "greeting").unwrap_or_default();
                format!("{greeting}, {}, in {}", name(answers, "user_name"), folders(answers))
            })
        }
        "test_input_required_result_multi_round" => rounds(&asker).await,
        "test_input_required_result_capabilities" => capable(&asker).await,
        _ => Err(call.unknown()),
    }
}

/// What a state says that has nothing to say but that it is ours.
#[derive(Serialize, Deserialize)]
enum Marker {
    Asked,
}

async fn ask_user(call: &Call<'_>, asker: &Asker<'_>) -> Outcome {
    let question = text_argument(call, "question")?;
    // The state binds the answer to the question it was given to.
    if asker.open::<String>()?.is_some_and(|asked| asked != question) {
        return Err(ErrorData::invalid_params("the state belongs to another question", None));
    }
    let state = asker.seal(&question)?;
    let answers = asker.ask([("answer", text_form(&question, "answer")?)], Some(state)).await?;
    finish(answers, |answers| match field(answers, "answer", "answer").and_then(Value::as_str) {
        Some(answer) => format!("The user answered: {answer}"),
        None => format!("The user did not answer: {}", outcome(answers)),
    })
}

async fn confirm(asker: &Asker<'_>) -> Outcome {
    let schema = json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] });
    let question = form("Please confirm", schema)?;
    let state = asker.seal(&Marker::Asked)?;
    let ours = asker.open::<Marker>()?.is_some();
    if is_modern(asker.context) && !ours {
        let questions = [("confirm".to_owned(), question)].into_iter().collect();
        return Ok(InputRequiredResult::new(Some(questions), Some(state)).into());
    }
    finish(asker.ask([("confirm", question)], Some(state)).await?, |answers| {
        let confirmed = field(answers, "confirm", "ok").and_then(Value::as_bool).unwrap_or_default();
        format!("state-ok, confirmed: {confirmed}")
    })
}

async fn rounds(asker: &Asker<'_>) -> Outcome {
    /// What is known so far.
    #[derive(Default, Serialize, Deserialize)]
    struct Known {
        name: Option<String>,
    }
    let known: Known = asker.open()?.unwrap_or_default();
    let first = match known.name {
        Some(name) => name,
        None => {
            let state = asker.seal(&Known::default())?;
            let question = text_form("Step 1: What is your name?", "name")?;
            match asker.ask([("step1", question)], Some(state)).await? {
                Asked::Later(later) => return Ok(later.into()),
                Asked::Answered(answers) => name(&answers, "step1"),
            }
        }
    };
    let state = asker.seal(&Known { name: Some(first.clone()) })?;
    let question = text_form("Step 2: What is your favorite color?", "color")?;
    finish(asker.ask([("step2", question)], Some(state)).await?, |answers| {
        let color = field(answers, "step2", "color").and_then(Value::as_str).unwrap_or("no color");
        format!("{first} likes {color}")
    })
}

async fn capable(asker: &Asker<'_>) -> Outcome {
    let model = sampling("Say something", 50);
    let person = text_form("What is your name?", "name")?;
    let asked = match (asker.missing(&model), asker.missing(&person)) {
        (None, None) => asker.ask([("model", model), ("person", person)], None).await?,
        (None, Some(_)) => asker.ask([("model", model)], None).await?,
        (Some(_), None) => asker.ask([("person", person)], None).await?,
        (Some(missing), Some(_)) => return Err(refusal(asker.context, missing)),
    };
    finish(asked, |answers| format!("Answered: {}", answers.keys().cloned().collect::<Vec<_>>().join(", ")))
}

fn finish(asked: Asked, say: impl FnOnce(&InputResponses) -> String) -> Outcome {
    match asked {
        Asked::Later(later) => Ok(later.into()),
        Asked::Answered(answers) => text(say(&answers)),
    }
}

fn text_argument(call: &Call<'_>, name: &str) -> Result<String, ErrorData> {
    let value = call.arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    value.ok_or_else(|| ErrorData::invalid_params(format!("the argument `{name}` is missing or not a text"), None))
}

fn name(answers: &InputResponses, key: &str) -> String {
    field(answers, key, "name").and_then(Value::as_str).unwrap_or("nobody").to_owned()
}

fn folders(answers: &InputResponses) -> String {
    let roots = answers.get("client_roots").and_then(|answer| answer.get("roots")).and_then(Value::as_array);
    let uris = roots.into_iter().flatten().filter_map(|root| root.get("uri")?.as_str());
    uris.collect::<Vec<_>>().join(", ")
}

/// How a form was answered, for people to read.
fn outcome(answers: &InputResponses) -> String {
    let part = |name: &str| answers.get("answer").and_then(|answer| answer.get(name)).cloned().unwrap_or_default();
    format!("action={}, content={}", part("action").as_str().unwrap_or_default(), part("content"))
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "A name", "default": "John Doe" },
            "age": { "type": "integer", "description": "An age", "default": 30 },
            "score": { "type": "number", "description": "A score", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "description": "Whether it was checked", "default": true },
        },
        "required": [],
    })
}

fn choices() -> Value {
    let titled = |noun: &str| {
        let title = |place: &str| format!("{place} {noun}");
        json!([
            { "const": "value1", "title": title("First") },
            { "const": "value2", "title": title("Second") },
            { "const": "value3", "title": title("Third") },
        ])
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
        "required": [],
    })
}
