//! Counts the tokens of a text with `OpenAI`'s vocabularies, exactly and in nearly linear time. Needs no files and no network.
//!
//! ```
//! use token_counter::{LengthRule, Vocabulary};
//!
//! assert_eq!(Vocabulary::O200kBase.count("The quick brown fox"), 4);
//! assert_eq!(Vocabulary::of_model("openai/gpt-4-turbo"), Some(Vocabulary::Cl100kBase));
//! assert_eq!(LengthRule::Chars4.count("The quick brown fox"), 5);
//! ```
//!
//! # Accuracy
//!
//! [`Vocabulary::count`] returns the number of tokens that `tiktoken` encodes. The tests compare pieces and counts with
//! `bpe-openai`, on random and on hostile texts.
//!
//! All text is ordinary text: the name of a special token, such as `<|endoftext|>`, counts as its letters.
//!
//! # Algorithm
//!
//! 1. `pieces` splits the text into words, numbers, signs and blanks, by `character_class`. A handwritten scanner
//!    replaces the published regular expression.
//! 2. `piece_cache` looks up the count of each piece. Most words of a text repeat.
//! 3. `ranks` counts a piece of up to 13 bytes within a single number.
//! 4. `merge` counts a longer piece: by scanning up to a kilobyte, with a priority queue beyond it. A megabyte of one
//!    letter takes less than half a second.
//!
//! # Memory
//!
//! The vocabularies add 2.3 MB to the executable. A vocabulary in use takes about 5 MB, and each thread half a megabyte
//! more for its cache.

mod character_class;
mod length_rule;
mod merge;
mod piece_cache;
mod pieces;
mod ranks;
mod vocabulary;

pub use length_rule::LengthRule;
pub use vocabulary::Vocabulary;
