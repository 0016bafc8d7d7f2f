/// What the header of a zstd frame declares (RFC 8878 section 3.1.1.1): the window, and the content's size.
pub(crate) fn frame_header(frame: &[u8]) -> Option<(u64, Option<u64>)> {
    if frame.get(..4)? != [0x28, 0xb5, 0x2f, 0xfd] {
        return None;
    }
    let descriptor = frame[4];
    let single_segment = descriptor & 0x20 != 0;
    let mut at = 5;
    let mut window = 0;
    if !single_segment {
        let (exponent, mantissa) = (u32::from(frame[at] >> 3), u64::from(frame[at] & 7));
        let base = 1_u64 << (10 + exponent);
        window = base + base / 8 * mantissa;
        at += 1;
    }
    at += [0, 1, 2, 4][usize::from(descriptor & 3)];
    let length = match (descriptor >> 6, single_segment) {
        (0, false) => 0,
        (0, true) => 1,
        (flag, _) => 1 << flag,
    };
    let bytes = frame.get(at..at + length)?;
    let mut size = bytes.iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
    if length == 2 {
        size += 256;
    }
    let size = (length > 0).then_some(size);
    Some((if single_segment { size? } else { window }, size))
}
