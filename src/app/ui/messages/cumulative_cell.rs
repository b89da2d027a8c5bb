//! Table cells for the cumulative tokens of a message: the calls that sent it, and its last use.

use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::text::weak;
use crate::units::Tokens;
use egui::{Label, RichText, Ui};

/// Share of all tokens sent from which a message's cumulative tokens are shown in strong text.
const STRONG: f64 = 0.01;
/// Share of all tokens sent from which the tokens sent after the last use are shown in amber.
const AMBER: f64 = 0.005;

/// Shows the number of calls that sent the message.
pub(crate) fn calls(ui: &mut Ui, input: &OpenSession<'_>, message: usize) {
    if let Some(cumulative) = input.derived.cumulative().and_then(|table| table.of(message)) {
        let calls = wording::grouped(cumulative.calls as u64);
        ui.label(weak(ui, format!("{calls}×")));
    }
}

/// Shows the message's cumulative tokens.
pub(crate) fn cumulative(ui: &mut Ui, input: &OpenSession<'_>, message: usize) {
    let Some(cumulative) = input.derived.cumulative() else {
        return;
    };
    let tokens = cumulative.tokens(message);
    let text = RichText::new(wording::short(tokens));
    ui.label(if tokens.share_of(cumulative.sent()).0 >= STRONG {
        text.text_style(theme::strong())
    } else {
        text
    });
}

/// Shows the last call that used the message, in amber if many tokens were sent afterwards.
pub(crate) fn last_used(ui: &mut Ui, input: &OpenSession<'_>, message: usize) {
    let Some(cumulative) = input.derived.cumulative() else {
        return;
    };
    let case = &input.document.loaded.case;
    let unused = cumulative.calls_after_last_use(case, message);
    let text = match cumulative.last_use(case, message) {
        Some(used) => format!("call {}", wording::number(used.call)),
        None if unused > 0 => "never".to_owned(),
        None => "–".to_owned(),
    };
    let tokens = input.runs.case.ledger.message(message);
    let wasted = Tokens(tokens.0.saturating_mul(unused as u64));
    let label = ui.label(if wasted.share_of(cumulative.sent()).0 >= AMBER {
        RichText::new(text).color(palette(ui).warn)
    } else {
        weak(ui, text)
    });
    if unused > 0 {
        label.on_hover_ui(|ui| {
            let (calls, wasted) = (wording::count(unused, "call"), wording::short(wasted));
            let text = format!(
                "No later message uses a name from it, but {calls} still sent it: {wasted} tokens."
            );
            ui.label(text);
        });
    }
}

/// Shows the last message that used a name from this one.
pub(crate) fn needed_by(ui: &mut Ui, input: &OpenSession<'_>, message: usize) {
    let case = &input.document.loaded.case;
    let last_use = input.derived.cumulative().and_then(|table| table.last_use(case, message));
    let Some(by) = last_use.map(|last_use| last_use.message) else {
        return;
    };
    let facts = &input.document.facts[by];
    let what = facts.tool.as_deref().unwrap_or(wording::kind(facts.kind));
    let text = format!("{} {what}", wording::number(by));
    ui.add(Label::new(weak(ui, text)).truncate());
}
