//! `Accept-Encoding`: which coding a response gets (RFC 9110 section 12.5.3).
//!
//! The field is read once, before the inner service runs, into a small [`Negotiated`] that answers every later
//! question, also for a second choice where the first cannot be used.
//!
//! Where the RFC leaves room:
//!
//! - no field, or an empty one, means identity; so does a field with a byte outside ASCII, which nobody can
//!   read as consent;
//! - an element with a malformed weight is ignored, as if it were not there;
//! - of several elements for one coding (by name or alias) the lowest weight holds, so a refusal always does;
//! - equal weights go by the server's order; identity wins only where it is listed with a higher weight;
//! - `*` selects only offers that allow it, and where nothing else speaks for any offer it selects one before the
//!   others: gzip, unless the user has set the order.

use super::list;
use http::header::{ACCEPT_ENCODING, HeaderMap};
use std::num::NonZeroU64;

/// A coding that the server can apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    /// The token that `Content-Encoding` will carry, in lower case.
    pub(crate) name: &'static str,
    /// Other tokens that clients use for it, in lower case.
    aliases: &'static [&'static str],
    /// Whether `*` may select it. Codings without a registered token need to be asked for by name.
    wildcard: bool,
    /// Whether a bare `*` selects it before the others.
    first: bool,
    /// The name as a number, if it is short.
    key: Option<Key>,
}

impl Offer {
    pub(crate) const fn new(name: &'static str, aliases: &'static [&'static str], wildcard: bool) -> Self {
        Self { name, aliases, wildcard, first: false, key: key(name.as_bytes()) }
    }

    /// Whether a bare `*` is to select it before the others.
    pub(crate) const fn first_by_star(self, first: bool) -> Self {
        Self { first, ..self }
    }

    /// Whether the client's token means this coding (RFC 9110 section 8.4.1: in any case).
    pub(crate) fn is_called(&self, token: &[u8]) -> bool {
        is_token(token, self.name) || self.aliases.iter().any(|alias| is_token(token, alias))
    }
}

/// A token of up to eight bytes as one number, so that one comparison tells tokens apart.
type Key = NonZeroU64;

const fn key(token: &[u8]) -> Option<Key> {
    let (mut key, mut at) = (0, 0);
    while at < token.len() {
        key = key << 8 | token[at] as u64;
        at += 1;
    }
    if token.len() <= 8 { Key::new(key) } else { None }
}

/// Whether `token` is `name`, which is in lower case, as clients' tokens nearly always are.
fn is_token(token: &[u8], name: &str) -> bool {
    token.len() == name.len() && {
        let mut pairs = token.iter().zip(name.as_bytes());
        pairs.all(|(byte, lower)| byte == lower || byte.to_ascii_lowercase() == *lower)
    }
}

/// Reads the request's `Accept-Encoding` against the offers, which stand in the server's order of preference.
///
/// Offers after the first [`MAX_OFFERS`] are never chosen. Allocates nothing; the time is linear in the field.
pub(crate) fn negotiate(headers: &HeaderMap, offers: &[Offer]) -> Negotiated {
    let offers = &offers[..offers.len().min(MAX_OFFERS)];
    let mut listed = Listed { offers: [UNLISTED; MAX_OFFERS], identity: UNLISTED, star: UNLISTED };
    for line in headers.get_all(ACCEPT_ENCODING) {
        if listed.read(line.as_bytes(), offers).is_none() {
            return Negotiated::IDENTITY;
        }
    }
    listed.resolve(offers)
}

/// What a client accepts of what the server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Negotiated {
    /// The weight of each offer, in thousandths. Zero: not acceptable.
    weights: [u16; MAX_OFFERS],
    /// How many offers there are.
    offers: u8,
    /// The weight of identity where it is listed, else zero.
    identity: u16,
    identity_refused: bool,
    /// The offer that goes before the server's order among equals.
    first: Option<u8>,
}

impl Negotiated {
    /// What a request without the field gets.
    pub(crate) const IDENTITY: Self =
        Self { weights: [0; MAX_OFFERS], offers: 0, identity: 0, identity_refused: false, first: None };

    /// The index of the best offer; `None` if it is identity.
    pub(crate) fn best(&self) -> Option<usize> {
        self.choose(|_| true)
    }

    /// The index of the best among the offers that are `usable` now; `None` if it is identity, or if there is
    /// nothing left and identity was refused ([`identity_refused`](Self::identity_refused) tells).
    pub(crate) fn choose(&self, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let mut chosen = None;
        // An equal identity loses, a better one wins: section 12.5.3 prefers the highest weight.
        let mut best = self.identity.max(1);
        for (index, &weight) in self.weights.iter().enumerate().take(usize::from(self.offers)) {
            let better = weight > best || (weight == best && chosen.is_none());
            if better && usable(index) {
                best = weight;
                chosen = Some(index);
            }
        }
        match self.first.map(usize::from) {
            Some(first) if chosen.is_some() && self.weights.get(first) == Some(&best) && usable(first) => {
                Some(first)
            }
            _ => chosen,
        }
    }

    /// Lets an offer go before the server's order among equals.
    pub(crate) fn put_first(&mut self, offer: usize) {
        self.first = u8::try_from(offer).ok();
    }

    /// Whether the client accepts this offer at all.
    pub(crate) fn accepts(&self, offer: usize) -> bool {
        self.weights.get(offer).is_some_and(|&weight| weight > 0)
    }

    /// Whether the client refuses a response without a coding: `identity;q=0`, or `*;q=0` without identity.
    pub(crate) fn identity_refused(&self) -> bool {
        self.identity_refused
    }

    /// Whether no offer is acceptable and neither is identity: the case for a 406.
    pub(crate) fn nothing_acceptable(&self) -> bool {
        self.identity_refused && self.weights == [0; MAX_OFFERS]
    }
}

/// The lowest weight that the field gives to each name.
struct Listed {
    offers: [u16; MAX_OFFERS],
    identity: u16,
    star: u16,
}

impl Listed {
    /// Adds all elements of a line. `None` if there is a byte outside ASCII.
    ///
    /// Nearly all elements are a bare token, short and in lower case: such a one is read and found in one pass.
    /// All others are left to [`add`](Self::add).
    fn read(&mut self, line: &[u8], offers: &[Offer]) -> Option<()> {
        let mut rest = line;
        loop {
            while let [b' ' | b'\t' | b',', after @ ..] = rest {
                rest = after;
            }
            let mut key = 0;
            let mut length = 0;
            for &byte in rest {
                if !PLAIN[usize::from(byte)] {
                    break;
                }
                key = key << 8 | u64::from(byte);
                length += 1;
            }
            let (token, after) = rest.split_at(length);
            match after {
                [] if token.is_empty() => return Some(()),
                [] | [b',', ..] => {
                    let key = if length <= 8 { Key::new(key) } else { None };
                    match offers.iter().position(|offer| key.is_some() && offer.key == key) {
                        Some(index) => self.offers[index] = self.offers[index].min(FULL),
                        None => self.add(token, FULL, offers),
                    }
                    rest = after;
                }
                _ => {
                    let mut elements = list::elements(rest);
                    let element = elements.next().unwrap_or_default();
                    if !element.is_ascii() {
                        return None;
                    }
                    let (name, parameters) = list::cut(element, b';');
                    if let Some(weight) = parameters.map_or(Some(FULL), weight) {
                        self.add(name, weight, offers);
                    }
                    rest = elements.rest();
                }
            }
        }
    }

    fn add(&mut self, name: &[u8], weight: u16, offers: &[Offer]) {
        let slot = if name == b"*" {
            &mut self.star
        } else if is_token(name, "identity") {
            &mut self.identity
        } else if let Some(index) = offers.iter().position(|offer| offer.is_called(name)) {
            &mut self.offers[index]
        } else {
            return;
        };
        *slot = weight.min(*slot);
    }

    /// Lets `*` stand for what is not listed.
    fn resolve(self, offers: &[Offer]) -> Negotiated {
        let by_star = if self.star == UNLISTED { 0 } else { self.star };
        let mut weights = [0; MAX_OFFERS];
        let mut named = false;
        let mut first = None;
        for (index, offer) in offers.iter().enumerate() {
            let listed = self.offers[index];
            if listed != UNLISTED {
                weights[index] = listed;
                named |= listed > 0;
            } else if offer.wildcard && by_star > 0 {
                weights[index] = by_star;
                if offer.first {
                    first = u8::try_from(index).ok();
                }
            }
        }
        Negotiated {
            weights,
            offers: offers.len() as u8,
            identity: if self.identity == UNLISTED { 0 } else { self.identity },
            identity_refused: self.identity == 0 || (self.identity == UNLISTED && self.star == 0),
            first: if named { None } else { first },
        }
    }
}

/// The weight among an element's parameters, the lowest of several; `None` if one is malformed.
fn weight(parameters: &[u8]) -> Option<u16> {
    let mut lowest = FULL;
    for parameter in list::parameters(parameters) {
        match parameter {
            [b'q' | b'Q', b'=', value @ ..] => lowest = lowest.min(qvalue(value)?),
            _ if list::cut(parameter, b'=').0.eq_ignore_ascii_case(b"q") => return None,
            _ => {}
        }
    }
    Some(lowest)
}

/// A qvalue in thousandths (RFC 9110 section 12.4.2): at most 1, at most three decimals.
fn qvalue(value: &[u8]) -> Option<u16> {
    let (&whole @ (b'0' | b'1'), fraction) = value.split_first()? else {
        return None;
    };
    let digits = match fraction {
        [] => fraction,
        [b'.', digits @ ..] if digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit) => digits,
        _ => return None,
    };
    let mut thousandths = u16::from(whole - b'0');
    for place in 0..3 {
        thousandths = thousandths * 10 + digits.get(place).map_or(0, |&digit| u16::from(digit - b'0'));
    }
    (thousandths <= FULL).then_some(thousandths)
}

/// The most offers that are looked at: six codings of the crate's own, and room for the user's.
pub(crate) const MAX_OFFERS: usize = 16;

/// Bytes that are part of a token and nothing else. Some others are, too; they take the longer way.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        plain[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'-';
        byte += 1;
    }
    plain
};

/// The weight 1, in thousandths.
const FULL: u16 = 1000;

/// The weight of what the field does not list; above every other, so that the lowest is always the listed one.
const UNLISTED: u16 = u16::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const OFFERS: &[Offer] = &[
        Offer::new("zstd", &[], true),
        Offer::new("gzip", &["x-gzip"], true).first_by_star(true),
        Offer::new("snappy", &[], false),
    ];

    fn read(lines: &[&[u8]]) -> Negotiated {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT_ENCODING, HeaderValue::from_bytes(line).unwrap());
        }
        negotiate(&headers, OFFERS)
    }

    fn chosen(line: &str) -> &'static str {
        read(&[line.as_bytes()]).best().map_or("identity", |index| OFFERS[index].name)
    }

    #[test]
    fn the_coding_that_the_client_prefers() {
        let cases = [
            ("", "identity"),
            (" ", "identity"),
            ("gzip", "gzip"),
            ("gzip, deflate, br, zstd", "zstd"),
            ("gzip;q=0", "identity"),
            ("gzip;q=0.000", "identity"),
            ("gzip;q=0.001", "gzip"),
            ("gzip;q=0.5, zstd;q=0.8", "zstd"),
            ("gzip;q=0.8, zstd;q=0.5", "gzip"),
            ("gzip;q=0.8, zstd;q=0.8", "zstd"),
            ("gzip, zstd", "zstd"),
            ("identity", "identity"),
            ("identity;q=1, gzip;q=0.5", "identity"),
            ("identity, gzip;q=0.5", "identity"),
            ("identity, gzip", "gzip"),
            ("identity;q=0.5, gzip;q=0.5", "gzip"),
            ("identity;q=0, gzip;q=0.1", "gzip"),
            ("identity;q=1, *;q=0", "identity"),
            ("GZIP", "gzip"),
            ("GzIp", "gzip"),
            ("x-gzip", "gzip"),
            ("X-Gzip;q=0.3", "gzip"),
            ("gzip , ,, zstd ;q=0.3", "gzip"),
            ("gzip\t;\tq=0.5 , zstd;q=0.4", "gzip"),
            (",, ,gzip,", "gzip"),
            ("foo", "identity"),
            ("xgzip, gzipx, brotli, gzi", "identity"),
            ("gzip zstd", "identity"),
            ("br, identity;q=0", "identity"),
            ("snappy", "snappy"),
            (";q=1", "identity"),
        ];
        for (line, expected) in cases {
            assert_eq!(chosen(line), expected, "{line}");
        }
    }

    #[test]
    fn star_stands_for_what_is_not_listed_and_may_be_selected_by_it() {
        let cases = [
            ("*", "gzip"),
            ("*;q=0.1", "gzip"),
            ("br, *", "gzip"),
            ("gzip;q=0, *", "zstd"),
            ("x-gzip;q=0, *", "zstd"),
            ("gzip;q=0.5, *;q=0.8", "zstd"),
            ("gzip;q=0.8, *;q=0.5", "gzip"),
            ("gzip, *", "zstd"),
            ("gzip;q=0, zstd;q=0, *", "identity"),
            ("*;q=0", "identity"),
            ("*;q=0, gzip", "gzip"),
            ("identity;q=0.9, *;q=0.5", "identity"),
        ];
        for (line, expected) in cases {
            assert_eq!(chosen(line), expected, "{line}");
        }
    }

    #[test]
    fn without_a_first_one_a_bare_star_goes_by_the_servers_order() {
        let offers = OFFERS.iter().map(|offer| offer.first_by_star(false)).collect::<Vec<_>>();
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("*"))]);
        assert_eq!(negotiate(&headers, &offers).best(), Some(0));
    }

    #[test]
    fn a_malformed_weight_takes_its_element_away() {
        for weight in [
            "abc", "", "2", "-1", "1.5", "1.001", "0.1234", "1.0000", "NaN", ".5", "00", "0,5", "+1", "0.5x",
            " 0.5", "\"0.5\"", "0.-1",
        ] {
            assert_eq!(chosen(&format!("gzip;q={weight}")), "identity", "{weight}");
            assert_eq!(chosen(&format!("gzip;q={weight}, zstd;q=0.1")), "zstd", "{weight}");
        }
        for element in ["gzip;q", "gzip;q =0.5", "gzip; q =1"] {
            assert_eq!(chosen(element), "identity", "{element}");
        }
        for element in ["gzip;q=0.", "gzip;q=1."] {
            let expected = if element.contains('1') { "gzip" } else { "identity" };
            assert_eq!(chosen(element), expected, "{element}");
        }
        assert!(!read(&[b"identity;q=zero"]).identity_refused());
    }

    /// Bare tokens are read in one pass, all others element by element.
    #[test]
    fn both_ways_of_reading_agree() {
        let tokens =
            ["gzip", "GZIP", "x-gzip", "zstd", "snappy", "br", "*", "identity", "gzipgzipgzip", "-", "1"];
        for first in tokens {
            for second in tokens {
                let bare = read(&[format!("{first}, {second}").as_bytes()]);
                for longer in [
                    format!("{first};q=1,{second};q=1"),
                    format!(" {first} ,\t{second} "),
                    format!("{first};a=\"b,c\", {second}"),
                    format!(",{first},,{second}; q=1.000,"),
                ] {
                    assert_eq!(read(&[longer.as_bytes()]), bare, "{longer}");
                }
            }
        }
    }

    #[test]
    fn parameters_before_and_after_the_weight_do_not_hide_it() {
        for refused in
            ["gzip;foo=bar;q=0", "gzip;Q=0", "gzip;q=0;foo", "gzip;foo=\"a,b;c\";q=0", "gzip;q=1;q=0"]
        {
            assert_eq!(chosen(refused), "identity", "{refused}");
        }
        for accepted in ["gzip;foo=bar", "gzip;", "gzip;;q=1", "gzip;foo;q=0.2", "gzip;qq=0"] {
            assert_eq!(chosen(accepted), "gzip", "{accepted}");
        }
    }

    #[test]
    fn of_duplicates_the_lowest_weight_holds() {
        for line in ["gzip;q=0, gzip;q=1", "gzip, gzip;q=0", "x-gzip;q=0, gzip"] {
            assert_eq!(chosen(line), "identity", "{line}");
        }
        assert_eq!(chosen("zstd;q=0.9, zstd;q=0.1, gzip;q=0.5"), "gzip");
        assert!(read(&[b"identity, identity;q=0"]).identity_refused());
    }

    #[test]
    fn several_lines_are_one_list() {
        assert_eq!(read(&[b"br", b"gzip;q=0.5", b"zstd;q=0.1"]).best(), Some(1));
        assert_eq!(read(&[]), Negotiated { offers: 3, ..Negotiated::IDENTITY });
    }

    #[test]
    fn a_byte_outside_ascii_means_identity() {
        for lines in [&[&b"gzip, \xff"[..]][..], &[b"gzip", b"\x80"], &[b"gzip, identity;q=0, g\xc3\xa9"]] {
            assert_eq!(read(lines), Negotiated::IDENTITY);
        }
    }

    #[test]
    fn what_is_refused_is_told() {
        let cases = [
            // field, identity refused, nothing acceptable
            ("gzip", false, false),
            ("gzip;q=0", false, false),
            ("identity;q=0", true, true),
            ("*;q=0", true, true),
            ("br, identity;q=0", true, true),
            ("gzip, identity;q=0", true, false),
            ("*;q=0, gzip", true, false),
            ("*;q=0, identity", false, false),
            ("identity;q=0, *", true, false),
            ("identity;q=0, *;q=0, gzip;q=0", true, true),
        ];
        for (line, refused, nothing) in cases {
            let negotiated = read(&[line.as_bytes()]);
            assert_eq!(negotiated.identity_refused(), refused, "{line}");
            assert_eq!(negotiated.nothing_acceptable(), nothing, "{line}");
        }
    }

    #[test]
    fn the_second_choice_is_acceptable_too() {
        let all = read(&[b"gzip;q=0.5, zstd, snappy;q=0.8"]);
        assert_eq!(all.best(), Some(0));
        assert_eq!(all.choose(|index| index != 0), Some(2));
        assert_eq!(all.choose(|index| index == 1), Some(1));
        assert_eq!(all.choose(|_| false), None);
        assert_eq!(read(&[b"zstd"]).choose(|index| index != 0), None);
        assert_eq!(read(&[b"zstd, identity;q=0.5, gzip;q=0.1"]).choose(|index| index != 0), None);
        assert_eq!(read(&[b"*"]).choose(|index| index != 1), Some(0));
        assert!(all.accepts(2) && !all.accepts(3) && !all.accepts(99));
    }

    #[test]
    fn ten_thousand_elements_take_linear_time() {
        let mut line = b"foo;q=0.5,".repeat(10_000);
        line.extend_from_slice(b"gzip");
        assert_eq!(read(&[&line]).best(), Some(1));
        assert_eq!(read(&[&b",".repeat(64 * 1024)]).best(), None);
        assert_eq!(read(&[&b"\"".repeat(64 * 1024)]).best(), None);
    }

    #[test]
    fn offers_beyond_the_most_are_never_chosen() {
        let offers = [OFFERS[0]; MAX_OFFERS + 1];
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("*"));
        assert_eq!(negotiate(&headers, &offers).best(), Some(0));
    }
}
