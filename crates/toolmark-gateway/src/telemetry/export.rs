//! How spans leave: through a bounded queue to one task that sends them in batches. A receiver that is away costs spans, which are
//! counted, and never a call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_config::values::Secret;
use uuid::Uuid;

use super::receiver::{OtlpUnusable, Receiver, Undelivered};
use super::span::text;

/// How many calls may wait.
const QUEUE: usize = 2_048;
/// How many calls are sent at once.
const BATCH: usize = 256;
/// How long a span waits for others.
const LINGER: Duration = Duration::from_secs(1);
/// How often a batch is tried, and how long after the first time.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_secs(1);
/// How long the rest may take when the gateway stops.
const CLOSING: Duration = Duration::from_secs(3);

/// Where spans go. Spans of one call wait, and are lost, together.
pub(crate) struct Traces {
    queue: mpsc::Sender<Vec<Span>>,
    counts: Arc<Counts>,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    sent: AtomicU64,
    dropped: AtomicU64,
}

/// What became of spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanStats {
    /// Spans that the receiver took.
    pub sent: u64,
    /// Spans that nobody will see.
    pub dropped: u64,
}

impl Traces {
    /// Sends spans to the receiver of a configuration, if it has one. To be called within a runtime.
    pub(crate) fn of(
        config: &Config,
        otlp: Option<&(Secret, Vec<(String, Secret)>)>,
    ) -> Result<Option<Self>, OtlpUnusable> {
        let Some((endpoint, headers)) = otlp else { return Ok(None) };
        let receiver = Receiver::new(endpoint, headers)?;
        let name = config.telemetry.otlp.as_ref().and_then(|otlp| otlp.service_name.as_deref()).unwrap_or("toolmark");
        let resource = Resource {
            attributes: vec![
                text("service.name", name),
                text("service.version", env!("CARGO_PKG_VERSION")),
                text("service.instance.id", &Uuid::now_v7().to_string()),
            ],
            ..Resource::default()
        };
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (counts, stop) = (Arc::<Counts>::default(), CancellationToken::new());
        let sender =
            Sender { receiver, resource, counts: Arc::clone(&counts), stop: stop.clone(), troubled: false, last: None };
        let task = Mutex::new(Some(tokio::spawn(sender.run(waiting))));
        Ok(Some(Self { queue, counts, stop, task }))
    }

    pub(super) fn line(&self) -> Line {
        Line { queue: self.queue.clone(), counts: Arc::clone(&self.counts) }
    }

    /// What became of spans so far.
    pub(crate) fn stats(&self) -> SpanStats {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        SpanStats { sent: load(&self.counts.sent), dropped: load(&self.counts.dropped) }
    }

    /// Sends what waits, for as long as that is worth it, and ends.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
        let stats = self.stats();
        if stats.dropped > 0 {
            tracing::warn!(dropped = stats.dropped, sent = stats.sent, "spans were dropped");
        }
    }
}

/// The way from a call to the queue.
#[derive(Clone)]
pub(super) struct Line {
    queue: mpsc::Sender<Vec<Span>>,
    counts: Arc<Counts>,
}

impl Line {
    /// Queues the spans of a call without waiting; where there is no room, they are counted.
    pub(super) fn send(&self, spans: Vec<Span>) {
        if let Err(mpsc::error::TrySendError::Full(spans) | mpsc::error::TrySendError::Closed(spans)) =
            self.queue.try_send(spans)
        {
            self.counts.lose(spans.len());
        }
    }
}

impl Counts {
    fn lose(&self, spans: usize) {
        self.dropped.fetch_add(spans as u64, Ordering::Relaxed);
    }
}

/// The task that sends.
struct Sender {
    receiver: Receiver,
    resource: Resource,
    counts: Arc<Counts>,
    stop: CancellationToken,
    /// Whether the last batch was not taken; said once, not once a batch.
    troubled: bool,
    /// When everything has to be over.
    last: Option<Instant>,
}

impl Sender {
    async fn run(mut self, mut waiting: mpsc::Receiver<Vec<Span>>) {
        let stop = self.stop.clone();
        loop {
            let mut calls = Vec::with_capacity(BATCH);
            tokio::select! {
                count = waiting.recv_many(&mut calls, BATCH) => if count == 0 { return },
                () = stop.cancelled() => break,
            }
            let due = Instant::now() + LINGER;
            while calls.len() < BATCH {
                let room = BATCH - calls.len();
                tokio::select! {
                    count = waiting.recv_many(&mut calls, room) => if count == 0 { break },
                    () = tokio::time::sleep_until(due) => break,
                    () = stop.cancelled() => break,
                }
            }
            self.deliver(calls).await;
        }
        let last = *self.last.get_or_insert_with(|| Instant::now() + CLOSING);
        waiting.close();
        let mut calls = Vec::with_capacity(BATCH);
        while waiting.recv_many(&mut calls, BATCH).await > 0 {
            let calls = std::mem::replace(&mut calls, Vec::with_capacity(BATCH));
            if Instant::now() < last {
                self.deliver(calls).await;
            } else {
                self.counts.lose(calls.iter().map(Vec::len).sum());
            }
        }
    }

    /// Sends a batch, again if need be.
    async fn deliver(&mut self, calls: Vec<Vec<Span>>) {
        let spans: Vec<Span> = calls.into_iter().flatten().collect();
        let count = spans.len();
        let request = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(self.resource.clone()),
                scope_spans: vec![ScopeSpans {
                    scope: Some(InstrumentationScope {
                        name: "toolmark".to_owned(),
                        version: env!("CARGO_PKG_VERSION").to_owned(),
                        ..InstrumentationScope::default()
                    }),
                    spans,
                    ..ScopeSpans::default()
                }],
                ..ResourceSpans::default()
            }],
        };
        let mut pause = PAUSE;
        for attempt in 1..=TRIES {
            let why = match self.attempt(&request).await {
                Ok(refused) => {
                    let refused = usize::try_from(refused).unwrap_or(usize::MAX).min(count);
                    self.counts.sent.fetch_add((count - refused) as u64, Ordering::Relaxed);
                    self.counts.lose(refused);
                    if std::mem::take(&mut self.troubled) {
                        tracing::info!("spans are taken again");
                    }
                    return;
                }
                Err(Undelivered::Later(why, wait)) if attempt < TRIES && !self.stop.is_cancelled() => {
                    let wait = wait.unwrap_or(pause);
                    pause *= 2;
                    self.complain(&why);
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = self.stop.cancelled() => {}
                    }
                    continue;
                }
                Err(Undelivered::Later(why, _) | Undelivered::Never(why)) => why,
            };
            self.complain(&why);
            break;
        }
        self.counts.lose(count);
    }

    /// One request, which a gateway that stops does not wait for as long as usual.
    async fn attempt(&mut self, request: &ExportTraceServiceRequest) -> Result<u64, Undelivered> {
        let stop = self.stop.clone();
        let sending = self.receiver.send(request);
        let mut sending = std::pin::pin!(sending);
        if !stop.is_cancelled() {
            tokio::select! {
                sent = &mut sending => return sent,
                () = stop.cancelled() => {}
            }
        }
        let last = *self.last.get_or_insert_with(|| Instant::now() + CLOSING);
        let late = || Undelivered::Never("there is no answer in time".to_owned());
        tokio::time::timeout_at(last, sending).await.unwrap_or_else(|_| Err(late()))
    }

    fn complain(&mut self, why: &str) {
        if !std::mem::replace(&mut self.troubled, true) {
            tracing::warn!(reason = why, "spans are not taken; calls go on");
        }
    }
}
