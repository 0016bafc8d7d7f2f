use super::*;
use flate2::{Decompress, FlushDecompress, Status};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Text with matches near and far, runs, and stretches that nothing shortens.
fn mixed(random: &mut Random, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < length {
        match random.below(5) {
            0 => bytes.extend((0..random.below(400)).map(|_| random.below(256) as u8)),
            1 => bytes.extend(std::iter::repeat_n(b'-', random.below(700))),
            2 if !bytes.is_empty() => {
                let start = random.below(bytes.len());
                let end = (start + random.below(300)).min(bytes.len());
                bytes.extend_from_within(start..end);
            }
            _ => bytes.extend(format!("data: {{\"id\":{},\"on\":true}}\n\n", random.below(5000)).bytes()),
        }
    }
    bytes.truncate(length);
    bytes
}

/// What a receiver has of a stream, and whether that was the end.
fn inflate(coded: &[u8], expected: usize) -> (Vec<u8>, bool) {
    let mut decoder = Decompress::new(false);
    let mut decoded = Vec::with_capacity(expected + 1);
    let status = decoder.decompress_vec(coded, &mut decoded, FlushDecompress::Sync).unwrap();
    assert_eq!(decoder.total_in(), coded.len() as u64);
    (decoded, status == Status::StreamEnd)
}

#[test]
fn any_input_in_any_pieces_decodes_to_itself() {
    let mut random = Random(1);
    for round in 0..60 {
        let length = [0, 1, 3, 4, 5, 90, 3000, 70_000, 200_000][round % 9];
        let input = mixed(&mut random, length);
        let mut encoder = FixedDeflate::new();
        let (mut rest, mut coded) = (&input[..], Vec::new());
        while !rest.is_empty() {
            let size = [1, 2, 5, 86, 600, 20_000, 100_000][random.below(7)];
            let (piece, later) = rest.split_at(size.min(rest.len()));
            let operation = [Operation::Encode, Operation::Flush][random.below(2)];
            encoder.encode(piece, operation, &mut coded);
            rest = later;
            if operation == Operation::Flush && random.below(4) == 0 {
                let so_far = input.len() - rest.len();
                assert!(inflate(&coded, so_far) == (input[..so_far].to_vec(), false));
                let tail = encoder.tail(random.below(5000)).to_vec();
                assert!(input[..so_far].ends_with(&tail));
                encoder.reset();
                encoder.resume(&tail);
            }
        }
        encoder.encode(&[], Operation::Finish, &mut coded);
        assert!(inflate(&coded, input.len()) == (input, true));
    }
}

#[test]
fn the_last_block_may_hold_input() {
    for length in [1, 86, 40_000] {
        let input = mixed(&mut Random(2), length);
        let mut coded = Vec::new();
        FixedDeflate::new().encode(&input, Operation::Finish, &mut coded);
        assert!(inflate(&coded, length) == (input, true));
    }
}

#[test]
fn every_length_and_distance_decodes() {
    for distance in (1..=40).chain((50..WINDOW).step_by(997)).chain([WINDOW - 1, WINDOW]) {
        let mut random = Random(3);
        let mut input: Vec<u8> = (0..distance).map(|_| random.below(256) as u8).collect();
        for length in [3, 4, 5, 10, 11, 18, 130, 257, 258, 259] {
            input
                .extend_from_within(input.len() - distance..input.len().min(input.len() - distance + length));
            input.push(random.below(256) as u8);
        }
        let mut coded = Vec::new();
        FixedDeflate::new().encode(&input, Operation::Finish, &mut coded);
        assert!(inflate(&coded, input.len()) == (input, true));
    }
    for length in MIN_MATCH..=MAX_MATCH {
        let mut input = vec![b'a'; length + 1];
        input.push(b'b');
        let mut coded = Vec::new();
        FixedDeflate::new().encode(&input, Operation::Finish, &mut coded);
        assert!(coded.len() <= 6, "{length}");
        assert!(inflate(&coded, input.len()) == (input, true));
    }
}

#[test]
fn what_cannot_shrink_is_stored() {
    let mut random = Random(4);
    for length in [100_usize, 16 * 1024, 16 * 1024 + 1, 100_000] {
        let input: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        let mut coded = Vec::new();
        FixedDeflate::new().encode(&input, Operation::Flush, &mut coded);
        assert!(coded.len() <= length + length.div_ceil(MAX_BLOCK) * STORED_OVERHEAD + 5);
        assert!(inflate(&coded, length) == (input, false));
    }
}

#[test]
fn a_reset_encoder_knows_nothing_of_its_last_stream() {
    let mut random = Random(5);
    let mut used = FixedDeflate::new();
    for length in [50, 5000, 150_000] {
        let input = mixed(&mut random, length);
        let (mut fresh, mut again) = (Vec::new(), Vec::new());
        FixedDeflate::new().encode(&input, Operation::Flush, &mut fresh);
        used.encode(&input, Operation::Flush, &mut again);
        assert!(fresh == again);
        used.reset();
        assert!(used.tail(10).is_empty());
    }
}
