//! Tools that go on after their answer: clients that know the tasks extension get a task to look after, others wait, or are refused.

use std::time::Duration;

use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult, ErrorData, InputRequest, InputResponses, Tool,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Outcome, plain, text, tool};
use crate::ask::{Asked, field, form, refusal, text_form};

/// How often a client should look, in milliseconds.
const POLL: u64 = 100;

pub(super) fn definitions() -> Vec<Tool> {
    let seconds = json!({ "type": "number", "minimum": 0, "maximum": LONGEST, "description": "How long to compute" });
    let label = json!({ "type": "string", "description": "What to call the result" });
    let filename = json!({ "filename": { "type": "string" } });
    vec![
        tool("greet", "Greets at once", json!({ "name": { "type": "string" } }), &["name"]),
        tool("slow_compute", "Computes for a while", json!({ "seconds": seconds, "label": label }), &["seconds"]),
        plain("failing_job", "Fails after a second, in the way a tool does; for clients with tasks only"),
        plain("protocol_error_job", "Fails in the way a server does"),
        tool("confirm_delete", "Asks before it pretends to delete a file", filename, &[]),
        plain("multi_input", "Asks two questions at once"),
        plain("test_tool_with_task", "Asks for a name first, then goes on by itself; for clients with tasks only"),
    ]
}

/// The longest computation, in seconds.
const LONGEST: f64 = 3_600.0;

pub(super) async fn run(call: &Call<'_>) -> Outcome {
    match call.tool {
        "greet" => {
            let name = call.arguments.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| ErrorData::invalid_params("the argument `name` is missing", None))?;
            text(format!("Hello, {name}!"))
        }
        "slow_compute" => slow_compute(call).await,
        "failing_job" => {
            call.needs_tasks()?;
            call.task(|_| async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(CallToolResult::error(vec![ContentBlock::text("This job always fails")]))
            })
        }
        "protocol_error_job" => {
            let error = || ErrorData::internal_error("this job fails in the way a server does", None);
            if !call.has_tasks() {
                return Err(error());
            }
            call.task(move |_| async move { Err(TaskExit::Error(error())) })
        }
        "confirm_delete" => {
            let file = call.arguments.get("filename").and_then(Value::as_str).unwrap_or("everything").to_owned();
            let schema = json!({ "type": "object", "properties": { "confirm": { "type": "boolean" } }, "required": ["confirm"] });
            let question = form(format!("Delete {file}?"), schema)?;
            questions(call, [("confirm", question)], move |answers| {
                let confirmed = field(answers, "confirm", "confirm").and_then(Value::as_bool).unwrap_or_default();
                if confirmed { format!("Pretended to delete {file}") } else { format!("Kept {file}") }
            })
            .await
        }
        "multi_input" => {
            let both = [
                ("first", text_form("What is your first name?", "name")?),
                ("last", text_form("What is your last name?", "name")?),
            ];
            questions(call, both, |answers| {
                let name = |key| field(answers, key, "name").and_then(Value::as_str).unwrap_or("?");
                format!("Hello, {} {}!", name("first"), name("last"))
            })
            .await
        }
        "test_tool_with_task" => {
            call.needs_tasks()?;
            let question = text_form("What is your name?", "name")?;
            match call.asker().ask([("user_name", question)], None).await? {
                Asked::Later(later) => Ok(later.into()),
                Asked::Answered(answers) => call.task(|_| async move {
                    let name = field(&answers, "user_name", "name").and_then(Value::as_str).unwrap_or("nobody");
                    Ok(done(format!("Hello, {name}!")))
                }),
            }
        }
        _ => Err(call.unknown()),
    }
}

async fn slow_compute(call: &Call<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments {
        seconds: f64,
        #[serde(default)]
        label: Option<String>,
    }
    let Arguments { seconds, label } = call.read()?;
    if !(0.0..=LONGEST).contains(&seconds) {
        return Err(ErrorData::invalid_params(format!("`seconds` is not between 0 and {LONGEST}"), None));
    }
    let time = Duration::from_secs_f64(seconds);
    let result = format!("Computed {} for {seconds} s", label.as_deref().unwrap_or("something"));
    if !call.has_tasks() {
        call.sleep(time).await?;
        return text(result);
    }
    call.task(move |task| async move {
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(done(result)),
            () = task.cancelled() => Err(TaskExit::Cancelled),
        }
    })
}

/// Asks all questions at once, from within a task if the client knows those.
async fn questions<const N: usize>(
    call: &Call<'_>,
    questions: [(&'static str, InputRequest); N],
    say: impl FnOnce(&InputResponses) -> String + Send + 'static,
) -> Outcome {
    if !call.has_tasks() {
        return match call.asker().ask(questions, None).await? {
            Asked::Later(later) => Ok(later.into()),
            Asked::Answered(answers) => text(say(&answers)),
        };
    }
    call.task(move |task| async move {
        let mut asked = tokio::task::JoinSet::new();
        for (key, question) in questions {
            let task = task.clone();
            asked.spawn(async move { (key, task.request_input(key, question).await) });
        }
        let mut answers = InputResponses::new();
        while let Some(answer) = asked.join_next().await {
            let (key, answer) = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            answers.insert(key.to_owned(), answer?);
        }
        Ok(done(say(&answers)))
    })
}

impl Call<'_> {
    fn has_tasks(&self) -> bool {
        self.context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
    }

    fn needs_tasks(&self) -> Result<(), ErrorData> {
        let needed = || ClientCapabilities::builder().enable_tasks().build();
        if self.has_tasks() { Ok(()) } else { Err(refusal(self.context, needed())) }
    }

    /// Starts a task and answers with it.
    fn task<F>(&self, work: impl FnOnce(TaskContext) -> F + Send + 'static) -> Outcome
    where
        F: Future<Output = Result<CallToolResult, TaskExit>> + Send + 'static,
    {
        let options = TaskOptions::new().with_poll_interval_ms(POLL);
        let task = self.fixture.tasks().spawn(options, |context| Box::pin(work(context)));
        Ok(CreateTaskResult::new(task).into())
    }
}

fn done(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}
