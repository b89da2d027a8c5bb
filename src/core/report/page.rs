//! A page of headings, sentences, tables and lists, rendered as HTML or Markdown.

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A heading below a heading.
    Subheading(String),
    /// A paragraph.
    Text(String),
    /// A table. A column whose head begins with `#` has numbers.
    Table {
        /// Heads of the columns.
        head: Vec<String>,
        /// Cells by row.
        rows: Vec<Vec<String>>,
    },
    /// A list.
    List(Vec<String>),
}

impl Block {
    /// Creates a table with these heads.
    pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self::Table { head: head.iter().map(|head| (*head).to_owned()).collect(), rows }
    }
}
