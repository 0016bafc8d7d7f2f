//! How many responses it takes until buffers fit the traffic again, after it has changed.

use crate::altered::Filling;
use crate::buffers;
use crate::figures::Figure;
use crate::layers::{Layer, WARM};
use crate::random::Random;
use crate::traces::{self, Exchange, Script};
use tower_compress::EncoderPool;

/// The most responses until then.
const RESPONSES: f64 = 32.0;

/// What counts as fitting: held within this part of what is held in the end, and nothing reallocated.
const NEAR: f64 = 0.25;

pub(crate) fn run() -> Vec<Figure> {
    let tiny = traces::serialized(1);
    let list = traces::serialized(60);
    let long = traces::serialized(500);
    let bursts = traces::ndjson(&mut Random(1), 1)[0].script;
    let shifts = [
        ("tiny answers, then lists of 24 KB", tiny, list),
        ("lists of 24 KB, then tiny answers", list, tiny),
        ("tiny answers, then lists of 0.2 MB", tiny, long),
        ("lists of 0.2 MB, then tiny answers", long, tiny),
        ("lists of 0.2 MB, then of 24 KB", long, list),
        ("NDJSON in bursts, then lists of 0.2 MB", bursts, long),
        ("lists of 24 KB, then NDJSON in bursts", list, bursts),
    ];
    let figure = |(name, before, after)| {
        Figure::at_most(format!("{name}: settled after"), settled(before, after), "count", RESPONSES)
    };
    shifts.into_iter().map(figure).collect()
}

/// Responses of `after` until they are served as they will be in the end.
fn settled(before: Script, after: Script) -> f64 {
    let exchange = |script| {
        // One route and one type: nothing else tells that the traffic is another.
        vec![Exchange { path: "/orders".into(), content_type: "application/json", script }; WARM]
    };
    let layer = Layer::new("zstd", None, Filling::Silent, &EncoderPool::new());
    let base = buffers::held();
    layer.run(&exchange(before));
    let mut responses = Vec::new();
    for one in exchange(after).chunks(1) {
        let reallocations = buffers::reallocations();
        let held = layer.run(one)[0].held - base as f64;
        responses.push((held, buffers::reallocations() - reallocations));
    }
    let (end, _) = responses[WARM - 1];
    let fits = |(held, reallocations): &(f64, u64)| {
        *reallocations == 0 && (held - end).abs() <= NEAR * end.max(f64::from(u8::MAX))
    };
    responses.iter().rposition(|response| !fits(response)).map_or(0.0, |last| (last + 1) as f64)
}
