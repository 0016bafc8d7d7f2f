//! How long the padding is, and where it goes.

use super::settings::Settings;
use crate::codec::Codec;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::hash::{BuildHasher, RandomState};

/// The padding of a response with this body, in bytes. `whole`: the body, if it is all there.
pub(super) fn choose(settings: &Settings, whole: Option<&[u8]>) -> u16 {
    let Some(range) = settings.config.padding() else { return 0 };
    let number = match whole.filter(|_| settings.config.padding_by_content) {
        Some(body) => settings.padding_key.hash_one(body),
        // Keys that an attacker cannot foresee: the standard library draws them at random.
        None => RandomState::new().hash_one(0),
    };
    let span = u64::from(range.end() - range.start()) + 1;
    // Less than the span, so it fits.
    range.start() + (number % span) as u16
}

/// Puts the padding into the head, for codecs that have no room for it. Only once it is decided that the
/// response is coded.
pub(super) fn add_field(headers: &mut HeaderMap, codec: &dyn Codec, bytes: u16) {
    if bytes == 0 || codec.pads() {
        return;
    }
    if let Ok(mut filler) = HeaderValue::from_bytes(&vec![FILLER; usize::from(bytes)]) {
        // Never indexed by HPACK (RFC 7541 section 7.1.3): the second time an indexed field costs one byte.
        filler.set_sensitive(true);
        headers.insert(HeaderName::from_static("x-padding"), filler);
    }
}

/// A byte whose Huffman code in HPACK has eight bits (RFC 7541 appendix B), so that a byte is a byte on the
/// wire of HTTP/2 as well.
const FILLER: u8 = b'X';

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(by_content: bool) -> Settings {
        let mut settings = Settings::default();
        settings.config.set_padding(Some(10..=13));
        settings.config.padding_by_content = by_content;
        settings
    }

    #[test]
    fn every_length_of_the_range_occurs_and_no_other() {
        let settings = settings(false);
        let mut seen = [0; 4];
        for _ in 0..1000 {
            seen[usize::from(choose(&settings, Some(b"same")) - 10)] += 1;
        }
        // Each has a chance of one in four: none below 100 of 1000 by chance in the life of this project.
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    #[test]
    fn by_content_the_same_body_has_the_same_length() {
        let settings = settings(true);
        let clone = settings.clone();
        let mut seen = [false; 4];
        for body in 0..100_u8 {
            let length = choose(&settings, Some(&[body]));
            assert_eq!(choose(&clone, Some(&[body])), length);
            seen[usize::from(length - 10)] = true;
        }
        assert_eq!(seen, [true; 4]);
        // A stream's content is not known when its padding goes out.
        let streams: std::collections::HashSet<_> = (0..100).map(|_| choose(&settings, None)).collect();
        assert!(streams.len() > 1);
    }

    #[test]
    fn without_a_range_there_is_none() {
        assert_eq!(choose(&Settings::default(), Some(b"body")), 0);
    }
}
