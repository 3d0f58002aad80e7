//! A task that wakes itself is polled again at once, without a way through the scheduler.
//!
//! hyper's connections wake whoever writes a body when somebody takes a piece of it. Here both are one task: it would be put at the end of
//! a queue, and another thread be woken to look for work that there is none of, twice in every call.
//!
//! The other way round, a connection polls the answer that it waits for whenever it is polled itself. [`Heard`] lets that pass where nothing
//! has happened to the answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::BoxFuture;
use futures_util::task::AtomicWaker;

/// Nobody polls; whoever wakes wakes the task.
const WAITING: u8 = 0;
/// Somebody polls and will look whether it was woken.
const POLLED: u8 = 1;
/// Somebody polls and was woken meanwhile.
const WOKEN: u8 = 2;

/// How often in a row. More than that is somebody who asks for others to have their turn.
const MOST: u32 = 4;

/// A future that is polled again at once where it woke itself.
pub(crate) struct Again<F> {
    future: Pin<Box<F>>,
    relay: Arc<Relay>,
    waker: Waker,
}

struct Relay {
    state: AtomicU8,
    /// Whoever is waiting for the future.
    task: Mutex<Waker>,
}

impl<F: Future> Again<F> {
    pub(crate) fn new(future: F) -> Self {
        let relay = Arc::new(Relay { state: AtomicU8::new(WAITING), task: Mutex::new(Waker::noop().clone()) });
        Self { future: Box::pin(future), waker: Waker::from(Arc::clone(&relay)), relay }
    }
}

impl<F: Future> Future for Again<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        {
            let mut task = this.relay.task.lock().unwrap_or_else(PoisonError::into_inner);
            if !task.will_wake(cx.waker()) {
                task.clone_from(cx.waker());
            }
        }
        for _ in 0..MOST {
            // What woke it before is seen by this poll.
            this.relay.state.store(POLLED, Ordering::SeqCst);
            let polled = this.future.as_mut().poll(&mut Context::from_waker(&this.waker));
            if polled.is_ready() {
                return polled;
            }
            let waiting = this.relay.state.compare_exchange(POLLED, WAITING, Ordering::SeqCst, Ordering::SeqCst);
            if waiting.is_ok() {
                return Poll::Pending;
            }
        }
        this.relay.state.store(WAITING, Ordering::SeqCst);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let woken = self.state.compare_exchange(POLLED, WOKEN, Ordering::SeqCst, Ordering::SeqCst);
        if woken == Err(WAITING) {
            self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
        }
    }
}

/// A future that is only polled when it was woken.
pub(crate) struct Heard<T> {
    future: BoxFuture<'static, T>,
    ear: Arc<Ear>,
    waker: Waker,
}

struct Ear {
    woken: AtomicBool,
    /// Whoever is waiting for the future.
    task: AtomicWaker,
}

impl<T> Heard<T> {
    pub(crate) fn new(future: BoxFuture<'static, T>) -> Self {
        let ear = Arc::new(Ear { woken: AtomicBool::new(true), task: AtomicWaker::new() });
        Self { future, waker: Waker::from(Arc::clone(&ear)), ear }
    }
}

impl<T> Future for Heard<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        // In this order: whoever wakes it after the look at `woken` finds the task.
        this.ear.task.register(cx.waker());
        match this.ear.woken.swap(false, Ordering::AcqRel) {
            true => this.future.as_mut().poll(&mut Context::from_waker(&this.waker)),
            false => Poll::Pending,
        }
    }
}

impl Wake for Ear {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests;
