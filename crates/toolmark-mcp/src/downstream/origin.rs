//! May a request with this `Host` and this `Origin` reach us at all?
//!
//! A page in a browser can send requests to a loopback address, by its own name (DNS rebinding) or from its own origin. Both headers
//! are checked, each by itself, on every route. Pure: settings and headers in, an answer out.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use thiserror::Error;
use toolmark_core::explain::{Code, Explain};

/// Which hosts a request may name and from which origins it may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    hosts: Vec<Place>,
    origins: Vec<AllowedOrigin>,
    /// Whether pages of this machine are let in that come from the port that they call.
    loopback: bool,
}

/// The names of this machine for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A host and, if it matters, a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

/// An origin that may send requests. Its port is written out where its scheme has a usual one, and no other port of that host may.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedOrigin {
    scheme: String,
    place: Place,
}

/// Why a request is turned away before anything of it is read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RefuseRequestError {
    /// There is no usable `Host`, or several.
    #[error("the request does not name exactly one host")]
    HostUnreadable,
    /// The host is not one of ours.
    #[error("the host `{0}` is not served here")]
    Host(String),
    /// The origin is not allowed.
    #[error("the origin `{0}` may not send requests here")]
    Origin(String),
}

/// Why an entry of the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a {1}")]
pub struct ParseGuardError(String, &'static str);

impl Guard {
    /// Loopback names only, any port, and pages that are served from the port that they call: what else listens on this machine, and may
    /// serve anybody's pages, is somebody else.
    #[must_use]
    pub fn loopback() -> Self {
        let hosts = LOOPBACK.map(|host| Place { host: host.to_owned(), port: None }).to_vec();
        Self { hosts, origins: Vec::new(), loopback: true }
    }

    /// Nothing is allowed yet.
    #[must_use]
    pub fn closed() -> Self {
        Self { hosts: Vec::new(), origins: Vec::new(), loopback: false }
    }

    /// Allows a host, as `example.com` (any port) or `example.com:8080`.
    ///
    /// # Errors
    /// [`ParseGuardError`] when the text is not a host.
    pub fn allow_host(mut self, host: &str) -> Result<Self, ParseGuardError> {
        let wrong = || ParseGuardError(host.to_owned(), "host");
        self.hosts.push(host.parse().ok().as_ref().and_then(Place::of).ok_or_else(wrong)?);
        Ok(self)
    }

    /// Allows an origin, as `https://app.example.com` (port 443, and no other) or `http://localhost:3000`.
    ///
    /// # Errors
    /// [`ParseGuardError`] when the text is not an origin.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, ParseGuardError> {
        let wrong = || ParseGuardError(origin.to_owned(), "origin");
        let (scheme, place) = read_origin(origin).ok_or_else(wrong)?;
        self.origins.push(AllowedOrigin { place: with_port(&scheme, place), scheme });
        Ok(self)
    }

    /// Allows the address under which clients reach us, as `https://tools.example.com`: its host, and pages that are served from it.
    ///
    /// # Errors
    /// [`ParseGuardError`] when the text is not an address.
    pub fn allow_url(self, url: &str) -> Result<Self, ParseGuardError> {
        let wrong = || ParseGuardError(url.to_owned(), "address");
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let (scheme, authority) = uri.scheme_str().zip(uri.authority()).ok_or_else(wrong)?;
        let place = Place::of(authority).ok_or_else(wrong)?;
        let scheme = scheme.to_ascii_lowercase();
        Ok(self.allow_place(place.clone(), AllowedOrigin { place: with_port(&scheme, place), scheme }))
    }

    /// Allows an address of this machine that we listen on, as a number: whatever a page makes its own name point to, its name is none.
    #[must_use]
    pub fn allow_address(self, address: SocketAddr) -> Self {
        let host = address.ip().to_canonical().to_string();
        let place = Place { host: host.clone(), port: Some(address.port()) };
        self.allow_place(Place { host, port: None }, AllowedOrigin { scheme: "http".to_owned(), place })
    }

    fn allow_place(mut self, host: Place, origin: AllowedOrigin) -> Self {
        self.hosts.push(host);
        self.origins.push(origin);
        self
    }

    /// Checks host and origin of one request; the origin is given back, if there is one.
    ///
    /// # Errors
    /// [`RefuseRequestError`], the host first.
    pub fn check<'a>(&self, uri: &Uri, headers: &'a HeaderMap) -> Result<Option<&'a HeaderValue>, RefuseRequestError> {
        self.check_host(uri, headers)?;
        self.check_origin(uri, headers)
    }

    /// Checks the host: the authority of the address (HTTP/2) and the `Host` header, whichever are there.
    ///
    /// # Errors
    /// [`RefuseRequestError::HostUnreadable`] or [`RefuseRequestError::Host`].
    pub fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), RefuseRequestError> {
        let mut named = headers.get_all(HOST).iter();
        // Nearly always there is one header, spelled as we would spell it; everything else is read with care.
        if let (None, Some(host), None) = (uri.authority(), headers.get(HOST), headers.get_all(HOST).iter().nth(1))
            && self.spells(host.as_bytes())
        {
            return Ok(());
        }
        let header = match (named.next(), named.next()) {
            (None, _) => None,
            (Some(host), None) => {
                let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
                Some(host.ok_or(RefuseRequestError::HostUnreadable)?)
            }
            (Some(_), Some(_)) => return Err(RefuseRequestError::HostUnreadable),
        };
        if header.is_none() && uri.authority().is_none() {
            return Err(RefuseRequestError::HostUnreadable);
        }
        for authority in header.iter().chain(uri.authority()) {
            let place = Place::of(authority).ok_or(RefuseRequestError::HostUnreadable)?;
            if !self.hosts.iter().any(|allowed| allowed.covers(&place)) {
                return Err(RefuseRequestError::Host(authority.to_string()));
            }
        }
        Ok(())
    }

    /// True for a host that is allowed, letter by letter, with or without a port.
    fn spells(&self, host: &[u8]) -> bool {
        let Ok(text) = str::from_utf8(host) else { return false };
        let (name, port) = match text.split_once(':') {
            None => (text, None),
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => match port.parse() {
                Ok(port) => (name, Some(port)),
                Err(_) => return false,
            },
            Some(_) => return false,
        };
        self.hosts.iter().any(|allowed| allowed.host == name && (allowed.port.is_none() || allowed.port == port))
    }

    /// Checks the origin, if one is given, and gives it back: programs send none, browsers cannot leave it out.
    ///
    /// # Errors
    /// [`RefuseRequestError::Origin`].
    pub fn check_origin<'a>(
        &self,
        uri: &Uri,
        headers: &'a HeaderMap,
    ) -> Result<Option<&'a HeaderValue>, RefuseRequestError> {
        let mut given = None;
        for value in headers.get_all(ORIGIN) {
            given = Some(value);
            let allowed = value.to_str().ok().and_then(read_origin).is_some_and(|(scheme, place)| {
                let place = with_port(&scheme, place);
                self.origins.iter().any(|allowed| allowed.scheme == scheme && allowed.place == place)
                    || (self.loopback && is_own(&scheme, &place, uri, headers))
            });
            if !allowed {
                return Err(RefuseRequestError::Origin(String::from_utf8_lossy(value.as_bytes()).into_owned()));
            }
        }
        Ok(given)
    }
}

/// True for a page of this machine that was served from the port that it calls, by whichever of its names.
fn is_own(scheme: &str, page: &Place, uri: &Uri, headers: &HeaderMap) -> bool {
    let named = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let called = uri.authority().or(named.as_ref()).and_then(Place::of).map(|called| with_port(scheme, called));
    let is_here = |place: &Place| LOOPBACK.contains(&place.host.as_str());
    matches!(scheme, "http" | "https")
        && is_here(page)
        && called.is_some_and(|called| is_here(&called) && called.port == page.port)
}

impl Place {
    fn of(authority: &Authority) -> Option<Self> {
        // `user@host` is never a host that somebody serves, and is read differently by different programs.
        if authority.as_str().contains('@') {
            return None;
        }
        let host = authority.host();
        let rest = authority.as_str().strip_prefix(host)?;
        let port = match rest.strip_prefix(':') {
            Some(digits) => Some(digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))?),
            None if rest.is_empty() => None,
            None => return None,
        };
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => inner.parse::<Ipv6Addr>().ok()?.to_string(),
            None => host.parse::<Ipv4Addr>().map_or_else(|_| host.to_ascii_lowercase(), |address| address.to_string()),
        };
        (!host.is_empty()).then_some(Self { host, port })
    }

    fn covers(&self, other: &Self) -> bool {
        self.host == other.host && (self.port.is_none() || self.port == other.port)
    }
}

impl RefuseRequestError {
    /// The HTTP status that says so.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::HostUnreadable => StatusCode::BAD_REQUEST,
            Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
        }
    }
}

impl Explain for RefuseRequestError {
    fn code(&self) -> Code {
        match self {
            Self::HostUnreadable | Self::Host(_) => Code::new("host-refused"),
            Self::Origin(_) => Code::new("origin-refused"),
        }
    }

    fn why(&self) -> String {
        let why = match self {
            Self::HostUnreadable | Self::Host(_) => "a page in a browser can make its own name point to this machine",
            Self::Origin(_) => {
                "any page can send requests to programs on this machine, and the origin says which page it is"
            }
        };
        why.to_owned()
    }

    fn fix(&self) -> String {
        let fix = match self {
            Self::HostUnreadable | Self::Host(_) => "use the address that the gateway prints, or allow this host",
            Self::Origin(_) => "allow this origin if the page is yours; programs should send no `Origin`",
        };
        fix.to_owned()
    }
}

impl Explain for ParseGuardError {
    fn code(&self) -> Code {
        Code::new("host-setting-invalid")
    }

    fn why(&self) -> String {
        "a guard that cannot be read guards nothing".to_owned()
    }

    fn fix(&self) -> String {
        "write a host as `example.com:8080` and an origin as `https://app.example.com`".to_owned()
    }
}

/// `scheme://host[:port]` and nothing after it.
fn read_origin(text: &str) -> Option<(String, Place)> {
    let (scheme, rest) = text.split_once("://")?;
    if scheme.is_empty() || rest.contains(['/', '?', '#']) {
        return None;
    }
    Some((scheme.to_ascii_lowercase(), Place::of(&rest.parse().ok()?)?))
}

/// Browsers leave out the default port of a scheme; here it is written out.
fn with_port(scheme: &str, mut place: Place) -> Place {
    place.port = place.port.or(match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    });
    place
}

#[cfg(test)]
mod tests;
