//! The body of a request, as long as it may be and no later than it may come.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, EXPECT};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use thiserror::Error;
use toolmark_core::explain::{Code, Explain};

/// Up to this length a body is copied, which is less than the memory that its connection would need instead of what the body came in.
const SMALL: usize = 2048;

/// Why a body is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReadBodyError {
    /// It is longer than it may be.
    #[error("the body has more than {0} bytes")]
    TooLarge(usize),
    /// The connection ended before it.
    #[error("the body broke off")]
    Incomplete,
    /// It did not come in time.
    #[error("the body took too long")]
    TooSlow,
}

/// Reads a body of at most `most` bytes that comes within `time`.
///
/// # Errors
/// [`ReadBodyError`]. What is too long is read on for a while and thrown away: many clients hear of nothing while they write.
pub async fn read_body<B>(headers: &HeaderMap, body: B, most: usize, time: Duration) -> Result<Bytes, ReadBodyError>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let mut body = body;
    let too_large = declared.or(body.size_hint().exact()).is_some_and(|length| length > most as u64);
    let read = match too_large {
        true => Err(ReadBodyError::TooLarge(most)),
        false => tokio::time::timeout(time, collect(&mut body, most)).await.unwrap_or(Err(ReadBodyError::TooSlow)),
    };
    // One that asks first, and says how much it has, is told before it writes anything.
    let has_written = !(too_large && headers.contains_key(EXPECT));
    if matches!(read, Err(ReadBodyError::TooLarge(_))) && has_written {
        let _ = tokio::time::timeout(time.min(LONGEST_REST), throw_away(&mut body)).await;
    }
    read
}

/// How much is read of a body that is not wanted, and for how long.
const MOST_REST: usize = 32 << 20;
const LONGEST_REST: Duration = Duration::from_secs(5);

async fn throw_away<B>(body: &mut B)
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    let mut left = MOST_REST;
    while let Some(Ok(frame)) = body.frame().await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            break;
        }
    }
}

/// All of a body; one that comes in one piece, as most do, is copied only where it is small.
async fn collect<B>(body: &mut B, most: usize) -> Result<Bytes, ReadBodyError>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| ReadBodyError::Incomplete)?.into_data() else { continue };
        if first.len() + rest.len() + data.len() > most {
            return Err(ReadBodyError::TooLarge(most));
        }
        if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    if rest.is_empty() {
        return Ok(if first.len() <= SMALL { Bytes::copy_from_slice(&first) } else { first });
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(whole.freeze())
}

impl ReadBodyError {
    /// The HTTP status that says so.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Incomplete => StatusCode::BAD_REQUEST,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
        }
    }
}

impl Explain for ReadBodyError {
    fn code(&self) -> Code {
        match self {
            Self::TooLarge(_) => Code::new("body-too-large"),
            Self::Incomplete => Code::new("body-incomplete"),
            Self::TooSlow => Code::new("body-too-slow"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::TooLarge(_) | Self::TooSlow => "one caller must not take what all of them share".to_owned(),
            Self::Incomplete => "half of a request may mean something else than the whole".to_owned(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::TooLarge(_) => "send less at a time".to_owned(),
            Self::Incomplete => "send the request again".to_owned(),
            Self::TooSlow => "send the body at once, with the head of the request".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
