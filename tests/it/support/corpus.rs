//! Seeded data: the same bytes at every run.

use std::sync::Mutex;

/// A small generator (splitmix64), so that no test depends on a crate's stream of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

/// Orders as JSON, cut off at `length` bytes.
pub(crate) fn json(length: usize) -> Vec<u8> {
    static ORDERS: Mutex<Made> = Mutex::new(Made { random: Random(7), bytes: Vec::new() });
    ORDERS.lock().unwrap().up_to(length, |random, bytes| {
        if bytes.is_empty() {
            bytes.push(b'[');
        }
        let (id, quantity, price) = (random.below(1_000_000), random.below(20) + 1, random.below(100_000));
        let product = ["keyboard", "monitor", "cable", "desk lamp", "chair"][random.below(5)];
        let status = ["open", "paid", "shipped", "returned"][random.below(4)];
        let order = format!(
            "{{\"id\":{id},\"product\":\"{product}\",\"quantity\":{quantity},\"price\":{}.{:02},\"status\":\"{status}\"}},",
            price / 100,
            price % 100
        );
        bytes.extend_from_slice(order.as_bytes());
    })
}

/// A server-sent event of 86 bytes: a number, a time and a price that change, around what does not.
pub(crate) fn event(number: usize) -> Vec<u8> {
    let mut random = Random(number as u64);
    let symbol = ["ACME", "GLOB", "INIT", "UMBR"][random.below(4)];
    let (price, volume) = (random.below(1_000_000), random.below(10_000));
    let text = format!(
        "data: {{\"seq\":{number:06},\"time\":17000{number:05},\"symbol\":\"{symbol}\",\"price\":{:04}.{:02},\"volume\":{volume:04}}}\n\n",
        price / 100,
        price % 100
    );
    text.into_bytes()
}

/// Bytes that no codec makes smaller.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    static NOISE: Mutex<Made> = Mutex::new(Made { random: Random(11), bytes: Vec::new() });
    NOISE.lock().unwrap().up_to(length, |random, bytes| bytes.extend_from_slice(&random.next().to_le_bytes()))
}

/// What was made so far: more of it begins with the same bytes, so they are made once for all tests.
struct Made {
    random: Random,
    bytes: Vec<u8>,
}

impl Made {
    fn up_to(&mut self, length: usize, more: impl Fn(&mut Random, &mut Vec<u8>)) -> Vec<u8> {
        while self.bytes.len() < length {
            more(&mut self.random, &mut self.bytes);
        }
        self.bytes[..length].to_vec()
    }
}
