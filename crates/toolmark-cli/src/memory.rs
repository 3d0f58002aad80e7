//! Which allocator, and when does the system get back what is no longer used?

use std::hint::black_box;
use std::time::Duration;

/// A call makes some fifty small allocations; see decision 0030 for what this saves and what it does not cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A little more than the second for which the allocator keeps what was freed.
const KEPT: Duration = Duration::from_millis(1_200);
/// More than any page of the allocator's, so that it has pages of its own.
const LARGE: usize = 4 << 20;

/// Gives freed memory back to the system while nothing else happens; never ends. The allocator does so by itself, but only when pages are freed
/// again a while later: a gateway that has started, or was busy, and then rests would keep what that took.
pub(crate) async fn give_back() {
    let mut again = tokio::time::interval(KEPT);
    loop {
        again.tick().await;
        // Nothing is written there, so that it costs two looks at a table.
        drop(black_box(Vec::<u8>::with_capacity(LARGE)));
    }
}
