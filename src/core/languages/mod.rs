//! Texts, numbers and JSON as other programming languages treat them. Systems written in them depend on it.
//!
//! | module | contains |
//! |---|---|
//! | `python` | exceptions, truth, lengths and slices; `str()`, `repr()`, `json` and `str.format` |
//! | `javascript` | lengths and slices in UTF-16 units |
//! | `go` | JSON as `encoding/json` writes it |

pub(crate) mod go;
pub(crate) mod javascript;
pub mod python;
