//! Truncation of a tool result before it enters the conversation.
//!
//! Source: `runtime/messages.py` of mbathe/digitorn-bridge @0828486f.

use crate::languages::python::json_text::{Top, list, object, read};
use crate::languages::python::{first_chars, signed};

/// Characters that a result may have in any window.
const MIN_CHARS: i64 = 4_000;

/// Characters of the limit reserved for the guidance.
const GUIDANCE_CHARS: i64 = 500;

/// Characters of a plain text that are always kept.
const MIN_CUT_CHARS: i64 = 1_000;

/// Lists of at most this many items are cut like any text.
const MAX_SHORT_LIST: usize = 10;

/// Returns the characters of a result that is not cut: half of the usable window.
pub fn max_result_chars(max_tokens: i64, output_reserved: i64) -> i64 {
    let tokens = max_tokens.saturating_sub(output_reserved).div_euclid(2);
    tokens.saturating_mul(4).max(MIN_CHARS)
}

/// Cuts a result with more characters than allowed. A list loses items at its end, an object those of its `entries`.
/// One item is kept whatever its length, so the rest may still exceed the limit.
pub fn cut_result(text: &str, most: i64, tool: &str, cuts_short_lists: bool) -> Option<String> {
    if signed(text.len()) <= most {
        return None;
    }
    let chars = text.chars().count();
    if signed(chars) <= most {
        return None;
    }
    let budget = most - GUIDANCE_CHARS;
    match read(text) {
        Some(Top::List(items))
            if items.len() > MAX_SHORT_LIST || (cuts_short_lists && !items.is_empty()) =>
        {
            let shown = items_within(&items, budget - 2);
            let kept = list(items.get(..shown).unwrap_or_default());
            return Some(kept + &guidance(tool, shown, items.len()));
        }
        Some(Top::Object(fields)) => {
            if let Some(cut) = cut_entries(fields, budget, tool) {
                return Some(cut);
            }
        }
        _ => {}
    }
    let cut = budget.max(MIN_CUT_CHARS) as usize;
    Some(format!(
        "{}\n\nRESULT TRUNCATED: showing first {cut} of {chars} characters from {tool}. The full result was too large \
         for the context window.\nTo get more specific results, use a narrower query or filter.\nDo NOT guess or invent \
         content you haven't seen. Only report what is shown above.",
        first_chars(text, cut)
    ))
}

fn cut_entries(
    mut fields: Vec<crate::languages::python::json_text::Field>,
    budget: i64,
    tool: &str,
) -> Option<String> {
    let entries = fields.iter_mut().find(|field| field.key == "entries")?;
    let items = entries.items.take()?;
    if items.is_empty() {
        return Some(first_chars(&object(&fields), budget.max(0) as usize).to_owned());
    }
    "[]".clone_into(&mut entries.value);
    let others = signed(object(&fields).chars().count());
    let shown = items_within(&items, budget - others);
    let entries = fields.iter_mut().find(|field| field.key == "entries")?;
    entries.value = list(items.get(..shown).unwrap_or_default());
    Some(object(&fields) + &guidance(tool, shown, items.len()))
}

/// Returns how many items, at least one, fit the limit together, including commas.
fn items_within(items: &[String], room: i64) -> usize {
    let mut used = -2;
    let within = items.iter().take_while(|item| {
        used += signed(item.chars().count()) + 2;
        used <= room
    });
    within.count().max(1)
}

fn guidance(tool: &str, shown: usize, total: usize) -> String {
    format!(
        "\n\n RESULT TRUNCATED: showing {shown} of {total} results from {tool}. The full result was too large for the \
         context window.\nTo see more results, you can:\n- Use a more specific pattern or filter (e.g. '*.py', \
         'src/**')\n- Search for a specific filename or keyword instead of listing everything\n- Ask the user to narrow \
         their request\nDo NOT guess or invent results you haven't seen. Only report what is shown above."
    )
}
