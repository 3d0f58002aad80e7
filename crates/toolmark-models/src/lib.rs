//! What do we say to a model, and what did it say? One set of items, requests, answers and events for every provider, and the
//! wire formats that carry them.
//!
//! A [`Model`] takes a [`ModelRequest`] and gives a [`ModelResponse`], at once or as a stream of [`ModelEvent`]s. Nothing here
//! runs a tool or decides about one. What a provider says beyond what is known here is kept and sent back to it.
//!
//! ```
//! use futures_util::StreamExt as _;
//! use serde_json::json;
//! use toolmark_models::scripted::Turn;
//! use toolmark_models::{Item, Model, ModelError, ModelEvent, ModelRequest, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ModelError> {
//! // A model that needs no key; `open` gives one that does.
//! let model = ScriptedModel::new([Turn::call("get_weather", json!({"city": "Delft"})), Turn::text("It is {output}.")]);
//!
//! let mut request = ModelRequest::of_text("What is the weather in Delft?");
//! let answer = model.respond(&request).await?;
//! for call in answer.function_calls() {
//!     assert_eq!((call.name.as_str(), call.arguments.as_str()), ("get_weather", r#"{"city":"Delft"}"#));
//!     request.input.push(Item::FunctionCall(call.clone()));
//!     request.input.push(Item::output(call.call_id.clone(), "sunny"));
//! }
//!
//! let mut said = String::new();
//! let mut stream = model.stream(&request).await?;
//! while let Some(event) = stream.next().await {
//!     if let ModelEvent::Text { delta } = event? {
//!         said.push_str(&delta);
//!     }
//! }
//! assert_eq!(said, "It is sunny.");
//! # Ok(())
//! # }
//! ```

#[cfg(doctest)]
#[doc = include_str!("../../../docs/models.md")]
struct DocsOfModels;

mod anthropic;
mod body;
mod chat;
mod connection;
pub mod error;
mod event;
mod failure;
mod flat;
mod item;
mod model;
mod name;
mod open;
pub mod output;
mod pieces;
mod plain;
mod provider;
mod request;
mod response;
pub mod responses;
pub mod scripted;
mod stream;
pub mod tool;
mod unsendable;

pub use connection::{AddressError, Options, Retry, Timeouts};
pub use error::ModelError;
pub use event::{ModelEvent, ModelStream};
pub use flat::flat;
pub use item::{
    CustomCall, CustomOutput, Detail, Extra, File, FunctionCall, FunctionOutput, Image, Item, Message, Output, Part,
    Raw, Role, Wire,
};
pub use model::{Model, ModelFuture};
pub use name::{ModelName, ParseModelNameError, Provider};
pub use open::{OpenModelError, open};
pub use request::{Effort, ModelRequest, OutputSchema, Settings, ToolChoice};
pub use response::{Finish, ModelResponse, Usage};
pub use scripted::ScriptedModel;
pub use tool::{CustomTool, FunctionTool, HostedTool, WireTool};
pub use unsendable::UnsendableError;
