//! Whatever a client or a configuration says, the request is answered and the body comes back.

use crate::support::Script;
use crate::support::corpus::json;
use crate::support::serve::{answer, coding, receive, text};
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH};
use http::{HeaderValue, Request, Response};
use proptest::prelude::*;
use std::convert::Infallible;
use tower::{Layer, ServiceExt, service_fn};
use tower_compress::codec::{CODECS, Levels, Operation, Setup};
use tower_compress::{CompressionLayer, CompressionLevel, EncoderPool};

fn layer() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy(true).snappy_framed(true).pool(EncoderPool::new())
}

/// Sends these `Accept-Encoding` fields, checks that the body comes back, and returns its coding.
async fn ask(fields: &[&[u8]]) -> String {
    let input = json(5000);
    let mut request = Request::new(());
    for field in fields {
        request.headers_mut().append(ACCEPT_ENCODING, HeaderValue::from_bytes(field).unwrap());
    }
    let body = input.clone();
    let service = layer().layer(service_fn(move |_: Request<()>| {
        let response = text(Script::cut(&body, 100));
        async move { Ok::<_, Infallible>(response) }
    }));
    let response = service.oneshot(request).await.unwrap();
    assert!(response.status().is_success());
    let coding = coding(&response).to_owned();
    assert_eq!(receive(response.into_body()).await.decoded(&coding), input);
    coding
}

#[tokio::test]
async fn an_endless_accept_encoding_is_read_and_answered() {
    const LENGTH: usize = 64 * 1024;
    for piece in [
        ",",
        ";",
        "\"",
        "=",
        "*",
        " ",
        "\t",
        "q",
        "gzip",
        ";q=",
        "gzip;q=",
        "gzip;q=0.",
        "*;q=0.0000,",
        ",;=\"\\",
        "\"gzip\",",
        "gzip\u{fc},",
        "gzip;q=1;q=0,",
    ] {
        let field = piece.repeat(LENGTH / piece.len());
        let coding = ask(&[field.as_bytes()]).await;
        // What follows a heap of nonsense still counts where the nonsense ends, as a field of its own.
        let with_more = ask(&[field.as_bytes(), b"zstd"]).await;
        assert!(coding == "identity" || coding == "gzip", "{piece}: {coding}");
        assert!(with_more == "zstd" || with_more == coding, "{piece}: {with_more}");
    }
    // Good elements in between are found.
    let field = format!("{},gzip;q=0.5,{}", "x;q=2,".repeat(5000), "gzip;q=\",".repeat(5000));
    assert_eq!(ask(&[field.as_bytes()]).await, "gzip");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_accept_encoding_is_answered(
        fields in prop::collection::vec(
            prop_oneof![
                // Whatever a field may hold (RFC 9110 section 5.5).
                prop::collection::vec(prop_oneof![Just(b'\t'), 0x20..=0x7e_u8, 0x80..=0xff_u8], 0..200),
                // Nearly right.
                "((gzip|zstd|br|identity|\\*|x)?[ \t]*(;[ \t]*[qQ]?=?[01]?\\.?[0-9]{0,4})?[ \t]*,?){0,20}"
                    .prop_map(String::into_bytes),
            ],
            0..4,
        ),
    ) {
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(ask(&fields));
    }
}

#[tokio::test]
async fn a_level_out_of_range_is_clamped() {
    let input = json(5000);
    let coded = async |name: &str, level: i32| {
        let layer = layer().quality(CompressionLevel::Precise(level));
        // Identity is refused, since the lowest level of some codecs does not make anything smaller.
        let accept = format!("{name}, identity;q=0");
        let response = answer(&layer, &accept, text(Script::cut(&input, 100))).await;
        assert_eq!(coding(&response), name);
        let received = receive(response.into_body()).await;
        assert_eq!(received.decoded(name), input);
        received.bytes()
    };
    for codec in CODECS {
        let levels = |number| codec.level(CompressionLevel::Precise(number));
        let (lowest, highest) = (levels(i32::MIN), levels(i32::MAX));
        assert_eq!(coded(codec.name(), i32::MIN).await, coded(codec.name(), lowest).await);
        assert_eq!(coded(codec.name(), i32::MAX).await, coded(codec.name(), highest).await);
    }
}

#[test]
fn levels_are_clamped_to_what_the_codec_has() {
    let levels = Levels { lowest: -7, fastest: 1, default: 3, best: 19, highest: 22 };
    let number = |number| levels.resolve(CompressionLevel::Precise(number));
    assert_eq!([number(i32::MIN), number(-8), number(0), number(23), number(i32::MAX)], [-7, -7, 0, 22, 22]);
}

#[test]
fn a_setup_from_nowhere_is_no_panic() {
    // A codec's user may skip `Codec::level` and `Codec::size_class`.
    for codec in CODECS {
        for (level, size_class) in [(0, u8::MAX), (i32::MAX, 0), (i32::MIN, 77), (100, 3)] {
            let setup = Setup { level, size_class };
            assert!(codec.memory(setup) < 1 << 30, "{}", codec.name());
            assert!(codec.batch(level) > 0 && codec.level_for_batch(level, 0) <= level, "{}", codec.name());
            if let Ok(mut encoder) = codec.encoder(setup) {
                let _ = encoder.encode(&json(2000), Operation::Finish, &mut Vec::new());
            }
        }
    }
}

#[tokio::test]
async fn settings_out_of_range_are_clamped() {
    for layer in [
        layer().look_ahead(0),
        layer().look_ahead(usize::MAX),
        layer().batch_limit(0),
        layer().batch_limit(usize::MAX),
        layer().padding(0..=u16::MAX),
        layer().pool(EncoderPool::with_limit(0)),
    ] {
        for (name, length) in [("gzip", 2000), ("zstd", 2000), ("gzip", 70_000), ("zstd", 70_000)] {
            let response = answer(&layer, name, text(Script::cut(&json(length), 997))).await;
            let coding = coding(&response).to_owned();
            assert!(receive(response.into_body()).await.decoded(&coding) == json(length), "{layer:?}");
        }
    }
    let response = answer(&layer().min_size(u64::MAX), "gzip", text(Script::cut(&json(5000), 997))).await;
    assert_eq!(coding(&response), "identity");
}

#[tokio::test]
async fn a_length_that_is_none_does_not_matter() {
    for length in ["", "abc", "-1", "99999999999999999999999", "1.5"] {
        let response: Response<Script> = text(Script::cut(&json(5000), 100));
        let (mut parts, body) = response.into_parts();
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from_str(length).unwrap());
        let response = answer(&layer(), "gzip", Response::from_parts(parts, body)).await;
        let said = response.headers()[CONTENT_LENGTH].to_str().unwrap().to_owned();
        assert_eq!(coding(&response), "gzip");
        let received = receive(response.into_body()).await;
        assert_eq!(said, received.bytes().len().to_string());
        assert_eq!(received.decoded("gzip"), json(5000));
    }
}
