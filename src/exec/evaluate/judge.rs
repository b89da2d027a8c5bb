//! The hindsight judge: one request per context, about the agent's next recorded actions.

use super::contexts::{AskedSession, PromptContext};
use super::parallel::parallel;
use super::questions::{Question, answer_text};
use crate::analysis::judge::{
    JudgedAction, JudgedPoint, RecordedAction, next_actions, parse, request_text,
};
use crate::chat::message_to_json;
use crate::json::Value;
use crate::session::Session;

/// Number of actions after a point. Chosen: actions further on rest on what the agent has read since the compaction,
/// which tells nothing about what the compaction kept.
const ACTIONS: usize = 8;
/// Maximum tokens of a judgement, including reasoning: 500 for each action. Quotes are short, but reasoning models
/// think about each one.
pub(super) const MAX_JUDGEMENT: u64 = 4_000;

/// The actions after a point.
pub(super) enum Actions {
    /// Actions to judge.
    Judged(Vec<RecordedAction>),
    /// They depend on the summary of a recorded compaction, which other lanes do not have.
    AfterRecordedCompaction,
    /// There are none.
    Missing,
}

impl Actions {
    /// Returns the actions after a call.
    pub(super) fn after(session: &Session, call: usize) -> Self {
        let actions = next_actions(session, call, ACTIONS);
        let Some(last) = actions.last() else {
            return Self::Missing;
        };
        if session.compactions.iter().any(|c| c.call <= last.call) {
            return Self::AfterRecordedCompaction;
        }
        Self::Judged(actions)
    }

    /// Returns the number of judged actions.
    pub(super) fn n_judged(&self) -> usize {
        match self {
            Self::Judged(actions) => actions.len(),
            _ => 0,
        }
    }

    /// Returns the text of the request; `None` if nothing is judged.
    pub(super) fn request(&self) -> Option<String> {
        match self {
            Self::Judged(actions) => Some(request_text(actions)),
            _ => None,
        }
    }
}

/// The judgement of a point.
pub(super) struct Judgement {
    pub(super) actions: Actions,
    /// Empty if no action is judged.
    pub(super) point: JudgedPoint,
}

/// A context to judge by.
struct JudgeUnit<'a> {
    point: usize,
    /// Index of the lane; `None` for the full context.
    lane: Option<usize>,
    context: Option<&'a PromptContext>,
    series: String,
}

/// Judges the points of a session. The recorded run is a lane for probes only, so every lane is asked at every point.
pub(super) fn ask(asked: AskedSession<'_, '_>) -> Vec<Judgement> {
    let (points, lanes) = (asked.points, asked.lanes);
    let actions: Vec<Actions> =
        points.iter().map(|point| Actions::after(&asked.case.session, point.call)).collect();
    let mut units = Vec::new();
    for (point, _) in actions.iter().enumerate().filter(|(_, a)| matches!(a, Actions::Judged(_))) {
        units.push(JudgeUnit {
            point,
            lane: None,
            context: asked.full[point].as_ref(),
            series: "judge full context".to_owned(),
        });
        for (lane, played) in lanes.iter().enumerate() {
            units.extend(played.samples.iter().map(|sample| JudgeUnit {
                point,
                lane: Some(lane),
                context: sample.contexts[point].as_ref(),
                series: format!("judge {}", sample.series),
            }));
        }
    }
    let judged =
        parallel(asked.concurrency, &units, |unit| judge(asked, unit, &actions[unit.point]));
    let empty = || JudgedPoint { lanes: vec![Vec::new(); lanes.len()], ..JudgedPoint::default() };
    let mut results: Vec<JudgedPoint> = points.iter().map(|_| empty()).collect();
    for (unit, judged) in units.iter().zip(judged) {
        match unit.lane {
            None => results[unit.point].full = judged,
            Some(lane) => results[unit.point].lanes[lane].push(judged),
        }
    }
    let judgements = actions.into_iter().zip(results);
    let judgements = judgements.map(|(actions, point)| Judgement { actions, point });
    judgements.collect()
}

fn judge(
    asked: AskedSession<'_, '_>,
    unit: &JudgeUnit<'_>,
    actions: &Actions,
) -> Vec<Option<JudgedAction>> {
    let Actions::Judged(recorded) = actions else {
        return Vec::new();
    };
    let nothing = vec![None; recorded.len()];
    let Some(text) = actions.request() else {
        return nothing;
    };
    let context = unit.context;
    let question = Question::new(text, MAX_JUDGEMENT);
    match asked.answer(context, question, &unit.series) {
        Some(exchange) if exchange.failed.is_none() => {
            let texts = context.map(texts).unwrap_or_default();
            let contains = |quote: &str| texts.iter().any(|text| text.contains(quote));
            parse(answer_text(&exchange), recorded.len(), contains)
        }
        _ => nothing,
    }
}

/// Returns all texts of a context, and each message as JSON, from which a model may quote arguments.
fn texts(context: &PromptContext) -> Vec<String> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(fields) => {
                texts.push(value.to_string());
                fields.values().for_each(|field| collect(field, texts));
            }
            _ => {}
        }
    }
    let mut texts = Vec::new();
    for message in &context.messages {
        collect(&message_to_json(message), &mut texts);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Body, Draft, Part, Role, SessionBuilder, Source};

    fn part(body: Body) -> Vec<Part> {
        vec![Part { body, record: 0, block: 0 }]
    }

    /// A request, then calls, with a recorded compaction before this one, and an answer.
    fn session(calls: usize, compaction: Option<usize>) -> Session {
        let mut builder = SessionBuilder::new(Source {
            name: "talk".to_owned(),
            format: "openai_chat",
            bytes: Vec::new().into(),
        });
        builder.message(Draft::new(Role::User, part(Body::Text("Begin.".into()))));
        for idx in 0..calls {
            if compaction == Some(idx) {
                builder.compaction("auto", None, None, Vec::new());
            }
            let call: Box<str> = format!("c{idx}").into();
            let tool: Box<str> = "bash".into();
            let arguments = format!("{{\"command\":\"run {idx}\"}}").into();
            let mut parts = part(Body::Text(format!("Thought {idx}.").into()));
            let (id, name) = (call.clone(), tool.clone());
            parts.extend(part(Body::ToolCall { call: id, tool: name, arguments }));
            builder.message(Draft::new(Role::Assistant, parts));
            let result =
                Body::ToolResult { call, tool, is_error: false, text: "an observation".into() };
            builder.message(Draft::new(Role::Tool, part(result)));
        }
        builder.message(Draft::new(Role::Assistant, part(Body::Text("Done.".into()))));
        builder.finish()
    }

    #[test]
    fn the_next_actions_have_thoughts_and_arguments_but_no_observations() {
        let actions = Actions::after(&session(12, None), 3);
        assert_eq!(actions.n_judged(), ACTIONS);
        let text = actions.request().expect("there are actions");
        for known in ["Action 1: bash {\"command\":\"run 3\"}", "Thought 10.", "Action 8: "] {
            assert!(text.contains(known), "{known}: {text}");
        }
        for unknown in ["observation", "run 2", "run 11", "Action 9"] {
            assert!(!text.contains(unknown), "{unknown}: {text}");
        }
    }

    #[test]
    fn actions_after_a_recorded_compaction_and_missing_ones_are_not_judged() {
        let after = |compaction, call| Actions::after(&session(30, compaction), call);
        assert!(matches!(after(Some(20), 2), Actions::Judged(_)));
        assert!(matches!(after(Some(20), 15), Actions::AfterRecordedCompaction));
        assert!(matches!(after(Some(20), 25), Actions::AfterRecordedCompaction));
        assert!(matches!(after(None, 30), Actions::Missing));
        assert!(matches!(after(None, 99), Actions::Missing));
    }
}
