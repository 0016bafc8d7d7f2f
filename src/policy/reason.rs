/// Why a response was not coded. Statistics count by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The status has no content: 1xx, 204 or 205 (RFC 9110 sections 15.2, 15.3.5 and 15.3.6).
    Status,
    /// 304: there is no body, but the head speaks of one (section 15.4.5).
    NotModified,
    /// 206, 416 or a `Content-Range`: ranges count the bytes of the representation as it is (section 14.4).
    Range,
    /// A successful answer to CONNECT is a tunnel (section 9.3.6).
    Connect,
    /// 101: the connection now speaks another protocol (section 7.8).
    Upgrade,
    /// There is a `Content-Encoding` already (section 8.4).
    AlreadyCoded,
    /// The handler opted out: with an extension, or with a `Content-Encoding` that is `identity` or empty.
    OptedOut,
    /// `application/grpc`: gRPC codes its messages one by one, and its clients know no other coding.
    Grpc,
    /// `Cache-Control: no-transform`, on the request or the response (RFC 9111 section 5.2).
    NoTransform,
    /// The request has a digest of its bytes, which would not be true of the coded ones.
    Digest,
    /// The predicate said no, to the request or to the response, and not because of the size.
    Predicate,
    /// The client accepts none of the codings offered, or prefers identity.
    NotAccepted,
    /// The client speaks HTTP/1.0, and the coded length is not known (RFC 9112 section 6.1).
    Http10,
    /// The body is smaller than the minimum.
    BelowMinimum,
    /// The body is empty.
    Empty,
    /// The coded body would not have been smaller.
    NotSmaller,
    /// A limit on memory was reached.
    Pressure,
}

impl Reason {
    /// All reasons, each at its [`index`](Self::index).
    pub const ALL: &'static [Self] = &[
        Self::Status,
        Self::NotModified,
        Self::Range,
        Self::Connect,
        Self::Upgrade,
        Self::AlreadyCoded,
        Self::OptedOut,
        Self::Grpc,
        Self::NoTransform,
        Self::Digest,
        Self::Predicate,
        Self::NotAccepted,
        Self::Http10,
        Self::BelowMinimum,
        Self::Empty,
        Self::NotSmaller,
        Self::Pressure,
    ];

    /// The reason's place in [`ALL`](Self::ALL), for tables of counters.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// A short name in snake case, for logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::NotModified => "not_modified",
            Self::Range => "range",
            Self::Connect => "connect",
            Self::Upgrade => "upgrade",
            Self::AlreadyCoded => "already_coded",
            Self::OptedOut => "opted_out",
            Self::Grpc => "grpc",
            Self::NoTransform => "no_transform",
            Self::Digest => "digest",
            Self::Predicate => "predicate",
            Self::NotAccepted => "not_accepted",
            Self::Http10 => "http_1_0",
            Self::BelowMinimum => "below_minimum",
            Self::Empty => "empty",
            Self::NotSmaller => "not_smaller",
            Self::Pressure => "pressure",
        }
    }

    /// Whether the uncoded response still needs `Vary: accept-encoding`, given that its type could be coded:
    /// another client, or the same resource at another size or time, would have got it coded
    /// (RFC 9110 section 12.5.5). The same goes for [`Predicate`](Self::Predicate) and
    /// [`NoTransform`](Self::NoTransform) where it was the request that ruled coding out.
    #[must_use]
    pub const fn varies(self) -> bool {
        match self {
            Self::NotModified
            | Self::NotAccepted
            | Self::Http10
            | Self::BelowMinimum
            | Self::Empty
            | Self::NotSmaller
            | Self::Pressure => true,
            Self::Status
            | Self::Range
            | Self::Connect
            | Self::Upgrade
            | Self::AlreadyCoded
            | Self::OptedOut
            | Self::Grpc
            | Self::NoTransform
            | Self::Digest
            | Self::Predicate => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_stands_at_its_index_under_its_own_name() {
        for (index, reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(reason.index(), index);
            let same = Reason::ALL.iter().filter(|other| other.as_str() == reason.as_str());
            assert_eq!(same.count(), 1, "{reason:?}");
        }
    }
}
