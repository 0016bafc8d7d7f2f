use super::Predicate;
use crate::policy::media;
use http::Response;
use http_body::Body;
use std::borrow::Cow;

/// Says no to responses of one media type, or of one family of them.
///
/// What is compared is the essence: the type without its parameters, in any case. `application/grpc` means
/// itself and its structured forms such as `application/grpc+proto`, but neither `application/grpc-web` nor
/// `application/grpcx`; `audio/` (or `audio`, or `audio/*`) means every type that begins with it.
///
/// A response with a missing or unreadable `Content-Type` matches nothing, so the answer is yes.
#[derive(Debug, Clone)]
pub struct NotForContentType {
    content_type: Cow<'static, str>,
    except: Option<&'static str>,
}

impl NotForContentType {
    /// No gRPC: its messages are coded one by one, by itself. gRPC-Web is not meant.
    pub const GRPC: Self = Self::const_new("application/grpc");

    /// No images, but SVG is text.
    pub const IMAGES: Self = Self { content_type: Cow::Borrowed("image/"), except: Some("image/svg+xml") };

    /// No server-sent events. They are coded by default, event by event.
    pub const SSE: Self = Self::const_new("text/event-stream");

    /// No responses of this type or family.
    #[must_use]
    pub fn new(content_type: &str) -> Self {
        Self { content_type: Cow::Owned(content_type.to_owned()), except: None }
    }

    /// No responses of this type or family, from a static string.
    #[must_use]
    pub const fn const_new(content_type: &'static str) -> Self {
        Self { content_type: Cow::Borrowed(content_type), except: None }
    }
}

impl Predicate for NotForContentType {
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        let Some(essence) = media::essence(response.headers()) else {
            return true;
        };
        !media::is_within(essence, self.content_type.as_bytes())
            || self.except.is_some_and(|except| essence.eq_ignore_ascii_case(except.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{CONTENT_TYPE, HeaderValue};

    fn allows(predicate: &NotForContentType, content_type: &str) -> bool {
        let mut response = Response::new(String::new());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
        predicate.should_compress(&response)
    }

    #[test]
    fn the_essence_is_compared() {
        let (grpc, images, sse) =
            (NotForContentType::GRPC, NotForContentType::IMAGES, NotForContentType::SSE);
        let cases = [
            (&grpc, "application/grpc", false),
            (&grpc, "Application/gRPC", false),
            (&grpc, "application/grpc+proto", false),
            (&grpc, "application/grpc;charset=x", false),
            (&grpc, "application/grpc-web", true),
            (&grpc, "application/grpc-web+proto", true),
            (&grpc, "application/grpc-web-text", true),
            (&grpc, "application/grpcx", true),
            (&grpc, "text/plain; x=application/grpc", true),
            (&images, "image/png", false),
            (&images, "IMAGE/PNG; a=b", false),
            (&images, "image/svg+xml", true),
            (&images, "IMAGE/SVG+XML ; charset=utf-8", true),
            (&images, "imagery/png", true),
            (&sse, "text/event-stream", false),
            (&sse, "TEXT/EVENT-STREAM", false),
            (&sse, "text/event-stream ; x=1", false),
            (&sse, "text/event-streamx", true),
            (&sse, "", true),
            (&sse, "text", true),
        ];
        for (predicate, content_type, expected) in cases {
            assert_eq!(allows(predicate, content_type), expected, "{content_type}");
        }
    }

    #[test]
    fn a_family_is_written_in_three_ways() {
        for family in ["audio", "audio/", "AUDIO/*"] {
            let predicate = NotForContentType::new(family);
            assert!(!allows(&predicate, "audio/wav"), "{family}");
            assert!(allows(&predicate, "audiobook/x"), "{family}");
        }
        assert!(!allows(&NotForContentType::new("text/html; charset=utf-8"), "text/html"));
    }

    #[test]
    fn without_a_type_the_answer_is_yes() {
        assert!(NotForContentType::new("text/").should_compress(&Response::new(String::new())));
        assert!(allows(&NotForContentType::new(""), "text/plain"));
    }
}
