//! Reports: a redacted report contains no text of the session, text of a session is never interpreted as markup, and
//! reports of long sessions stay small.

use crate::conversation::{Talk, part, text};
use crate::repository::repository;
use crate::session_files::case_in;
use plimsoll_core::analysis::facts::{Facts, LaneSurvival};
use plimsoll_core::analysis::rereads::RereadModel;
use plimsoll_core::analysis::{Finding, FindingKind, Trigger, findings, verdict};
use plimsoll_core::engine::{
    Case, Effect, Halt, KnobValues, ManualEdits, Outcome, Policy, Sample, Warning, recorded,
    simulate,
};
use plimsoll_core::figure;
use plimsoll_core::presets::{self, PRESETS};
use plimsoll_core::progress::Progress;
use plimsoll_core::report::{
    Played, Report, ReportSubject, ReportText, draw, html, markdown, survival_share, svg,
};
use plimsoll_core::session::{Body, MediaKind, Role, Session, Usage};
use plimsoll_core::tokens::{TokenLedger, default_counter};
use plimsoll_core::units::Tokens;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

const RESERVE: Tokens = Tokens(500);

fn really(case: &Case) -> Played {
    Played {
        lane: "recorded".to_owned(),
        policy: None,
        knobs: KnobValues::default(),
        output_reserve: RESERVE,
        outcome: recorded(case, RESERVE, None),
        findings: Vec::new(),
    }
}

fn played(case: &Case, policy: Policy, knobs: KnobValues) -> Played {
    let outcome = simulate(case, &policy, &knobs, None);
    Played {
        lane: policy.name.clone(),
        findings: findings(case, &policy, &knobs, &outcome),
        output_reserve: policy.output_reserve(&knobs, case, 0),
        policy: Some(policy),
        knobs,
        outcome,
    }
}

fn preset(case: &Case, name: &str, set: &[(&str, f64)]) -> Played {
    let policy = presets::by_name(name).expect("it is bundled");
    let mut knobs = policy.defaults();
    for (knob, value) in set {
        policy.set(&mut knobs, knob, *value).expect("in range");
    }
    played(case, policy, knobs)
}

fn report(case: &Case, lanes: &[Played], warnings: &[String], redacts: bool) -> Report {
    noted(case, lanes, warnings, &BTreeMap::new(), redacts)
}

/// Returns a report with notes on messages.
fn noted(
    case: &Case,
    lanes: &[Played],
    warnings: &[String],
    notes: &BTreeMap<usize, String>,
    redacts: bool,
) -> Report {
    let subject = ReportSubject {
        case,
        warnings,
        format: "OpenAI Chat",
        output_reserve: RESERVE,
        lanes,
        records_compactions: true,
        reread_model: RereadModel::bundled(),
        tree: None,
        notes,
    };
    Report::new(&subject, redacts)
}

/// Returns the report in every output format.
fn renderings(report: &Report) -> String {
    let curve = report.curve.as_ref().map(svg).unwrap_or_default();
    format!("{}\n{}\n{curve}", html(report), markdown(report))
}

fn with_session(case: &Case, session: Session) -> Case {
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default())
        .expect("nobody cancels");
    Case::new(Arc::new(session), ledger, (*case.windows).clone())
}

/// Returns a custom policy with private names in every field that can hold one.
const OWN_POLICY: &str = r#"
name = "zz-policyname"
label = "zz-policylabel"
help = "zz-help"
sources = ["zz-source"]

[settings.zz_knob]
value = 0.3
range = [0.1, 1.0]
step = 0.1
unit = "zz-unit"
help = "zz-knobhelp"
role = "compression_trigger"

[settings.zz_pick]
value = 0
range = [0, 1]
step = 1
unit = "choice"
help = "zz-pickhelp"
choices = ["zz-choice", "other"]

[let]
zz_limit = "window * zz_knob"

[[stage]]
id = "zz_stage"
at = "before_call"
when = "used >= zz_limit"
take = { what = "messages", keep = ["system", "last_messages(2)"] }
do = { drop = { notice = "zz-notice went to /home/zz-noticepath" } }
"#;

/// Returns a session, a policy and a run with private text (always containing `zz`) in every field that can hold text.
fn private() -> (Case, Vec<Played>, Vec<String>) {
    let mut talk = Talk::new();
    talk.message(Role::System, vec![text("zz-instructions of zz-company")]);
    let definition = Body::ToolDefinition {
        tool: "mcp__zz_server__define".into(),
        json: r#"{"name":"zz-definition"}"#.into(),
    };
    talk.message(Role::System, vec![part(definition)]);
    talk.message(
        Role::User,
        vec![text("zz-request for zz@person.example https://zz.example/x?key=zzkey")],
    );
    for n in 0..6 {
        let arguments = [
            r#"{"file_path":"/home/zzuser/zzproject/zzfile.rs"}"#,
            r#"{"command":"curl -H 'Authorization: Bearer zztoken' zzhost"}"#,
            r#"{"url":"https://zzhost.example/zzpath"}"#,
        ];
        let tool = ["Read", "mcp__zz_server__run", "zz-tool"][n % 3];
        let call = Body::ToolCall {
            call: format!("zz-call-{n}").into(),
            tool: tool.into(),
            arguments: arguments[n % 3].into(),
        };
        let thinking = Body::Thinking {
            text: "zz-thought about AKIAZZZZZZZZZZZZZZZZ".into(),
            sealed_bytes: 0,
            reported: None,
        };
        talk.message(Role::Assistant, vec![part(thinking), part(call)]);
        let result = Body::ToolResult {
            call: format!("zz-call-{n}").into(),
            tool: tool.into(),
            is_error: false,
            text: "zz-result sk-zz0123456789 ".repeat(120).into(),
        };
        let media = Body::Media {
            media: MediaKind::Image,
            mime: "image/zz-mime".into(),
            bytes: 10,
            pixels: Some((8, 8)),
            detail: plimsoll_core::session::ImageDetail::Auto,
            within: Some(format!("zz-call-{n}").into()),
        };
        talk.message(Role::Tool, vec![part(result), part(media)]);
    }
    let opaque = Body::Opaque { name: "zz-opaque".into(), json: r#"{"zz":"zz-json"}"#.into() };
    talk.message(Role::Assistant, vec![part(opaque), text("zz-answer")]);
    let case = crate::conversation::case(&talk, 8_000);
    let mut session = (*case.session).clone();
    session.source.name = "zz-file.json".into();
    session.title = "zz-title".into();
    session.models = vec!["zz-model".to_owned(), "claude-opus-4-5-zz-tuned".to_owned()];
    let mut windows = (*case.windows).clone();
    windows.warnings = vec!["zz-model is listed with a window of 5 tokens".to_owned()];
    let case = with_session(&case, session).with_windows(windows);
    let policy = presets::parse(OWN_POLICY).expect("the policy is right");
    let knobs = policy.defaults();
    let mut own = played(&case, policy, knobs);
    own.lane = "zz-lane".into();
    spoil(&mut own.outcome);
    own.findings.push(Finding {
        kind: FindingKind::GivesUp,
        call: 1,
        times: 1,
        text: "The system itself would end here: \u{201c}zz-halt at /zz/where\u{201d}".to_owned(),
    });
    let warnings = vec!["line 3: unknown key zz-key in /zz/path of zz@mail.example".to_owned()];
    let lanes = vec![really(&case), preset(&case, "summarize", &[("output_reserve", 500.0)]), own];
    (case, lanes, warnings)
}

/// Messages that a real system may write at run time.
fn spoil(outcome: &mut Outcome) {
    assert!(outcome.compactions > 0, "the policy acts");
    outcome.warnings.push("zz-warning".into());
    outcome.halts.push(Halt { call: 1, why: "zz-halt".to_owned() });
    let event = &mut outcome.events[0];
    event.log = vec!["Removed 3 messages about zz-log for zz@log.example".to_owned()];
    event.cause.terms.push(("zz-term".to_owned(), 42.0));
    event.cause.terms.push(("tokens (zz-term-call)".to_owned(), 43.0));
}

#[test]
fn no_foreign_text_reaches_a_redacted_report() {
    let (case, lanes, warnings) = private();
    let redacted = report(&case, &lanes, &warnings, true);
    // The report itself contains no private text, for every output format.
    for (what, output) in
        [("the value", format!("{redacted:?}")), ("a rendering", renderings(&redacted))]
    {
        let lower = output.to_lowercase();
        let at = lower.find("zz");
        let around = at.map(|at| {
            let start = lower.floor_char_boundary(at.saturating_sub(80));
            &lower[start..lower.ceil_char_boundary(at + 80)]
        });
        assert_eq!(around, None, "in {what}");
    }
}

#[test]
fn notes_on_messages_are_listed_and_a_redacted_report_contains_their_number() {
    let (case, lanes, warnings) = private();
    let notes = ["zz-note for zz@note.example", "zz-second <b>note</b>"];
    let notes: BTreeMap<usize, String> = (2..).zip(notes.map(str::to_owned)).collect();
    let plain = noted(&case, &lanes, &warnings, &notes, false);
    assert_eq!((plain.message_notes.len(), plain.omitted_notes), (2, 0));
    let (page, text) = (html(&plain), markdown(&plain));
    assert!(page.contains("<h2>Notes on messages</h2>"));
    assert!(page.contains("message 4</span><p>zz-second &lt;b&gt;note&lt;/b&gt; "));
    assert!(text.contains("- Message 3 ("), "{text}");
    assert!(text.contains("zz-note for `zz@note.example`"), "{text}");
    let redacted = noted(&case, &lanes, &warnings, &notes, true);
    assert_eq!((redacted.message_notes.len(), redacted.omitted_notes), (0, 2));
    for output in [format!("{redacted:?}"), renderings(&redacted)] {
        assert!(!output.to_lowercase().contains("zz"));
    }
    for output in [html(&redacted), markdown(&redacted)] {
        assert!(output.contains("Omitted: 2 notes on messages."));
        assert!(!output.contains("Notes on messages"));
    }
    let none = report(&case, &lanes, &warnings, true);
    assert!(!markdown(&none).contains("Omitted:"));
}

#[test]
fn a_plain_report_contains_the_redacted_text() {
    let (case, lanes, warnings) = private();
    let plain = renderings(&report(&case, &lanes, &warnings, false));
    let shown = [
        "zz-file.json",
        "zz-title",
        "zz-model",
        "zz-lane",
        "zz-policylabel",
        "zz_knob",
        "zz-unit",
        "zz-choice",
        "zz_stage",
        "zz_limit",
        "zz-notice",
        "zz-log",
        "zz-halt",
        "zz-warning",
        "zz-key",
        "zzfile.rs",
        "mcp__zz_server__run",
        "zztoken",
    ];
    for text in shown {
        assert!(plain.contains(text), "{text} is shown nowhere");
    }
    let hidden = markdown(&report(&case, &lanes, &warnings, true));
    let instead = [
        "file-1",
        "model-1",
        "lane-1",
        "setting-1",
        "stage-1",
        "Read path-1",
        "tool-1",
        "text (8 characters)",
        "Removed 3 messages about",
        "42",
    ];
    for text in instead {
        assert!(hidden.contains(text), "{text} stands for nothing:\n{hidden}");
    }
}

/// Texts that are dangerous if they are interpreted as markup.
const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]></style></svg><b>",
    "[click](javascript:alert(1)) ![x](https://zz.example/x.png)",
    "@everyone #1 **bold** `code` ``` | cell | https://zz.example www.zz.example",
    "\u{1b}]0;title\u{7}\u{1b}[31mred\u{0}",
    "abc\u{202e}fdp.exe\u{2066}\u{feff}",
    "- item\n# head\n1. one\n\n```\nfence",
];

fn hostile() -> (Case, Vec<Played>) {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("go")]);
    for (n, words) in HOSTILE.into_iter().enumerate() {
        let arguments = plimsoll_core::json::json!({ "path": words }).to_string();
        let call = Body::ToolCall {
            call: format!("{n}{words}").into(),
            tool: words.into(),
            arguments: arguments.into(),
        };
        talk.message(Role::Assistant, vec![part(call)]);
        let result = Body::ToolResult {
            call: format!("{n}{words}").into(),
            tool: words.into(),
            is_error: false,
            text: words.repeat(60).into(),
        };
        talk.message(Role::Tool, vec![part(result)]);
    }
    talk.message(Role::Assistant, vec![text("done")]);
    let case = crate::conversation::case(&talk, 6_000);
    let mut session = (*case.session).clone();
    session.source.name = HOSTILE.concat();
    session.title = HOSTILE.join(" ");
    session.models = HOSTILE.map(str::to_owned).into();
    let case = with_session(&case, session);
    let mut lane = preset(&case, "truncate", &[("output_reserve", 500.0)]);
    lane.lane = HOSTILE.join("");
    lane.outcome.warnings = HOSTILE.map(Warning::from).into();
    lane.outcome.events[0].log = HOSTILE.map(str::to_owned).into();
    lane.findings.extend(HOSTILE.map(|words| Finding {
        kind: FindingKind::Grew,
        call: 0,
        times: 1,
        text: words.to_owned(),
    }));
    (case.clone(), vec![really(&case), lane])
}

/// Returns a Markdown text without its code blocks and code spans.
fn outside_code(markdown: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<usize> = None;
    for line in markdown.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) => {
                if ticks >= open && line.trim_end() == "`".repeat(ticks) {
                    fence = None;
                }
            }
            None if ticks >= 3 && !line[ticks..].contains('`') => fence = Some(ticks),
            None => out.push_str(&outside_spans(line)),
        }
        out.push('\n');
    }
    assert_eq!(fence, None, "a fence is left open");
    out
}

fn outside_spans(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        let behind = &rest[at..];
        let run = behind.len() - behind.trim_start_matches('`').len();
        let body = &behind[run..];
        let mut from = 0;
        let end = loop {
            let Some(next) = body[from..].find('`').map(|n| from + n) else {
                panic!("a code span is left open: {line}");
            };
            let length = body[next..].len() - body[next..].trim_start_matches('`').len();
            if length == run {
                break next + length;
            }
            from = next + length;
        };
        rest = &body[end..];
    }
    out.push_str(rest);
    out
}

#[test]
fn hostile_text_is_escaped() {
    let (case, lanes) = hostile();
    let warnings = HOSTILE.map(str::to_owned);
    let report = report(&case, &lanes, &warnings, false);
    let page = html(&report);
    for tag in ["<script", "<img", "<b>", "href", "</style></svg>", " onerror=\""] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"));
    // Nothing is loaded: no attribute or style contains an address.
    let attributes = page.split('<').filter_map(|tag| tag.split('>').next());
    let fetching = attributes.filter(|tag| tag.contains("http") || tag.contains("url("));
    let is_ours = |tag: &&str| tag.contains("aria-label") || tag.starts_with("meta http-equiv=");
    let fetching: Vec<&str> = fetching.filter(|tag| !is_ours(tag)).collect();
    assert_eq!(fetching, Vec::<&str>::new());
    let text = markdown(&report);
    let curve = svg(report.curve.as_ref().expect("there are calls"));
    for output in [&page, &text, &curve] {
        let obeyed = output
            .chars()
            .find(|c| *c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{feff}".contains(*c)));
        assert_eq!(obeyed, None);
    }
    let plain = outside_code(&text);
    for mark in ["<", "[", "](", "@", "://", "www.", "javascript", "!["] {
        let line = plain.lines().find(|line| line.contains(mark));
        assert_eq!(line, None, "{mark}");
    }
}

#[test]
fn every_row_of_a_markdown_table_has_all_cells() {
    let (case, lanes) = hostile();
    let text = markdown(&report(&case, &lanes, &[], false));
    let cells = |line: &str| {
        let bars = line.char_indices().filter(|(at, c)| *c == '|' && !line[..*at].ends_with('\\'));
        bars.count()
    };
    let all: Vec<&str> = text.lines().collect();
    let (mut head, mut rows) = (0, 0);
    for (idx, line) in all.iter().enumerate() {
        let is_head = all.get(idx + 1).is_some_and(|next| next.starts_with("|---"));
        if is_head {
            head = cells(line);
        } else if line.starts_with('|') {
            assert_eq!(cells(line), head, "{line}");
            rows += 1;
        }
    }
    assert!(rows > 30, "{rows}");
}

#[test]
fn ten_thousand_calls_make_a_small_report_that_keeps_the_peak() {
    let case = crate::conversation::case(&Talk::turns(10, 3, 20), 8_000);
    let mut lane = preset(&case, "truncate", &[]);
    let sample = *lane.outcome.samples.first().expect("there is a call");
    let noisy = |call: usize| {
        let mut one: Sample = sample;
        let noise = 1_000 + (call as u64 * 7_919) % 4_000;
        one.call = call;
        one.tokens = Tokens(if call == 7_777 { 7_900 } else { noise });
        one
    };
    lane.outcome.samples = (0..10_000).map(noisy).collect();
    let lanes = vec![lane.clone(), lane.clone(), lane.clone(), lane];
    let report = report(&case, &lanes, &[], false);
    let drawing = svg(report.curve.as_ref().expect("there are calls"));
    assert!(drawing.len() < 200_000, "{} bytes", drawing.len());
    assert!(html(&report).len() < 300_000);
    assert!(markdown(&report).len() < 60_000, "more than an issue holds");
    // The window of 8,000 is at the top except for a margin: the peak is just below its line.
    let highest = drawing
        .split(['M', ' ', '"'])
        .filter_map(|number| number.parse::<f32>().ok())
        .filter(|y| (15.0..40.0).contains(y))
        .count();
    assert!(highest > 0, "no point near the top");
}

fn samples() -> Vec<PathBuf> {
    let folder = repository().join("sample_sessions");
    let entries = fs::read_dir(folder).expect("there are samples");
    let mut all: Vec<PathBuf> = entries.map(|e| e.expect("readable").path()).collect();
    all.sort();
    all
}

/// Every sample with its recorded lane and the lane of each preset.
static PLAYED_SAMPLES: LazyLock<Vec<(Case, Vec<Played>)>> = LazyLock::new(|| {
    let all_played = |path: PathBuf| {
        let case = case_in(&path);
        let presets = PRESETS.par_iter().map(|p| preset(&case, p.name, &[]));
        let lanes = [really(&case)].into_iter().chain(presets.collect::<Vec<_>>());
        let lanes = lanes.collect();
        (case, lanes)
    };
    samples().into_iter().map(all_played).collect()
});

#[test]
fn the_verdict_never_denies_a_compaction() {
    let (mut never, mut below) = (0, 0);
    for (case, lanes) in &*PLAYED_SAMPLES {
        let recorded = &lanes[0].outcome;
        for lane in &lanes[1..] {
            let name = &lane.lane;
            let events = &lane.outcome.events;
            let compacts = events.iter().any(|event| event.effect == Effect::Removed);
            let trigger = Trigger::of_lanes(case, RESERVE, lane.lane());
            let text = verdict(case, recorded, RESERVE, &trigger).text();
            let says_never = text.contains("Never reached");
            let names_call = text.contains(&format!("{name} compacts from call "));
            assert!(!(says_never && compacts), "{name}: {text}");
            assert!(!names_call || compacts, "{name}: {text}");
            never += usize::from(says_never);
            below += usize::from(names_call);
        }
    }
    assert!(never > 20 && below > 20, "{never} never, {below} below");
}

#[test]
fn own_sentences_are_not_redacted() {
    let mut counted = 0;
    for (case, lanes) in &*PLAYED_SAMPLES {
        let [plain, redacted] = [false, true].map(|redacts| report(case, lanes, &[], redacts));
        for ((_, open), (lane, closed)) in plain.findings().iter().zip(redacted.findings()) {
            let (open, closed) = (open.text.to_string(), closed.text.to_string());
            assert!(!closed.contains('…'), "{}: {closed}\nof {open}", lane.name);
            counted += 1;
        }
        let verdict: String = redacted.verdict.iter().map(ToString::to_string).collect();
        assert!(!verdict.contains('…'), "{verdict}");
        for (open, closed) in plain.lanes.iter().zip(&redacted.lanes) {
            assert_eq!(open.name.to_string(), closed.name.to_string());
            let pairs = open.settings.iter().zip(&closed.settings);
            for (open, closed) in pairs {
                assert_eq!(open.value.to_string(), closed.value.to_string());
                assert_eq!(open.unit.to_string(), closed.unit.to_string());
            }
        }
    }
    assert!(counted > 40, "only {counted} findings");
}

#[test]
fn manual_edits_are_not_redacted() {
    let path = repository().join("sample_sessions/compacted.jsonl");
    let case = case_in(&path);
    let n_messages = case.session.messages.len();
    let nth = |nth: usize| (0..n_messages).filter(move |m| m % 3 == nth).collect();
    let case = case.with_manual_edits(ManualEdits {
        pinned: nth(0),
        cleared: (0..n_messages).collect(),
        dropped: nth(1),
    });
    let names = ["none", "truncate", "picoclaw", "cowagent"];
    let lanes = names.map(|name| preset(&case, name, &[]));
    let [plain, redacted] = [false, true].map(|redacts| report(&case, &lanes, &[], redacts));
    let output = |report: &Report| {
        let lanes = report.lanes.iter();
        let warnings = lanes.flat_map(|lane| &lane.warnings).map(ToString::to_string);
        warnings.collect::<Vec<_>>()
    };
    assert_eq!(output(&redacted), output(&plain));
    assert!(
        output(&plain).len() > 8
            && output(&plain).iter().any(|w| w.contains("does not support pins"))
    );
    let events = redacted.lanes.iter().flat_map(|lane| &lane.events);
    let manual_events: Vec<_> = events.filter(|e| e.stage.to_string() == "manually").collect();
    assert!(
        manual_events.len() >= 4 && manual_events.iter().all(|e| e.why.to_string() == "manually")
    );
    let logs = manual_events.iter().flat_map(|e| &e.log).map(ToString::to_string);
    assert!(logs.clone().count() > 0 && logs.clone().all(|l| !l.contains('…')));
    let removals = redacted.lanes.iter().flat_map(|lane| &lane.removed);
    let manual_events = |stage: &ReportText| stage.to_string() == "manually";
    assert!(removals.filter(|r| r.stage.as_ref().is_some_and(manual_events)).count() >= 4);
}

#[test]
fn a_report_lists_settings_believed_fill_and_message_statuses() {
    let path = repository().join("sample_sessions/compacted.jsonl");
    let case = case_in(&path);
    let lanes = [
        really(&case),
        preset(&case, "truncate", &[("keep_recent", 20.0)]),
        preset(&case, "baseagent", &[]),
    ];
    let report = report(&case, &lanes, &[], false);
    let changed: Vec<String> = report.lanes[1]
        .settings
        .iter()
        .filter(|s| s.is_changed)
        .map(|s| format!("{}={} not {}", s.name, s.value, s.usual))
        .collect();
    assert_eq!(changed, ["keep_recent=20 not 10"]);
    assert!(report.lanes[1].belief.is_none(), "it has the actual count");
    let belief = report.lanes[2].belief.expect("it counts in its own way");
    assert!(belief.counted < belief.actual && belief.believed.is_some());
    for (lane, played) in report.lanes.iter().zip(&lanes) {
        let context = &played.outcome.context;
        let statuses = context.statuses(case.session.messages.len());
        let gone = statuses.iter().filter(|(status, _)| {
            use plimsoll_core::engine::MessageStatus::{Cleared, Cut, Dropped, Summarized};
            matches!(status, Cleared | Cut | Dropped | Summarized)
        });
        let counted: usize = lane.removed.iter().map(|r| r.messages).sum();
        assert_eq!(counted, gone.count(), "{}", lane.name);
        for removal in lane.removed.iter().filter(|r| r.call.is_some()) {
            assert!(removal.stage.is_some() && removal.why.is_some());
        }
    }
    let figures = report.lanes[0].figures;
    let accuracy = figures.peak.expect("there are calls").accuracy;
    assert_eq!(accuracy.to_string(), "reported");
    assert_eq!(html(&report), html(&report.clone()), "same value, same page");
}

#[test]
fn a_report_of_a_session_without_calls_has_no_curve() {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("hello?")]);
    let case = crate::conversation::case(&talk, 8_000);
    let lanes = [really(&case)];
    let report = report(&case, &lanes, &[], false);
    assert!(report.curve.is_none());
    assert!(renderings(&report).contains("No model call in this file"));
    let subject = ReportSubject {
        case: &case,
        warnings: &[],
        format: "",
        output_reserve: RESERVE,
        lanes: &lanes,
        records_compactions: true,
        reread_model: RereadModel::bundled(),
        tree: None,
        notes: &BTreeMap::new(),
    };
    assert!(draw(&subject.plain_curve()).is_none());
}

#[test]
fn a_report_distinguishes_missing_from_implausible_usage() {
    let case = crate::conversation::case(&Talk::turns(8, 2, 20), 200_000);
    let mut session = (*case.session).clone();
    for (idx, call) in session.calls.iter_mut().enumerate() {
        let input = [90_000, 1_000, 60_000, 2_000][idx % 4];
        call.usage = Some(Usage { input: Tokens(input), ..Usage::default() });
    }
    let case = with_session(&case, session);
    assert!(case.ledger.distrusted.is_some());
    let output = markdown(&report(&case, &[really(&case)], &[], false));
    assert!(output.contains("the recorded usage does not fit"), "{output}");
    assert!(!output.contains("no usage"), "{output}");
}

#[test]
fn a_report_has_the_facts_that_each_lane_kept() {
    let case = case_in(&repository().join("sample_sessions/many-tool-results.jsonl"));
    let lanes = [really(&case), preset(&case, "truncate", &[])];
    let facts = Facts::new(&case.session);
    let kept = LaneSurvival::new(&facts, &case, &lanes[1].outcome);
    let first = kept.lost.first().expect("truncation loses facts");
    let text = &facts.all()[first.fact].text;
    let [plain, redacted] = [false, true].map(|redacts| report(&case, &lanes, &[], redacts));
    for report in [&plain, &redacted] {
        let survival = report.survival.as_ref().expect("the session has facts");
        let all = survival.rows.last().expect("a row");
        assert_eq!(all.kind, None);
        assert_eq!(all.lanes[1], kept.of(None));
        assert_eq!(survival.lost[1].lost, kept.lost.len());
        let share = survival_share(kept.of(None), figure::percent);
        let row = format!("| all facts | {} |", figure::grouped(kept.of(None).stated as u64));
        let markdown = markdown(report);
        let row = markdown.lines().find(|line| line.starts_with(&row));
        assert!(row.expect("a row").ends_with(&format!(" {share} |")));
        assert!(html(report).contains("<h2>Facts that survive</h2>"));
    }
    let listed = |report: &Report| {
        let survival = report.survival.as_ref().expect("the session has facts");
        survival.lost[1].first.len()
    };
    assert_eq!(listed(&plain), kept.lost.len().min(5));
    assert_eq!(listed(&redacted), 0);
    assert!(text.len() < 100 && markdown(&plain).contains(&**text), "{text}");
}
