use super::Predicate;
use http::{Extensions, HeaderMap, Method, Request, Response, Uri};
use http_body::Body;
use std::fmt;

/// A predicate that looks at the request alone, before the handler runs.
///
/// The layer adds `Vary: accept-encoding` and nothing else: what else such a predicate looks at is for you to
/// name in `Vary`, if caches may keep the response.
///
/// ```
/// use tower_compress::policy::predicate::{DefaultPredicate, ForRequest, Predicate};
///
/// // What another site makes a browser ask for is not coded: a measure against BREACH.
/// let same_site = ForRequest::new(|_method, _uri, headers, _extensions| {
///     headers.get("sec-fetch-site").is_none_or(|site| site != "cross-site")
/// });
/// let predicate = DefaultPredicate::new().and(same_site);
/// # let _ = predicate;
/// ```
#[derive(Clone, Copy)]
pub struct ForRequest<F>(F);

impl<F> ForRequest<F>
where
    F: Fn(&Method, &Uri, &HeaderMap, &Extensions) -> bool + Clone,
{
    /// The answer to a request may be coded where `f` says `true`.
    pub const fn new(f: F) -> Self {
        Self(f)
    }
}

impl<F> Predicate for ForRequest<F>
where
    F: Fn(&Method, &Uri, &HeaderMap, &Extensions) -> bool + Clone,
{
    fn should_compress<B>(&self, _response: &Response<B>) -> bool
    where
        B: Body,
    {
        true
    }

    fn should_compress_request<B>(&self, request: &Request<B>) -> bool {
        (self.0)(request.method(), request.uri(), request.headers(), request.extensions())
    }
}

impl<F> fmt::Debug for ForRequest<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForRequest").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closure_sees_the_request() {
        let gets = ForRequest::new(|method, uri, _, _| method == Method::GET && uri.path() == "/a");
        let mut request = Request::new(());
        *request.uri_mut() = Uri::from_static("http://host/a?q");
        assert!(gets.should_compress_request(&request));
        *request.method_mut() = Method::POST;
        assert!(!gets.should_compress_request(&request));
        assert!(gets.should_compress(&Response::new(String::new())));
    }
}
