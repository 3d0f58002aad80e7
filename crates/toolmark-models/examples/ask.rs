//! Puts one question to a model and prints the answer as it arrives:
//! `cargo run -p toolmark-models --example ask -- openai:gpt-5 "Which day is it?"`, with a third argument as base URL and a
//! fourth as the variable of the key.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example speaks to the terminal")]

use std::io::Write as _;
use std::process::ExitCode;

use futures_util::StreamExt as _;
use toolmark_core::explain::Explain;
use toolmark_models::{ModelEvent, ModelRequest, Options, open};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(question)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: ask MODEL QUESTION [BASE_URL [KEY_VARIABLE]]");
        return ExitCode::from(2);
    };
    let options = Options { base_url: arguments.next(), key_variable: arguments.next(), ..Options::default() };
    match ask(&name, question, &options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.report());
            ExitCode::FAILURE
        }
    }
}

async fn ask(name: &str, question: String, options: &Options) -> Result<(), Box<dyn Explain>> {
    let name = name.parse().map_err(boxed)?;
    let model = open(&name, options, &|variable| std::env::var(variable).ok()).map_err(boxed)?;
    let mut stream = model.stream(&ModelRequest::of_text(question)).await.map_err(boxed)?;
    while let Some(event) = stream.next().await {
        match event.map_err(boxed)? {
            ModelEvent::Text { delta } => print!("{delta}"),
            ModelEvent::CallDone { arguments, .. } => println!("[calls a tool with {arguments}]"),
            ModelEvent::Completed(answer) => println!("\n({} tokens)", answer.usage.total_tokens()),
            _ => {}
        }
        // Nobody is there to tell when the terminal is gone.
        let _ = std::io::stdout().flush();
    }
    Ok(())
}

fn boxed(error: impl Explain + 'static) -> Box<dyn Explain> {
    Box::new(error)
}
