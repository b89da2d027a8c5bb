//! Records that outlive the text they were read from: of the few that had to be mended before they could be read.

use super::entry::{Answer, Embedded, Entry, Node, What};
use std::borrow::Cow;

impl Entry<'_> {
    /// The same, with nothing borrowed.
    pub(super) fn into_owned<'a>(self) -> Entry<'a> {
        Entry {
            span: self.span,
            line: self.line,
            label: self.label,
            node: self.node.map(Node::into_owned),
            time: self.time,
            what: self.what.into_owned(),
            reports: self.reports,
            embedded: self.embedded.map(|it| Box::new(it.into_owned())),
        }
    }
}

impl Embedded<'_> {
    fn into_owned<'a>(self) -> Embedded<'a> {
        Embedded {
            agent: self.agent,
            call: self.call,
            entry: self.entry.into_owned(),
        }
    }
}

impl Node<'_> {
    fn into_owned<'a>(self) -> Node<'a> {
        Node {
            uuid: self.uuid.map(owned),
            parent: self.parent.map(owned),
            is_sidechain: self.is_sidechain,
            agent: self.agent.map(owned),
        }
    }
}

impl What<'_> {
    fn into_owned<'a>(self) -> What<'a> {
        match self {
            Self::Said(said) => What::Said(said),
            Self::Answered(answer) => What::Answered(Answer {
                group: answer.group.map(owned),
                model: answer.model.map(owned),
                usage: answer.usage,
                parts: answer.parts,
            }),
            Self::Boundary(boundary) => What::Boundary(boundary),
            Self::Leaf(uuid) => What::Leaf(owned(uuid)),
            Self::Title(title, by_person) => What::Title(owned(title), by_person),
            Self::Microcompaction => What::Microcompaction,
            Self::Managed(calibration) => What::Managed(calibration),
            Self::Aside => What::Aside,
        }
    }
}

fn owned<'a>(text: Cow<'_, str>) -> Cow<'a, str> {
    Cow::Owned(text.into_owned())
}
