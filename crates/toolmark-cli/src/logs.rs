//! Which log lines are written, and how? To standard error, as `[telemetry.log]` says; `TOOLMARK_LOG` comes before its filter.

use std::env::VarError;
use std::io::{IsTerminal as _, stderr};

use toolmark_config::Config;
use toolmark_config::sections::Log;
use toolmark_config::values::{LogFilter, LogFormat};
use toolmark_gateway::AgentSpans;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::exit::Exit;
use crate::failure::Failure;

/// Writes log lines from now on.
///
/// # Errors
/// A filter that is none.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let wanted = tracing_subscriber::registry().with(targets(&filter(log)?)).with(filter_fn(may_be_written));
    // Whoever set up logging before us keeps it.
    let _ = wanted.with(lines(log)).try_init();
    Ok(())
}

/// The same for a gateway that may serve agents, whose spans go where it is told of calls. Where nobody is told, nothing of it is in the way.
///
/// # Errors
/// A filter that is none.
pub(crate) fn start_for(config: &Config) -> Result<AgentSpans, Failure> {
    let spans = AgentSpans::new();
    match config.telemetry.otlp.is_some() {
        true => start_with(&config.telemetry.log, spans.clone())?,
        false => start(&config.telemetry.log)?,
    }
    Ok(spans)
}

/// The same, and takes the spans of agents to where they go.
///
/// # Errors
/// A filter that is none.
pub(crate) fn start_with(log: &Log, spans: AgentSpans) -> Result<(), Failure> {
    // What is written and what is told are chosen apart.
    let lines = lines(log).with_filter(targets(&filter(log)?)).with_filter(filter_fn(may_be_written));
    let spans = spans.with_filter(filter_fn(AgentSpans::takes));
    let _ = tracing_subscriber::registry().with(lines).with(spans).try_init();
    Ok(())
}

fn filter(log: &Log) -> Result<LogFilter, Failure> {
    let filter = match std::env::var("TOOLMARK_LOG") {
        Ok(text) if !text.is_empty() => text,
        Err(VarError::NotUnicode(text)) => text.to_string_lossy().into_owned(),
        Ok(_) | Err(VarError::NotPresent) => log.filter.clone(),
    };
    filter.parse().map_err(|error| Failure::refused(Exit::BadInput, &error))
}

fn lines<S: Subscriber + for<'s> LookupSpan<'s>>(log: &Log) -> Box<dyn Layer<S> + Send + Sync> {
    match log.format {
        LogFormat::Text => {
            Box::new(tracing_subscriber::fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal()))
        }
        LogFormat::Json => {
            let lines = tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .with_span_list(false)
                .with_writer(stderr);
            Box::new(lines)
        }
    }
}

fn targets(filter: &LogFilter) -> Targets {
    filter.parts().fold(Targets::new(), |targets, (module, level)| {
        // The words are those of the other side.
        let level = level.parse().unwrap_or(LevelFilter::INFO);
        match module {
            Some(module) => targets.with_target(module, level),
            None => targets.with_default(level),
        }
    })
}

// Invariant: no log line holds a secret. Libraries that carry requests print headers and bodies at `debug` and below, so nothing of
// theirs is written there, whatever the filter says.
fn may_be_written(line: &tracing::Metadata<'_>) -> bool {
    // Spans of agents are told, not written.
    if AgentSpans::takes(line) {
        return false;
    }
    *line.level() <= tracing::Level::INFO || line.target().starts_with("toolmark")
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn modules_have_their_own_level() {
        let targets = targets(&"warn,toolmark_mcp=debug".parse().expect("a filter"));
        assert!(targets.would_enable("toolmark_mcp::upstream", &Level::DEBUG));
        assert!(!targets.would_enable("toolmark_gateway", &Level::INFO));
        assert!(targets.would_enable("toolmark_gateway", &Level::WARN));
    }
}
