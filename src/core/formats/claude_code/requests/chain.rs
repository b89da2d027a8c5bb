//! The messages of requests, each of which names only the messages that differ from those of an earlier request.

use std::ops::Range;

/// A request as a difference from another one.
#[derive(Debug)]
pub(super) struct Link {
    /// Index of the earlier request.
    pub base: Option<usize>,
    /// Number of its first messages that are repeated.
    pub keep: usize,
    /// Range in [`Links::tails`] of the messages that follow.
    pub tail: Range<usize>,
}

/// The requests of a file.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub links: Vec<Link>,
    /// Numbers of messages.
    pub tails: Vec<u32>,
}

/// Maximum number of steps to find the messages of all requests.
// Chosen: 20,000 calls of 20,000 messages take half as many if none repeats the request before it. Double would let a
// hostile file take seconds.
const MAX_STEPS: usize = 200_000_000;

/// The messages of the latest request.
#[derive(Debug)]
pub(in super::super) struct Chain<'a> {
    links: &'a Links,
    /// The latest request.
    at: Option<usize>,
    messages: Vec<u32>,
    steps_left: usize,
}

impl<'a> Chain<'a> {
    /// Starts before the first request.
    pub(super) fn new(links: &'a Links) -> Self {
        Self { links, at: None, messages: Vec::new(), steps_left: MAX_STEPS }
    }

    /// Returns the messages of the latest request.
    pub(in super::super) fn messages(&self) -> &[u32] {
        &self.messages
    }

    /// Goes to a request. Returns the number of its first messages that it has in common with the request before.
    /// Returns `None` if its messages are not known; the next request then has none in common.
    pub(in super::super) fn go_to(&mut self, request: usize) -> Option<usize> {
        let mut path = Vec::new();
        let mut next = Some(request);
        while let Some(link) = next.filter(|link| Some(*link) != self.at) {
            self.steps_left = self.steps_left.checked_sub(1)?;
            path.push(link);
            next = self.links.links[link].base;
        }
        let before = if next.is_none() { std::mem::take(&mut self.messages) } else { Vec::new() };
        let mut common = self.messages.len();
        self.at = Some(request);
        for link in path.into_iter().rev().map(|link| &self.links.links[link]) {
            if link.keep > self.messages.len() {
                (self.at, self.messages) = (None, Vec::new());
                return None;
            }
            self.steps_left = self.steps_left.saturating_sub(link.tail.len());
            common = common.min(link.keep);
            self.messages.truncate(link.keep);
            self.messages.extend(&self.links.tails[link.tail.clone()]);
        }
        if next.is_none() {
            self.steps_left = self.steps_left.checked_sub(self.messages.len())?;
            common = before.iter().zip(&self.messages).take_while(|(a, b)| a == b).count();
        }
        Some(common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(of: &[(Option<usize>, usize, &[u32])]) -> Links {
        let mut links = Links::default();
        for (base, keep, tail) in of {
            let start = links.tails.len();
            links.tails.extend_from_slice(tail);
            links.links.push(Link { base: *base, keep: *keep, tail: start..links.tails.len() });
        }
        links
    }

    #[test]
    fn finds_messages_through_earlier_requests() {
        let links = links(&[
            (None, 0, &[1]),
            (Some(0), 1, &[2, 3]),
            (Some(1), 3, &[4, 5]),
            (None, 0, &[1, 2, 9]),
            (Some(1), 2, &[7]),
            (Some(4), 9, &[]),
        ]);
        let mut chain = Chain::new(&links);
        let mut messages = |request| {
            let common = chain.go_to(request);
            (common, chain.messages().to_vec())
        };
        assert_eq!(messages(0), (Some(0), vec![1]));
        // A request between was not answered.
        assert_eq!(messages(2), (Some(1), vec![1, 2, 3, 4, 5]));
        assert_eq!(messages(3), (Some(2), vec![1, 2, 9]));
        assert_eq!(messages(4), (Some(2), vec![1, 2, 7]));
        assert_eq!(messages(4), (Some(3), vec![1, 2, 7]));
        assert_eq!(messages(5), (None, vec![]));
        assert_eq!(messages(0), (Some(0), vec![1]));
    }
}
