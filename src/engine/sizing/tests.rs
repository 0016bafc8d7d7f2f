use super::*;

const PLACE: Place = Place::ANY;

fn gathered(sizing: &Sizing, bytes: usize) {
    sizing.record(PLACE, Observed { gathered: bytes, output: None, length: None });
}

fn whole(sizing: &Sizing, length: usize) {
    sizing.record(PLACE, Observed { gathered: length, output: None, length: Some(length as u64) });
}

#[test]
fn nothing_is_expected_of_the_first_message() {
    let expected = Sizing::new().expect(PLACE);
    assert_eq!((expected.gathered(), expected.output(), expected.length()), (512, 0, None));
    assert!(!expected.is_longer_than(0));
}

#[test]
fn the_largest_recent_size_is_expected() {
    let sizing = Sizing::new();
    for (bytes, expected) in [(300, 512), (513, 1024), (300, 1024), (40_000, 65_536), (300, 65_536)] {
        gathered(&sizing, bytes);
        assert_eq!(sizing.expect(PLACE).gathered(), expected, "{bytes}");
    }
}

#[test]
fn a_shift_is_learned_within_32_messages_in_either_direction() {
    for (before, after) in [(300, 60_000), (60_000, 300), (5000, 20_000), (20_000, 5000)] {
        for messages in 1..100 {
            let sizing = Sizing::new();
            (0..messages).for_each(|_| whole(&sizing, before));
            (0..32).for_each(|_| whole(&sizing, after));
            let expected = sizing.expect(PLACE);
            assert_eq!(expected.gathered(), after.next_power_of_two().max(512), "{messages} of {before}");
            assert!(expected.length().unwrap() < 4 * after.max(512) as u64);
        }
    }
}

#[test]
fn one_odd_message_is_remembered_for_16_and_forgotten_after_32() {
    for messages in 0..40 {
        let sizing = Sizing::new();
        (0..messages).for_each(|_| gathered(&sizing, 300));
        gathered(&sizing, 60_000);
        (0..15).for_each(|_| gathered(&sizing, 300));
        assert_eq!(sizing.expect(PLACE).gathered(), 65_536);
        (0..17).for_each(|_| gathered(&sizing, 300));
        assert_eq!(sizing.expect(PLACE).gathered(), 512);
    }
}

#[test]
fn no_size_makes_more_expected_than_64_kib() {
    let sizing = Sizing::new();
    for bytes in [0, 1, 65_537, 1 << 40, usize::MAX] {
        sizing.record(PLACE, Observed { gathered: bytes, output: Some(bytes), length: Some(bytes as u64) });
        let expected = sizing.expect(PLACE);
        assert!(expected.gathered() <= 65_536 && expected.output() <= 65_536, "{bytes}");
    }
}

#[test]
fn lengths_count_only_once_there_are_enough() {
    let sizing = Sizing::new();
    for message in 1..=8 {
        whole(&sizing, 100_000);
        assert_eq!(sizing.expect(PLACE).is_longer_than(65_536), message == 8);
        assert_eq!(sizing.expect(PLACE).length().is_some(), message == 8);
    }
    assert!(!sizing.expect(PLACE).is_longer_than(65_537), "100,000 is in the class of 64 to 256 KiB");
    whole(&sizing, 60_000);
    assert!(!sizing.expect(PLACE).is_longer_than(65_536), "one was not longer");
    assert_eq!(sizing.expect(PLACE).length(), Some(256 * 1024));
}

#[test]
fn the_longest_messages_have_no_upper_end() {
    let sizing = Sizing::new();
    (0..20).for_each(|_| whole(&sizing, 1 << 30));
    assert_eq!(sizing.expect(PLACE).length(), None);
    assert!(sizing.expect(PLACE).is_longer_than(1 << 22));
}

#[test]
fn of_messages_without_a_length_and_of_empty_ones_nothing_is_concluded() {
    let sizing = Sizing::new();
    (0..20).for_each(|_| gathered(&sizing, 30_000));
    assert_eq!(sizing.expect(PLACE).length(), None);
    assert!(!sizing.expect(PLACE).is_longer_than(0));
    let sizing = Sizing::new();
    (0..20).for_each(|_| whole(&sizing, 0));
    assert!(!sizing.expect(PLACE).is_longer_than(256));
}

#[test]
fn what_is_known_of_a_message_goes_before_what_was_learned() {
    let held = |sizing: &Sizing, known| {
        let mut buffer = WriteBuffer::new(64 * 1024);
        sizing.expect(PLACE).size(&mut buffer, known);
        buffer.push(b"x");
        buffer.capacity()
    };
    let sizing = Sizing::new();
    assert_eq!(held(&sizing, Some(40_000)), 40_000);
    (0..9).for_each(|_| whole(&sizing, 60_000));
    assert_eq!(held(&sizing, None), 65_536);
    assert_eq!(held(&sizing, Some(2000)), 2000);
    assert_eq!(held(&sizing, Some(u64::MAX)), 65_536);
    assert_eq!(held(&Sizing::fixed(3000), Some(2000)), 3000);
}

#[test]
fn identifiers_in_a_route_count_for_nothing() {
    let place = |route: &str| Place::of_route(route.as_bytes());
    assert_eq!(place("/orders/7"), place("/orders/8"));
    assert_eq!(place("/orders/7/items"), place("/orders/8/items"));
    assert_eq!(place("/api/v1/customers/83123/orders"), place("/api/v2/customers/90210/orders"));
    let uuids = ["550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"];
    let [one, other] = uuids.map(|uuid| place(&format!("/customers/{uuid}")));
    assert_eq!(one, other);
}

#[test]
fn routes_are_told_apart_by_their_ends() {
    let place = |route: &str| Place::of_route(route.as_bytes());
    let routes = [
        "/",
        "/a/b",
        "/b/a",
        "/orders",
        "/order/7",
        "/orders/7",
        "/v2/users",
        "/v2/items",
        "/api/v1/orders",
        "/api/v1/customers",
        "/api/v1/customers/7/orders",
        "/api/v1/customers/7/invoices",
    ];
    for (index, one) in routes.iter().enumerate() {
        for other in &routes[..index] {
            assert_ne!(place(one), place(other), "{one} {other}");
        }
    }
    assert_eq!(place(&"/a".repeat(32)), place(&"/a".repeat(1000)), "a long route costs no more");
}

#[test]
fn types_on_one_route_are_told_apart() {
    let route = Place::of_route(b"/orders");
    let types = [
        "application/json",
        "application/xml",
        "application/x-ndjson",
        "text/csv",
        "text/html",
        "",
        "a",
        "ab",
    ];
    for (index, one) in types.iter().enumerate() {
        for other in &types[..index] {
            for parameters in ["", "; charset=utf-8"] {
                let [one, other] =
                    [one, other].map(|of| route.of_type(format!("{of}{parameters}").as_bytes()));
                assert_ne!(one, other, "{types:?} {index}");
            }
        }
    }
    let json = route.of_type(b"application/json");
    assert_eq!(route.of_type(b"application/json; charset=utf-8"), json);
}

#[test]
fn a_fixed_size_stays_whatever_is_learned() {
    let sizing = Sizing::fixed(3000);
    gathered(&sizing, 60_000);
    assert_eq!(sizing.expect(PLACE).gathered(), 3000);
    let mut buffer = WriteBuffer::new(10_000);
    sizing.expect(PLACE).size(&mut buffer, None);
    for _ in 0..10 {
        buffer.push(b"x");
        buffer.drain(1);
    }
    buffer.release();
    assert_eq!(buffer.capacity(), 3000);
    assert_eq!(Sizing::fixed(usize::MAX).expect(PLACE).gathered(), MOST_FIXED);
}

#[test]
fn threads_share_what_they_learn() {
    let sizing = Sizing::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10_000).for_each(|message| gathered(&sizing, 100 << (message % 9))));
        }
    });
    assert!(sizing.expect(PLACE).gathered() >= 16 * 1024);
}
