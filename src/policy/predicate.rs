//! Which responses are worth coding: the [`Predicate`] trait and its presets.
//!
//! The names and shapes are tower-http's, so that predicates written for it need only another `use` line. New
//! here: a predicate may see the request before the handler runs, and it tells apart a body that is too small
//! from a response that is not to be coded at all.
//!
//! ```
//! use tower_compress::policy::predicate::{ForRequest, NotForContentType, Predicate, SizeAbove};
//!
//! let predicate = SizeAbove::new(256)
//!     .and(NotForContentType::IMAGES)
//!     .and(NotForContentType::const_new("application/pdf"))
//!     .and(ForRequest::new(|_method, uri, _headers, _extensions| !uri.path().starts_with("/secret")));
//! # let _ = predicate;
//! ```

mod and;
mod default;
mod for_request;
mod not_for_content_type;
mod size_above;

pub use and::And;
pub use default::DefaultPredicate;
pub use for_request::ForRequest;
pub use not_for_content_type::NotForContentType;
pub use size_above::SizeAbove;

use http::{Extensions, HeaderMap, Request, Response, StatusCode, Version};
use http_body::Body;

/// Decides whether a response is worth coding.
///
/// It is asked only about responses that HTTP allows to code, and its `true` is no promise: the client may
/// accept no coding, or the body may prove too small.
///
/// Functions and closures `Fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool` are predicates, and so is
/// an `Option` of one, where `None` says yes to everything.
pub trait Predicate: Clone {
    /// Whether to code this response.
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body;

    /// Whether the answer to this request may be coded. Asked before the handler runs; `true` unless overridden.
    fn should_compress_request<B>(&self, request: &Request<B>) -> bool {
        let _ = request;
        true
    }

    /// Whether this response would be coded if its body were large enough: [`should_compress`] without any rule
    /// about the size, which it is unless overridden.
    ///
    /// Where this is `true`, the response says `Vary: accept-encoding` even if it is not coded.
    ///
    /// [`should_compress`]: Predicate::should_compress
    fn could_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        self.should_compress(response)
    }

    /// The bytes below which a body is not worth coding, for bodies whose size becomes known only later.
    /// Zero unless overridden.
    fn min_size(&self) -> u64 {
        0
    }

    /// A predicate that says yes where both do.
    fn and<Other>(self, other: Other) -> And<Self, Other>
    where
        Self: Sized,
        Other: Predicate,
    {
        And::new(self, other)
    }
}

impl<F> Predicate for F
where
    F: Fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool + Clone,
{
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        self(response.status(), response.version(), response.headers(), response.extensions())
    }
}

impl<T> Predicate for Option<T>
where
    T: Predicate,
{
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        self.as_ref().is_none_or(|predicate| predicate.should_compress(response))
    }

    fn should_compress_request<B>(&self, request: &Request<B>) -> bool {
        self.as_ref().is_none_or(|predicate| predicate.should_compress_request(request))
    }

    fn could_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        self.as_ref().is_none_or(|predicate| predicate.could_compress(response))
    }

    fn min_size(&self) -> u64 {
        self.as_ref().map_or(0, Predicate::min_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_ok(status: StatusCode, _: Version, _: &HeaderMap, _: &Extensions) -> bool {
        status == StatusCode::OK
    }

    #[test]
    fn a_function_is_a_predicate() {
        let mut response = Response::new(String::from("x"));
        assert!(only_ok.should_compress(&response) && only_ok.could_compress(&response));
        *response.status_mut() = StatusCode::NOT_FOUND;
        assert!(!only_ok.should_compress(&response) && !only_ok.could_compress(&response));
        assert!(only_ok.should_compress_request(&Request::new(())));
        assert_eq!(only_ok.min_size(), 0);
    }

    #[test]
    fn none_says_yes_and_some_asks() {
        let response = Response::new(String::from("x"));
        let none: Option<SizeAbove> = None;
        assert!(none.should_compress(&response) && none.could_compress(&response));
        assert!(none.should_compress_request(&Request::new(())));
        assert_eq!(none.min_size(), 0);

        let some = Some(SizeAbove::new(2));
        assert!(!some.should_compress(&response) && some.could_compress(&response));
        assert_eq!(some.min_size(), 2);
        let never = Some(ForRequest::new(|_, _, _, _| false));
        assert!(!never.should_compress_request(&Request::new(())));
    }
}
