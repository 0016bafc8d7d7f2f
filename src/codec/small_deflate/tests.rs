use super::header::Header;
use super::huffman::Huffman;
use super::tokens::{DISTANCES, SYMBOLS};
use super::*;
use flate2::{Decompress, FlushDecompress, Status};
use proptest::prelude::*;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn noise(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

fn whole(encoder: &mut SmallDeflate, input: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    encoder.reset();
    encoder.encode(input, Operation::Finish, &mut coded);
    coded
}

/// What a receiver has of a stream, and whether that was the end.
fn inflate(coded: &[u8], expected: usize) -> (Vec<u8>, bool) {
    let mut decoder = Decompress::new(false);
    let mut decoded = Vec::with_capacity(expected + 1);
    let status = decoder.decompress_vec(coded, &mut decoded, FlushDecompress::Sync).unwrap();
    assert_eq!(decoder.total_in(), coded.len() as u64);
    (decoded, status == Status::StreamEnd)
}

/// Encodes with an encoder that has seen other messages, and by a new one: the same, and two decoders agree on it.
fn check(used: &mut SmallDeflate, input: &[u8]) -> usize {
    let coded = whole(used, input);
    assert!(coded == whole(&mut SmallDeflate::new(), input), "{} bytes: not as a new one", input.len());
    assert!(inflate(&coded, input.len()) == (input.to_vec(), true), "{} bytes", input.len());
    let mut decoded = vec![0; input.len()];
    let length = libdeflater::Decompressor::new().deflate_decompress(&coded, &mut decoded);
    assert!(length == Ok(input.len()) && decoded == input, "{} bytes", input.len());
    coded.len()
}

fn text(length: usize) -> Vec<u8> {
    let mut random = Random(1);
    let mut text = Vec::new();
    while text.len() < length {
        text.extend(format!("{{\"id\":{},\"on\":true}}, ", random.below(5000)).bytes());
    }
    text.truncate(length);
    text
}

/// As often as Fibonacci's numbers say: the deepest tree that so many symbols can have.
fn fibonacci(length: usize) -> Vec<u8> {
    let (mut one, mut other, mut bytes) = (1, 1, Vec::new());
    for symbol in 0.. {
        bytes.extend(std::iter::repeat_n(symbol, one));
        if bytes.len() >= length {
            break;
        }
        (one, other) = (other, one + other);
    }
    bytes.truncate(length);
    // Dealt out, so that no match hides the counts.
    let mut random = Random(9);
    for place in (1..bytes.len()).rev() {
        bytes.swap(place, random.below(place + 1));
    }
    bytes
}

#[test]
fn every_small_length_decodes() {
    let mut encoder = SmallDeflate::new();
    let (text, noise) = (text(600), Random(2).noise(600));
    for length in 0..=600 {
        check(&mut encoder, &text[..length]);
        assert!(check(&mut encoder, &noise[..length]) <= length + 5);
        check(&mut encoder, &vec![b'a'; length]);
        check(&mut encoder, &vec![0; length]);
    }
}

#[test]
fn messages_around_the_size_of_a_block_decode() {
    let mut encoder = SmallDeflate::new();
    for length in [MAX_BLOCK - 1, MAX_BLOCK, MAX_BLOCK + 1, 2 * MAX_BLOCK, 5 * MAX_BLOCK + 7] {
        assert!(check(&mut encoder, &text(length)) < length / 2);
        let stored = length + 5 * length.div_ceil(MAX_BLOCK);
        assert!(check(&mut encoder, &Random(3).noise(length)) <= stored);
        check(&mut encoder, &vec![0xff; length]);
    }
}

#[test]
fn codes_of_any_shape_decode() {
    let mut encoder = SmallDeflate::new();
    let all: Vec<u8> = (0..=255).collect();
    check(&mut encoder, &all);
    check(&mut encoder, &all.repeat(3));
    for length in [100, 1000, 5000, 8000] {
        check(&mut encoder, &fibonacci(length));
    }
    for symbols in 1..=60 {
        let mut random = Random(symbols as u64);
        let bytes: Vec<u8> = (0..2000).map(|_| (random.below(symbols) * 37) as u8).collect();
        check(&mut encoder, &bytes);
    }
}

#[test]
fn every_length_and_distance_decodes() {
    let mut encoder = SmallDeflate::new();
    for distance in (4..=40).chain((50..MAX_BLOCK - 800).step_by(397)) {
        let mut input = Random(4).noise(distance);
        for length in [4, 5, 10, 11, 18, 130, 257, 258, 259] {
            let start = input.len() - distance;
            input.extend_from_within(start..input.len().min(start + length));
            input.push(b'.');
        }
        check(&mut encoder, &input);
    }
    for length in 4..=260 {
        let mut input = vec![b'a'; length + 1];
        input.push(b'b');
        assert!(check(&mut encoder, &input) <= 7, "{length}");
    }
}

#[test]
fn code_lengths_are_bounded_complete_and_the_shortest() {
    // Weights of a tree that is as deep as can be, and of one that is flat.
    let mut deep = [0_u16; SYMBOLS];
    (deep[0], deep[1]) = (1, 1);
    (2..22).for_each(|symbol| deep[symbol] = deep[symbol - 1] + deep[symbol - 2]);
    for (counts, limit, longest) in
        [(deep, 15, 15), (deep, 7, 7), ([1; SYMBOLS], 15, 9), ([7; SYMBOLS], 9, 9)]
    {
        let huffman = Huffman::new(&counts, limit);
        let lengths: Vec<_> = huffman.used().map(|(_, code)| code.length).collect();
        assert_eq!(lengths.iter().max(), Some(&longest));
        // Kraft's sum is one: no code is missing, and none is too many.
        assert_eq!(lengths.iter().map(|length| 1 << (15 - length)).sum::<u32>(), 1 << 15);
    }
    let few = Huffman::new(&[5, 0, 1, 1, 2], 7);
    assert_eq!(few.used().map(|(_, code)| code.length).collect::<Vec<_>>(), [1, 3, 3, 2]);
    assert_eq!(few.used().map(|(_, code)| code.bits).collect::<Vec<_>>(), [0b0, 0b011, 0b111, 0b01]);
    for (counts, pair) in [([0, 0, 0], [0, 1]), ([3, 0, 0], [0, 1]), ([0, 0, 3], [0, 2])] {
        let huffman = Huffman::new(&counts, 15);
        assert_eq!(huffman.used().map(|(symbol, _)| symbol).collect::<Vec<_>>(), pair);
        assert!(huffman.used().all(|(_, code)| code.length == 1));
    }
}

#[test]
fn a_header_is_as_long_as_it_says() {
    let mut random = Random(5);
    for round in 0..200 {
        let mut counts = [0; SYMBOLS];
        let gap = 1 + round % 150;
        (0..=256).step_by(gap).for_each(|symbol| counts[symbol] = 1 + random.below(1 << (round % 12)) as u16);
        counts[256] = 1;
        let mut distances = [0; DISTANCES];
        (0..random.below(30)).for_each(|symbol| distances[symbol] = random.below(3) as u16);
        let header = Header::new(&Huffman::new(&counts, 15), &Huffman::new(&distances, 15));
        let (mut bits, mut output) = (Bits::default(), Vec::new());
        bits.write(header.cost(), &mut output, |bits| header.write(bits));
        bits.align(&mut output);
        assert_eq!(output.len(), header.cost().div_ceil(8) as usize);
    }
}

#[test]
fn a_message_in_pieces_decodes() {
    let mut random = Random(6);
    for round in 0..40 {
        let mut input = text(random.below(30_000));
        input.extend(random.noise(500));
        let (mut encoder, mut rest, mut coded) = (SmallDeflate::new(), &input[..], Vec::new());
        while !rest.is_empty() {
            let size = [1, 2, 5, 86, 600, 9000, 20_000][random.below(7)];
            let (piece, later) = rest.split_at(size.min(rest.len()));
            rest = later;
            let operation = if rest.is_empty() && round % 2 == 0 {
                Operation::Finish
            } else {
                [Operation::Encode, Operation::Flush][random.below(2)]
            };
            encoder.encode(piece, operation, &mut coded);
            if operation == Operation::Flush {
                let so_far = input.len() - rest.len();
                assert!(inflate(&coded, so_far) == (input[..so_far].to_vec(), false));
            }
        }
        if round % 2 == 1 {
            encoder.encode(&[], Operation::Finish, &mut coded);
        }
        assert!(inflate(&coded, input.len()) == (input, true));
    }
}

/// Something that a message is made of.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "[a-z]{1,6}".prop_map(|word| format!("\"{word}\": \"{word}s\", ").into_bytes()),
        (any::<u8>(), 0..700_usize).prop_map(|(byte, length)| vec![byte; length]),
        (proptest::collection::vec(any::<u8>(), 1..20), 1..40_usize)
            .prop_map(|(bytes, times)| bytes.repeat(times)),
        proptest::collection::vec(0..4_u8, 0..500),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_message_decodes(pieces in proptest::collection::vec(piece(), 0..40), again in any::<prop::sample::Index>()) {
        let mut input = pieces.concat();
        if !pieces.is_empty() {
            input.extend(again.get(&pieces).clone());
        }
        let blocks = input.len().div_ceil(MAX_BLOCK).max(1);
        let mut encoder = SmallDeflate::new();
        whole(&mut encoder, &input[input.len() / 2..]);
        prop_assert!(check(&mut encoder, &input) <= input.len() + 5 * blocks);
    }
}
