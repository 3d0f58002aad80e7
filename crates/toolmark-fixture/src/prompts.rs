//! The prompts and the completion of their arguments.

use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CompletionInfo, ContentBlock, ErrorData, GetPromptResponse, GetPromptResult, JsonObject, Prompt, PromptArgument,
    PromptMessage, Reference, ResourceContents, Role,
};
use serde_json::Value;

use crate::ask::{Asked, Asker, field, text_form};
use crate::resources::{self, PIXEL};

/// The prompts of one fixture.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// Whether the prompt that comes and goes is there.
    extra: AtomicBool,
}

const EXTRA: &str = "test_extra_prompt";

/// What arguments are completed to.
const WORDS: &[&str] = &["hello", "paris", "park", "party", "world"];

impl Prompts {
    pub(crate) fn list(&self) -> Vec<Prompt> {
        let required =
            |name: &str, description: &str| PromptArgument::new(name).with_description(description).with_required(true);
        let mut prompts = vec![
            Prompt::new("test_simple_prompt", Some("A prompt without arguments"), None),
            Prompt::new(
                "test_prompt_with_arguments",
                Some("A prompt with two arguments"),
                Some(vec![required("arg1", "First test argument"), required("arg2", "Second test argument")]),
            ),
            Prompt::new(
                "test_prompt_with_embedded_resource",
                Some("A prompt that carries a resource"),
                Some(vec![required("resourceUri", "URI of the resource to embed")]),
            ),
            Prompt::new("test_prompt_with_image", Some("A prompt that carries a picture"), None),
            Prompt::new("test_input_required_result_prompt", Some("A prompt that asks for its context first"), None),
        ];
        if self.extra.load(Ordering::SeqCst) {
            prompts.push(Prompt::new(EXTRA, Some("A prompt that comes and goes"), None));
        }
        prompts
    }

    /// Adds the prompt that comes and goes, or takes it away.
    pub(crate) fn toggle_extra(&self) {
        self.extra.fetch_xor(true, Ordering::SeqCst);
    }

    pub(crate) async fn get(&self, asker: &Asker<'_>, arguments: &JsonObject) -> Result<GetPromptResponse, ErrorData> {
        let messages = match asker.name {
            "test_simple_prompt" => vec![user("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (first, second) = (required(arguments, "arg1")?, required(arguments, "arg2")?);
                vec![user(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let uri = required(arguments, "resourceUri")?;
                let resource = ResourceContents::text("Embedded resource content for testing.", uri);
                vec![
                    PromptMessage::new(Role::User, ContentBlock::resource(resource)),
                    user("Please process the embedded resource above."),
                ]
            }
            "test_prompt_with_image" => vec![
                PromptMessage::new(Role::User, ContentBlock::image(PIXEL, "image/png")),
                user("Please analyze the image above."),
            ],
            "test_input_required_result_prompt" => {
                let question = text_form("What context should the prompt use?", "context")?;
                match asker.ask([("user_context", question)], None).await? {
                    Asked::Later(result) => return Ok(result.into()),
                    Asked::Answered(answers) => {
                        let context = field(&answers, "user_context", "context").and_then(Value::as_str);
                        vec![user(&format!("Use this context: {}", context.unwrap_or("none was given")))]
                    }
                }
            }
            EXTRA if self.extra.load(Ordering::SeqCst) => vec![user("This prompt comes and goes.")],
            name => return Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None)),
        };
        Ok(GetPromptResult::new(messages).into())
    }

    /// Words that begin with what was typed; an argument that does not exist has none.
    pub(crate) fn complete(
        &self,
        reference: &Reference,
        argument: &str,
        typed: &str,
    ) -> Result<CompletionInfo, ErrorData> {
        let known = match reference {
            Reference::Prompt(prompt) => {
                let found = self.list().into_iter().find(|known| known.name == prompt.name);
                let arguments = found.map(|prompt| prompt.arguments.unwrap_or_default());
                arguments.map(|arguments| arguments.iter().any(|known| known.name == argument))
            }
            Reference::Resource(template) => {
                let found = resources::templates().into_iter().find(|known| known.uri_template == template.uri);
                found.map(|template| template.uri_template.contains(&format!("{{{argument}}}")))
            }
            _ => None,
        };
        let known =
            known.ok_or_else(|| ErrorData::invalid_params("there is nothing of that name to complete", None))?;
        let words = WORDS.iter().filter(|word| known && word.starts_with(typed)).map(|word| (*word).to_owned());
        CompletionInfo::with_all_values(words.collect()).map_err(|error| ErrorData::internal_error(error, None))
    }
}

fn user(text: &str) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}

fn required<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, ErrorData> {
    arguments
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| ErrorData::invalid_params(format!("the argument `{name}` is missing or not a text"), None))
}
