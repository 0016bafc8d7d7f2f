use super::Predicate;
use http::{Request, Response};
use http_body::Body;

/// Two predicates that must both say yes. Made by [`Predicate::and`].
#[derive(Debug, Clone, Copy, Default)]
pub struct And<Lhs, Rhs> {
    left: Lhs,
    right: Rhs,
}

impl<Lhs, Rhs> And<Lhs, Rhs> {
    pub(super) fn new(left: Lhs, right: Rhs) -> Self {
        Self { left, right }
    }
}

impl<Lhs, Rhs> Predicate for And<Lhs, Rhs>
where
    Lhs: Predicate,
    Rhs: Predicate,
{
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        self.left.should_compress(response) && self.right.should_compress(response)
    }

    fn should_compress_request<B>(&self, request: &Request<B>) -> bool {
        self.left.should_compress_request(request) && self.right.should_compress_request(request)
    }

    fn could_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        self.left.could_compress(response) && self.right.could_compress(response)
    }

    fn min_size(&self) -> u64 {
        self.left.min_size().max(self.right.min_size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::predicate::{ForRequest, SizeAbove};

    #[test]
    fn both_must_agree() {
        let response = Response::new(String::from("four"));
        for (left, right, expected) in [(0, 0, true), (5, 0, false), (0, 5, false), (4, 4, true)] {
            let both = SizeAbove::new(left).and(SizeAbove::new(right));
            assert_eq!(both.should_compress(&response), expected, "{left} {right}");
            assert!(both.could_compress(&response));
            assert_eq!(both.min_size(), left.max(right));
        }
    }

    #[test]
    fn both_see_the_request() {
        let (yes, no) = (ForRequest::new(|_, _, _, _| true), ForRequest::new(|_, _, _, _| false));
        let request = Request::new(());
        assert!(yes.and(yes).should_compress_request(&request));
        assert!(!yes.and(no).should_compress_request(&request));
        assert!(!no.and(yes).should_compress_request(&request));
    }
}
