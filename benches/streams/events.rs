//! Seeded events of several kinds.

use crate::random::Random;

/// A server-sent event of 86 bytes: a number, a time and a price that change, around what does not.
pub(crate) fn tick(number: usize) -> Vec<u8> {
    let mut random = Random(number as u64);
    let symbol = random.pick(&["ACME", "GLOB", "INIT", "UMBR"]);
    // A price walks; it does not jump.
    let (price, volume) = (4200 + number / 16 % 100, random.below(100) * 100);
    let text = format!(
        "data: {{\"seq\":{number:06},\"time\":17000{number:05},\"symbol\":\"{symbol}\",\"price\":{price:04}.{:02},\"volume\":{volume:04}}}\n\n",
        random.below(4) * 25,
    );
    assert_eq!(text.len(), EVENT);
    text.into_bytes()
}

/// Bytes of a tick.
pub(crate) const EVENT: usize = 86;

/// A token of a language model, in its envelope.
pub(crate) fn token(number: usize) -> Vec<u8> {
    let word = Random(number as u64).pick(&WORDS);
    format!(
        "data: {{\"id\":\"chatcmpl-9xY2\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m-1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" {word}\"}},\"finish_reason\":null}}]}}\n\n"
    )
    .into_bytes()
}

/// A line of a log.
pub(crate) fn log(number: usize) -> Vec<u8> {
    let mut random = Random(number as u64);
    format!(
        "2024-05-01T{:02}:{:02}:{:02}.{:03}Z {} [worker-{}] {}: {} {} id={} took {}us\n",
        number / 3600 % 24,
        number / 60 % 60,
        number % 60,
        random.below(1000),
        random.pick(&["INFO", "INFO", "WARN", "DEBUG"]),
        random.below(16),
        random.pick(&["http::server", "db::pool", "cache", "auth::session"]),
        random.pick(&WORDS),
        random.pick(&WORDS),
        random.below(1_000_000),
        random.below(100_000)
    )
    .into_bytes()
}

const WORDS: [&str; 24] = [
    "time", "request", "order", "server", "customer", "account", "payment", "the", "and", "with", "from",
    "after", "before", "update", "value", "message", "stream", "buffer", "small", "large", "compress",
    "network", "latency", "queue",
];
