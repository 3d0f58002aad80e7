//! How long may a request take? As long as its server needs at most: the time in which people think about a question that the server
//! asked because of it does not count.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use super::desk::Desk;
use super::request::UpstreamErrorKind;

/// For how long the time of a request stood still. Only requests that the server asked something because of have one.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// How many questions are open.
    open: usize,
    /// Since when there are any.
    since: Option<Instant>,
    /// For how long there were any before that.
    stood: Duration,
    /// Speaks when none is open any more.
    goes_on: Option<oneshot::Sender<()>>,
    /// Where it had a place that it left, and wants one again once none is open any more.
    left: Option<Arc<Semaphore>>,
}

/// The clocks of these requests stand still until this is dropped.
pub(crate) struct Standstill {
    desk: Arc<Desk>,
    calls: Vec<u64>,
}

/// How the clock of a request stands.
enum Stood {
    /// It goes, and stood still for so long.
    Going(Duration),
    /// It stands still until this speaks.
    Still(oneshot::Receiver<()>),
}

/// Ends when a request has had its time. Costs requests without questions one timer.
#[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
pub(crate) fn patience(
    desk: &Desk,
    id: u64,
    timeout: Option<Duration>,
) -> impl Future<Output = UpstreamErrorKind> + Send {
    async move {
        let Some(after) = timeout else { return std::future::pending().await };
        tokio::time::sleep(after).await;
        // Boxed: few requests come here, and all of them would have to make room for it.
        Box::pin(desk.overtime(id, after)).await;
        UpstreamErrorKind::Timeout { after }
    }
}

impl Desk {
    /// Stops the clocks of these requests: a question that any of them may have caused is open. They leave their places to others: people
    /// take their time, and a client that went away takes all there is. They go on without one, and get one again as others do.
    pub(super) fn stand_still(self: &Arc<Self>, calls: Vec<u64>) -> Standstill {
        let now = Instant::now();
        let mut under_way = self.calls();
        for call in &calls {
            if let Some(call) = under_way.get_mut(call) {
                let clock = call.clock.get_or_insert_default();
                clock.open += 1;
                clock.since.get_or_insert(now);
                if let Some(place) = call.place.take() {
                    clock.left = Some(Arc::clone(place.semaphore()));
                }
            }
        }
        drop(under_way);
        Standstill { desk: Arc::clone(self), calls }
    }

    /// True while a question waits for its answer.
    pub(crate) fn is_asking(&self) -> bool {
        self.calls().values().any(|call| call.clock.as_ref().is_some_and(|clock| clock.open > 0))
    }

    /// Waits for as long as a request that was begun `after` ago had its clock stand still.
    async fn overtime(&self, id: u64, after: Duration) {
        let now = Instant::now();
        let begun = now.checked_sub(after).unwrap_or(now);
        loop {
            match self.stood(id) {
                Stood::Going(stood) => {
                    let until = begun + after + stood;
                    if Instant::now() >= until {
                        return;
                    }
                    tokio::time::sleep_until(until).await;
                }
                // An error says that the request is over; then whoever waits for it knows already.
                Stood::Still(goes_on) => drop(goes_on.await),
            }
        }
    }

    /// Gives a request a place again. Its server is at work on it already, so it does not wait for that, but others do.
    fn take_place(self: &Arc<Self>, id: u64, places: Arc<Semaphore>) {
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            return self.put_in(id, place);
        }
        // Without a runtime everything ends.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let desk = Arc::clone(self);
        runtime.spawn(async move {
            if let Ok(place) = places.acquire_owned().await {
                desk.put_in(id, place);
            }
        });
    }

    fn put_in(&self, id: u64, place: OwnedSemaphorePermit) {
        let mut calls = self.calls();
        let Some(call) = calls.get_mut(&id) else { return };
        match call.clock.as_mut().filter(|clock| clock.open > 0) {
            // It is being asked about again.
            Some(clock) => clock.left = Some(Arc::clone(place.semaphore())),
            None => call.place = Some(place),
        }
    }

    fn stood(&self, id: u64) -> Stood {
        let mut calls = self.calls();
        let Some(clock) = calls.get_mut(&id).and_then(|call| call.clock.as_mut()) else {
            return Stood::Going(Duration::ZERO);
        };
        if clock.open == 0 {
            return Stood::Going(clock.stood);
        }
        let (sender, receiver) = oneshot::channel();
        clock.goes_on = Some(sender);
        Stood::Still(receiver)
    }
}

impl Drop for Standstill {
    fn drop(&mut self) {
        let mut under_way = self.desk.calls();
        let mut going_on = Vec::new();
        for call in &self.calls {
            let Some(clock) = under_way.get_mut(call).and_then(|call| call.clock.as_mut()) else { continue };
            clock.open = clock.open.saturating_sub(1);
            if clock.open == 0 {
                clock.stood += clock.since.take().map(|since| since.elapsed()).unwrap_or_default();
                if let Some(goes_on) = clock.goes_on.take() {
                    let _ = goes_on.send(());
                }
                going_on.extend(clock.left.take().map(|places| (*call, places)));
            }
        }
        drop(under_way);
        for (call, places) in going_on {
            self.desk.take_place(call, places);
        }
    }
}
