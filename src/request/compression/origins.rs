//! What origins have said they accept, for a while.

use crate::policy::Negotiated;
use http::Request;
use http::header::HOST;
use http::uri::{Authority, Scheme};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The most origins that are remembered: a client that talks to more talks to most of them once. 128 bytes each.
const MAX_ORIGINS: usize = 256;

/// Whom a request goes to (RFC 9110 section 4.3.1). Default ports are not filled in: at worst two entries say the
/// same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    scheme: Option<Scheme>,
    authority: Authority,
}

impl Origin {
    /// The request's origin, from its target or its `Host`.
    pub(super) fn of<B>(request: &Request<B>) -> Option<Self> {
        let uri = request.uri();
        let host = || Authority::try_from(request.headers().get(HOST)?.as_bytes()).ok();
        let authority = uri.authority().cloned().or_else(host)?;
        // What is before the `@` is the user's affair.
        let authority = match authority.as_str().rsplit_once('@') {
            Some((_, origin)) => Authority::try_from(origin).ok()?,
            None => authority,
        };
        Some(Self { scheme: uri.scheme().cloned(), authority })
    }
}

/// The memory of one layer: bounded, and every entry ends after a while.
#[derive(Debug)]
pub(super) struct Origins {
    keep: Duration,
    known: RwLock<HashMap<Origin, Known>>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    accepts: Negotiated,
    /// When it was said. No instant says when it ends: a very long time to keep it goes beyond all of them.
    since: Instant,
}

impl Known {
    fn holds(&self, keep: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < keep
    }
}

impl Origins {
    /// What is learned is kept for this long; nothing is learned if it is zero.
    pub(super) fn new(keep: Duration) -> Self {
        Self { keep, known: RwLock::default() }
    }

    pub(super) fn keep(&self) -> Duration {
        self.keep
    }

    /// Whether anything is learned at all.
    pub(super) fn learns(&self) -> bool {
        !self.keep.is_zero()
    }

    /// What the origin accepts, if it has said so of late.
    pub(super) fn get(&self, origin: &Origin, now: Instant) -> Option<Negotiated> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(origin).filter(|known| known.holds(self.keep, now)).map(|known| known.accepts)
    }

    /// Remembers what the origin has said now.
    pub(super) fn learn(&self, origin: &Origin, accepts: Negotiated, now: Instant) {
        if !self.learns() {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_ORIGINS && !known.contains_key(origin) {
            known.retain(|_, known| known.holds(self.keep, now));
            if known.len() >= MAX_ORIGINS {
                let oldest =
                    known.iter().min_by_key(|(_, known)| known.since).map(|(origin, _)| origin.clone());
                oldest.and_then(|oldest| known.remove(&oldest));
            }
        }
        known.insert(origin.clone(), Known { accepts, since: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Offer, negotiate};
    use http::header::{ACCEPT_ENCODING, HeaderMap};

    fn origin(uri: &str) -> Origin {
        Origin::of(&Request::get(uri).body(()).unwrap()).unwrap()
    }

    fn accepts(field: &str) -> Negotiated {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, field.parse().unwrap())]);
        negotiate(&headers, &[Offer::new("gzip", &[], true)])
    }

    #[test]
    fn the_origin_is_the_scheme_and_the_authority() {
        assert_eq!(origin("http://h:1/a?b"), origin("http://H:1/c"));
        assert_eq!(origin("http://user:secret@h:1/"), origin("http://h:1/"));
        assert_ne!(origin("http://h:1/"), origin("http://h:2/"));
        assert_ne!(origin("http://h/"), origin("https://h/"));
        let by_host = |host: &str| Origin::of(&Request::get("/a").header(HOST, host).body(()).unwrap());
        assert_eq!(by_host("h:1"), by_host("h:1"));
        assert_ne!(by_host("h:1"), by_host("h:2"));
        assert_eq!(Origin::of(&Request::get("/a").body(()).unwrap()), None);
    }

    #[test]
    fn what_was_learned_is_forgotten_after_a_while() {
        let (origins, start) = (Origins::new(Duration::from_secs(60)), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(origins.get(&origin("http://h/"), start), None);
        origins.learn(&origin("http://h/"), accepts("gzip"), start);
        assert_eq!(origins.get(&origin("http://h/"), at(59)), Some(accepts("gzip")));
        assert_eq!(origins.get(&origin("http://h/"), at(60)), None);
        origins.learn(&origin("http://h/"), accepts("identity"), at(30));
        assert_eq!(origins.get(&origin("http://h/"), at(60)), Some(accepts("identity")));

        let nothing = Origins::new(Duration::ZERO);
        nothing.learn(&origin("http://h/"), accepts("gzip"), start);
        assert_eq!(nothing.get(&origin("http://h/"), start), None);
    }

    #[test]
    fn what_is_kept_for_ever_is_learned_and_replaced_all_the_same() {
        let (origins, start) = (Origins::new(Duration::MAX), Instant::now());
        let year = Duration::from_secs(365 * 24 * 60 * 60);
        origins.learn(&origin("http://h/"), accepts("gzip"), start);
        assert_eq!(origins.get(&origin("http://h/"), start + year), Some(accepts("gzip")));
        origins.learn(&origin("http://h/"), accepts("identity"), start + year);
        assert_eq!(origins.get(&origin("http://h/"), start + year), Some(accepts("identity")));
        // One more than there is room for.
        for number in 0..MAX_ORIGINS as u64 {
            let now = start + 2 * year + Duration::from_millis(number);
            origins.learn(&origin(&format!("http://h{number}/")), accepts("gzip"), now);
        }
        assert_eq!(origins.get(&origin("http://h/"), start + 3 * year), None);
        assert_eq!(origins.get(&origin("http://h0/"), start + 3 * year), Some(accepts("gzip")));
    }

    #[test]
    fn only_so_many_are_remembered_and_the_oldest_go_first() {
        let (origins, start) = (Origins::new(Duration::from_secs(60)), Instant::now());
        for number in 0..10_000_u64 {
            let now = start + Duration::from_millis(number);
            origins.learn(&origin(&format!("http://h{number}/")), accepts("gzip"), now);
        }
        let now = start + Duration::from_secs(10);
        let known = |number| origins.get(&origin(&format!("http://h{number}/")), now).is_some();
        assert_eq!((0..10_000).filter(|number| known(*number)).count(), MAX_ORIGINS);
        assert!(known(9_999) && !known(0));
    }
}
