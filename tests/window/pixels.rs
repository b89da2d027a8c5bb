//! Draws the timeline and the widgets with generated samples. `PLIMSOLL_PICTURES=DIR` keeps the pictures.

use crate::screen::{COMPACTED, large, sample};
use egui::{Align, CentralPanel, Frame, Layout, Panel, RichText, TextStyle, Theme, Ui, vec2};
use plimsoll::app::state::model::tone::Tone;
use plimsoll::app::state::timeline::state::Axis;
use plimsoll::app::ui::picture::{OffscreenWindow, save_png};
use plimsoll::app::ui::theme::{self, palette, space};
use plimsoll::app::ui::timeline::plot::{
    CompactionFlag, LaneLine, TimelineInput, TimelineResponse, timeline,
};
use plimsoll::app::ui::widgets::{
    ChipText, KnobSpec, chip, figure, hairline, knob_slider, primary_button, secondary_button,
    section, status_bar, swatch, tabs, toggle,
};
use plimsoll::engine::{MessageStatus, Sample};
use plimsoll::session::Kind;
use plimsoll::units::{Share, Tokens};
use std::path::Path;

const CALLS: usize = 484;

/// Generates samples: growth by kind, with a compaction at each of `falls`.
fn lane(falls: &[usize], keep: f64, seed: u64) -> Vec<Sample> {
    let rates = [0.0, 0.0, 12.0, 38.0, 30.0, 45.0, 320.0, 9.0, 0.0, 0.0];
    let mut by_kind =
        [9_000.0, 5_000.0, 2_000.0, 2_500.0, 3_000.0, 3_500.0, 16_000.0, 0.0, 0.0, 0.0];
    let mut noise = seed;
    (0..CALLS)
        .map(|call| {
            for (tokens, rate) in by_kind.iter_mut().zip(rates) {
                noise = noise
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                *tokens += rate * (0.2 + 1.6 * (noise >> 40) as f64 / f64::from(1u32 << 24));
            }
            if call % 71 == 40 {
                by_kind[6] += 11_000.0;
            }
            if falls.contains(&call) {
                for tokens in &mut by_kind[2..8] {
                    *tokens *= keep;
                }
                by_kind[8] += 1_800.0;
            }
            at_call(call, by_kind.map(|tokens| tokens as u32))
        })
        .collect()
}

fn at_call(call: usize, by_kind: [u32; Kind::ALL.len()]) -> Sample {
    let tokens = Tokens(by_kind.iter().map(|tokens| u64::from(*tokens)).sum());
    let pressure = tokens.share_of(Tokens(168_000));
    let overflows = pressure.0 > 1.0;
    Sample {
        call,
        turn: 0,
        window: Tokens(200_000),
        metered: Tokens(tokens.0 / 4 * 3),
        tokens,
        believed: Some(Share(pressure.0 * 0.75)),
        pressure,
        overflows,
        is_rejected: false,
        rejected: Tokens::ZERO,
        unchanged: Tokens::ZERO,
        by_kind,
    }
}

fn compaction(call: usize) -> CompactionFlag {
    CompactionFlag { call, label: "recorded compaction 183k → 37k".to_owned() }
}

struct GeneratedSession {
    recorded: Vec<Sample>,
    lanes: Vec<Vec<Sample>>,
    falls: [&'static [usize]; 3],
    usage: Vec<(usize, Tokens)>,
    turns: Vec<usize>,
    compactions: Vec<CompactionFlag>,
    selected: Option<usize>,
    trigger: Share,
    knob: f64,
}

impl GeneratedSession {
    fn new() -> Self {
        let falls: [&'static [usize]; 3] =
            [&[160, 282, 371], &[186, 340, 460], &[161, 270, 360, 475]];
        let lanes = falls
            .iter()
            .zip([0.18, 0.42, 0.22])
            .map(|(falls, keep)| lane(falls, keep, 7))
            .collect();
        let recorded = lane(&[247, 404], 0.12, 7);
        let usage = recorded.iter().step_by(2).map(|s| (s.call, s.tokens + Tokens(900))).collect();
        Self {
            lanes,
            falls,
            usage,
            recorded,
            turns: (0..CALLS).step_by(23).collect(),
            compactions: [247, 404].map(compaction).into(),
            selected: Some(211),
            trigger: Share(0.75),
            knob: 0.75,
        }
    }

    fn timeline(&self, ui: &mut Ui, axis: Axis) -> TimelineResponse {
        let names = ["Truncate", "Prune", "Summarize"];
        let lanes: Vec<_> = (0..3)
            .map(|i| LaneLine {
                name: names[i],
                color: palette(ui).lane(i),
                samples: &self.lanes[i],
                dim: false,
                focused: i == 0,
                compactions: self.falls[i],
                no_ops: &[],
                halts: &[],
                first_removal: None,
                counts_otherwise: i == 0,
            })
            .collect();
        let input = TimelineInput {
            revision: 1,
            area: &self.recorded,
            unrecorded: &|_| Tokens::ZERO,
            lanes: &lanes,
            recorded_usage: &self.usage,
            windows: &[Tokens(200_000)],
            output_reserve: Tokens(32_000),
            trigger: Some(self.trigger),
            axis,
            turn_starts: &self.turns,
            recorded_compactions: &self.compactions,
            restarts: &[],
            errors: &[],
            reference_curve: None,
            compared_session: None,
            heat: &[],
            selected: self.selected,
            range: None,
            zooms_to_range: false,
            compared: None,
            isolated: None,
            corner: 0.0,
            hover_text: &|_| {
                vec!["+12,804 read main.ts".into(), "believed by policy: 107.6k (64 %)".into()]
            },
            takes_keys: false,
        };
        timeline(ui, &input)
    }
}

fn window(ui: &mut Ui, session: &mut GeneratedSession) -> TimelineResponse {
    let palette = palette(ui);
    let bar = |margin: i8| {
        Frame::new().fill(palette.panel).inner_margin(egui::Margin::symmetric(margin, 6))
    };
    Panel::top("bar").frame(bar(14)).show_separator_line(true).show(ui, top_bar);
    Panel::top("verdict")
        .frame(bar(14).inner_margin(egui::Margin::symmetric(14, 10)).fill(palette.background))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.label(RichText::new(
                    "Peaked at 92 % of 200k at call 358. Crossed the trigger at call 212.",
                ));
            });
        });
    Panel::right("policy")
        .exact_size(if ui.available_width() > 1300.0 { 292.0 } else { 280.0 })
        .frame(bar(14).inner_margin(egui::Margin::symmetric(14, 16)))
        .show(ui, |ui| policy(ui, session));
    Panel::bottom("messages").exact_size(140.0).frame(Frame::new().fill(palette.background)).show(
        ui,
        |ui| {
            Frame::new().fill(palette.panel).inner_margin(egui::Margin::symmetric(14, 0)).show(
                ui,
                |ui| {
                    ui.horizontal(|ui| {
                        tabs(
                            ui,
                            &[
                                ("Messages", ""),
                                ("Insights", "7"),
                                ("Events", ""),
                                ("Evaluate", ""),
                                ("Cost & cache", ""),
                                ("Tune", ""),
                            ],
                            0,
                        );
                        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                            ui.label(
                                RichText::new("sorted by cumulative · 990 of 990")
                                    .color(palette.weak),
                            );
                        });
                    });
                },
            );
            hairline(ui);
        },
    );
    let left = ui.available_height();
    Panel::bottom("lanes")
        .exact_size(left * 0.44)
        .frame(Frame::new().fill(palette.panel))
        .show(ui, lanes);
    CentralPanel::default()
        .frame(Frame::new().fill(palette.background))
        .show(ui, |ui| session.timeline(ui, Axis::Calls))
        .inner
}

fn top_bar(ui: &mut Ui) {
    let palette = palette(ui);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Plimsoll").text_style(theme::strong()));
        ui.add_space(space::S);
        chip(
            ui,
            None,
            &[
                ChipText::strong("payments-refactor.jsonl"),
                ChipText::plain(" · Claude Code · 484 calls"),
            ],
        );
        chip(
            ui,
            None,
            &[
                ChipText::plain("claude-sonnet-4-5 · "),
                ChipText::strong("200,000"),
                ChipText::plain(" window"),
            ],
        );
        chip(ui, Some(palette.ok), &[ChipText::plain("calibrated "), ChipText::strong("± 2.4 %")]);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            primary_button(ui, "Export…");
            secondary_button(ui, "Sweep", "Ctrl+R");
            secondary_button(ui, "Open…", "Ctrl+O");
        });
    });
}

fn policy(ui: &mut Ui, session: &mut GeneratedSession) {
    section(ui, "Policy");
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        for (i, name) in ["Truncate", "Prune", "Summarize"].iter().enumerate() {
            toggle(ui, name, i == 0, palette(ui).lane(i));
        }
    });
    ui.add_space(space::L);
    let knob = |label, value, range, step, is_logarithmic, unit, help, default| KnobSpec {
        label,
        value,
        range,
        step,
        is_logarithmic,
        unit,
        scope: "",
        help,
        hint: "",
        note: "",
        is_noted: false,
        default,
        consequence: None,
        tone: Tone::Plain,
    };
    let trigger = KnobSpec {
        consequence: Some(
            "The policy's own count triggers at 168,672 actual tokens (100.4 %).".into(),
        ),
        tone: Tone::Bad,
        ..knob(
            "compression_trigger",
            session.knob,
            0.1..=1.0,
            0.01,
            false,
            "· 126,000 tok",
            "Acts when the context reaches this share of usable.",
            0.8,
        )
    };
    if let Some(value) = knob_slider(ui, &trigger).changed {
        session.knob = value;
    }
    for spec in [
        knob(
            "keep_recent",
            10.0,
            0.0..=60.0,
            1.0,
            false,
            "messages",
            "Keeping 10: about 1.4 re-reads, $0.02 a compaction.",
            10.0,
        ),
        knob(
            "prune_protect",
            40_000.0,
            1000.0..=400_000.0,
            1000.0,
            true,
            "tok",
            "Keeping 40,000: about 0.4 re-reads, $0.0061 a compaction.",
            40_000.0,
        ),
        knob("output_reserve", 32_000.0, 0.0..=100_000.0, 1000.0, false, "tok", "", 32_000.0),
        knob("summary_max_tokens", 1024.0, 128.0..=8192.0, 64.0, true, "tok", "", 1024.0),
        knob("cooldown", 2.0, 0.0..=10.0, 1.0, false, "calls", "", 2.0),
    ] {
        ui.add_space(space::M);
        knob_slider(ui, &spec);
    }
}

fn lanes(ui: &mut Ui) {
    let rows = [
        (1, 0.12),
        (2, 0.05),
        (3, 0.5),
        (4, 0.1),
        (31, 0.9),
        (32, 0.05),
        (33, 0.62),
        (208, 0.09),
        (209, 0.2),
    ];
    let statuses = [
        [MessageStatus::Dropped; 9],
        [
            MessageStatus::Kept,
            MessageStatus::Kept,
            MessageStatus::Cleared,
            MessageStatus::Kept,
            MessageStatus::Cleared,
            MessageStatus::Kept,
            MessageStatus::Kept,
            MessageStatus::Kept,
            MessageStatus::Kept,
        ],
        [
            MessageStatus::Summarized,
            MessageStatus::Summarized,
            MessageStatus::Summarized,
            MessageStatus::Summarized,
            MessageStatus::Cut,
            MessageStatus::Cut,
            MessageStatus::Summarized,
            MessageStatus::Kept,
            MessageStatus::Kept,
        ],
    ];
    ui.columns(3, |columns| {
        for (i, ui) in columns.iter_mut().enumerate() {
            let palette = palette(ui);
            Frame::new().inner_margin(12).show(ui, |ui| {
                ui.horizontal(|ui| {
                    swatch(ui, palette.lane(i));
                    ui.label(
                        RichText::new(["Truncate", "Prune", "Summarize"][i])
                            .text_style(theme::strong()),
                    );
                    ui.label(RichText::new("Digitorn · as shipped ▾").color(palette.weak));
                });
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 20.0;
                    figure(ui, "peak", "126k", Tone::Plain);
                    figure(ui, "compactions", "3", Tone::Plain);
                    figure(ui, "sent", "61.4M", Tone::Plain);
                    figure(ui, "re-reads", "1.3", Tone::Warn);
                });
                ui.add_space(space::XS);
                ui.spacing_mut().item_spacing.y = 0.0;
                ui.spacing_mut().interact_size.y = 17.0;
                for (row, (number, share)) in rows.iter().enumerate() {
                    ui.horizontal(|ui| {
                        let small = |text: String| RichText::new(text).text_style(TextStyle::Small);
                        ui.add_sized(
                            vec2(26.0, 17.0),
                            egui::Label::new(small(number.to_string()).color(palette.weak)),
                        );
                        let kind = [Kind::User, Kind::ToolCall, Kind::ToolResult, Kind::Assistant]
                            [row % 4];
                        let status = statuses[i][row];
                        ui.add_sized(
                            vec2(56.0, 17.0),
                            egui::Label::new(small(format!("{status:?}").to_lowercase())),
                        );
                        let width = ui.available_width() - 40.0;
                        status_bar(ui, *share, palette.kind(kind), status, vec2(width, 8.0));
                    });
                }
            });
        }
    });
}

fn picture(
    size: egui::Vec2,
    theme: Theme,
    pointer: Option<egui::Pos2>,
    name: &str,
) -> image::RgbaImage {
    let mut stage = OffscreenWindow::new(size, 1.0, theme);
    let mut session = GeneratedSession::new();
    for frame in 0..4 {
        let events = pointer.filter(|_| frame == 1).map(egui::Event::PointerMoved);
        stage.frame(events.into_iter().collect(), &mut |ui| {
            window(ui, &mut session);
        });
    }
    let image = stage.image();
    if let Some(folder) = std::env::var_os("PLIMSOLL_PICTURES") {
        save_png(&image, &Path::new(&folder).join(name), &[])
            .expect("the folder of pictures can be written to");
    }
    image
}

#[test]
fn parts_of_the_window_are_drawn_in_both_themes_and_sizes() {
    for (theme, name) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let palette = theme::of(theme == Theme::Dark);
        let pointer = Some(egui::pos2(560.0, 300.0));
        for (size, pointer, file) in [
            (vec2(1440.0, 900.0), pointer, format!("{name}-1440.png")),
            (vec2(1100.0, 700.0), None, format!("{name}-1100.png")),
        ] {
            let image = picture(size, theme, pointer, &file);
            let has =
                |color: egui::Color32| image.pixels().any(|pixel| pixel.0 == color.to_array());
            for kind in [Kind::System, Kind::User, Kind::Assistant, Kind::ToolResult] {
                assert!(has(palette.kind_area(kind)), "{file}: the area of {kind:?}");
            }
            for color in [palette.bad, palette.warn, palette.accent, palette.lane(0)] {
                assert!(has(color), "{file}: {color:?}");
            }
        }
    }
}

/// Draws only the timeline.
fn timeline_picture(
    name: &str,
    size: egui::Vec2,
    theme: Theme,
    session: &GeneratedSession,
    axis: Axis,
    events: &[Vec<egui::Event>],
) {
    let mut stage = OffscreenWindow::new(size, 1.0, theme);
    for frame in 0..events.len() + 4 {
        let events = events.get(frame).cloned().unwrap_or_default();
        stage.frame(events, &mut |ui| {
            session.timeline(ui, axis);
        });
    }
    let image = stage.image();
    assert!(
        image.pixels().any(|pixel| pixel.0 == theme::of(theme == Theme::Dark).bad.to_array()),
        "{name}"
    );
    if let Some(folder) = std::env::var_os("PLIMSOLL_PICTURES") {
        save_png(&image, &Path::new(&folder).join(name), &[])
            .expect("the folder of pictures can be written to");
    }
}

fn wheel(at: egui::Pos2, lines: f32) -> Vec<Vec<egui::Event>> {
    let scroll = egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, lines),
        phase: egui::TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
        source: egui::MouseWheelSource::Unknown,
    };
    vec![vec![egui::Event::PointerMoved(at)], vec![scroll], vec![], vec![]]
}

#[test]
fn the_timeline_is_drawn_zoomed_by_turns_and_for_unusual_sessions() {
    let session = GeneratedSession::new();
    let size = vec2(1000.0, 340.0);
    let at = egui::pos2(400.0, 200.0);
    timeline_picture("t-zoomed.png", size, Theme::Dark, &session, Axis::Calls, &wheel(at, 700.0));
    timeline_picture("t-turns.png", size, Theme::Light, &session, Axis::Turns, &[]);
    let held = [vec![egui::Event::PointerMoved(egui::pos2(960.0, 120.0))]];
    timeline_picture("t-held.png", size, Theme::Dark, &session, Axis::Calls, &held);
    let mut one = GeneratedSession::new();
    one.recorded.truncate(1);
    one.lanes.iter_mut().for_each(|lane| lane.truncate(1));
    one.usage.truncate(1);
    one.turns = vec![0];
    one.compactions.clear();
    one.selected = Some(0);
    timeline_picture("t-one.png", size, Theme::Light, &one, Axis::Calls, &[]);
    let mut many = GeneratedSession::new();
    many.compactions = (0..40).map(|i| compaction(i * 12 + 3)).collect();
    timeline_picture("t-flags.png", vec2(700.0, 240.0), Theme::Dark, &many, Axis::Calls, &[]);
}

type Harness<'a> = egui_kittest::Harness<'a, (GeneratedSession, Vec<TimelineResponse>)>;

fn harness<'a>() -> Harness<'a> {
    let show =
        |ui: &mut Ui, (session, responses): &mut (GeneratedSession, Vec<TimelineResponse>)| {
            if ui.ctx().cumulative_frame_nr() == 0 {
                // Fonts apply from the next frame.
                theme::apply(ui.ctx());
                return;
            }
            let response = session.timeline(ui, Axis::Calls);
            session.selected = response.clicked_call.or(session.selected);
            session.trigger = response.trigger.unwrap_or(session.trigger);
            responses.push(response);
        };
    egui_kittest::Harness::builder()
        .with_size(vec2(1000.0, 340.0))
        .allow_missing_glyphs()
        .build_ui_state(show, (GeneratedSession::new(), Vec::new()))
}

#[test]
fn thresholds_can_be_set_by_accessible_name() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = harness();
    harness.run_ok();
    let slider = |name| (egui::accesskit::Role::Slider, name);
    let (role, name) = slider("trigger");
    harness.get_by_role_and_label(role, name).set_value_accesskit(0.5);
    harness.run_steps(2);
    assert_eq!(harness.state().0.trigger, Share(0.5));
    for (name, value) in [("usable", 150_000.0), ("window", 128_000.0)] {
        harness.get_by_role_and_label(role, name).set_value_accesskit(value);
        harness.run_steps(2);
    }
    let all = &harness.state().1;
    assert!(all.iter().any(|response| response.output_reserve == Some(Tokens(50_000))));
    assert!(all.iter().any(|response| response.window == Some(Tokens(128_000))));
}

#[test]
fn dragging_the_trigger_follows_the_pointer() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = harness();
    harness.run_ok();
    let from =
        harness.get_by_role_and_label(egui::accesskit::Role::Slider, "trigger").rect().center();
    harness.drag_at(from);
    harness.run_steps(2);
    for y in [20.0, 40.0, 60.0] {
        harness.hover_at(from + vec2(0.0, y));
        harness.run_steps(2);
    }
    harness.drop_at(from + vec2(0.0, 60.0));
    harness.run_steps(2);
    let (session, _) = harness.state();
    assert!(session.trigger.0 < 0.6 && session.trigger.0 > 0.3, "{:?}", session.trigger);
    let landed =
        harness.get_by_role_and_label(egui::accesskit::Role::Slider, "trigger").rect().center();
    assert!((landed.y - from.y - 60.0).abs() < 3.0, "{from} {landed}");
}

#[test]
fn clicks_and_keys_select_a_call_and_f_shows_everything() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = harness();
    harness.run_ok();
    let plot = harness.get_by_label("timeline").rect();
    harness.hover_at(plot.left_center());
    harness.run_steps(1);
    harness.get_by_label("timeline").click();
    harness.run_steps(2);
    let chosen = harness.state().0.selected.expect("a call");
    assert!(chosen.abs_diff(CALLS / 2) <= 1, "{chosen}");
    for (modifiers, key, expected) in [
        (egui::Modifiers::NONE, egui::Key::ArrowRight, chosen + 1),
        (egui::Modifiers::COMMAND, egui::Key::ArrowLeft, chosen - 9),
        (egui::Modifiers::NONE, egui::Key::End, CALLS - 1),
        (egui::Modifiers::NONE, egui::Key::Home, 0),
    ] {
        harness.key_press_modifiers(modifiers, key);
        harness.run_steps(2);
        assert_eq!(harness.state().0.selected, Some(expected), "{key:?}");
    }
    harness.key_press(egui::Key::W);
    harness.run_steps(2);
    assert_ne!(shown(&harness), WHOLE);
    harness.key_press(egui::Key::F);
    harness.run_steps(2);
    assert_eq!(shown(&harness), WHOLE);
}

const WHOLE: &str = "calls 1 to 484";

/// Returns the visible calls, by the accessible value of the overview.
fn shown(harness: &Harness<'_>) -> String {
    use egui_kittest::kittest::{NodeT as _, Queryable as _};
    let overview = harness.get_by_label("overview");
    overview.accesskit_node().value().unwrap_or_default()
}

/// Zooms in with the wheel. Returns a position on the line of the trigger, away from its handle.
fn zoom_in(harness: &mut Harness<'_>) -> egui::Pos2 {
    use egui_kittest::kittest::Queryable as _;
    harness.run_ok();
    let handle = harness.get_by_role_and_label(egui::accesskit::Role::Slider, "trigger");
    let on_line = egui::pos2(400.0, handle.rect().center().y);
    for events in wheel(on_line, 700.0) {
        for event in events {
            harness.event(event);
        }
        harness.run_steps(1);
    }
    harness.run_ok();
    assert_ne!(shown(harness), WHOLE);
    on_line
}

fn press(harness: &mut Harness<'_>, button: egui::PointerButton, pos: egui::Pos2, pressed: bool) {
    harness.event(egui::Event::PointerButton {
        pos,
        button,
        pressed,
        modifiers: egui::Modifiers::NONE,
    });
    harness.run_steps(2);
}

/// Drags with a button.
fn drag(harness: &mut Harness<'_>, button: egui::PointerButton, from: egui::Pos2, by: egui::Vec2) {
    harness.hover_at(from);
    harness.run_steps(1);
    press(harness, button, from, true);
    for share in [0.5, 1.0] {
        harness.hover_at(from + share * by);
        harness.run_steps(2);
    }
    press(harness, button, from + by, false);
}

#[test]
fn the_wheel_zooms_and_the_middle_button_moves_the_plot_also_over_a_threshold() {
    let mut harness = harness();
    let on_line = zoom_in(&mut harness);
    let (zoomed, trigger) = (shown(&harness), harness.state().0.trigger);
    let by = vec2(120.0, 16.0);
    drag(&mut harness, egui::PointerButton::Middle, on_line, by);
    assert_ne!(shown(&harness), zoomed, "the plot moved");
    assert_eq!(harness.state().0.trigger, trigger, "the threshold did not");
}

#[test]
fn the_primary_button_moves_the_plot_only_while_space_is_held() {
    let mut harness = harness();
    let from = zoom_in(&mut harness);
    let (zoomed, selected) = (shown(&harness), harness.state().0.selected);
    let by = vec2(120.0, 0.0);
    drag(&mut harness, egui::PointerButton::Primary, from, by);
    assert_eq!(shown(&harness), zoomed);
    assert_eq!(harness.state().0.selected, selected, "a drag selects no call");
    harness.key_down(egui::Key::Space);
    drag(&mut harness, egui::PointerButton::Primary, from, by);
    harness.key_up(egui::Key::Space);
    assert_ne!(shown(&harness), zoomed);
}

#[test]
fn the_secondary_button_zooms_into_a_box_and_a_double_click_shows_everything() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = harness();
    harness.run_ok();
    let plot = harness.get_by_label("timeline").rect();
    let handle = |harness: &Harness<'_>| {
        let slider = (egui::accesskit::Role::Slider, "trigger");
        harness.get_by_role_and_label(slider.0, slider.1).rect().center().y
    };
    let height = handle(&harness);
    // A low box keeps the vertical axis.
    let (from, by) = (plot.lerp_inside(vec2(0.25, 0.5)), vec2(plot.width() / 2.0, 4.0));
    drag(&mut harness, egui::PointerButton::Secondary, from, by);
    let zoomed = shown(&harness);
    assert_eq!(zoomed, "calls 122 to 363");
    assert_eq!(handle(&harness), height);
    let (from, by) = (plot.lerp_inside(vec2(0.25, 0.1)), vec2(plot.width() / 2.0, 120.0));
    drag(&mut harness, egui::PointerButton::Secondary, from, by);
    assert_ne!(shown(&harness), zoomed);
    assert_ne!(handle(&harness), height);
    let click = [true, false].map(|pressed| egui::Event::PointerButton {
        pos: plot.center(),
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: egui::Modifiers::NONE,
    });
    let moved = egui::Event::PointerMoved(plot.center());
    harness.input_mut().events.push(moved);
    harness.input_mut().events.extend(click.clone());
    harness.input_mut().events.extend(click);
    harness.run_steps(2);
    assert_eq!(shown(&harness), WHOLE);
    assert_eq!(handle(&harness), height);
}

#[test]
fn escape_cancels_a_zoom_box() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = harness();
    harness.run_ok();
    let plot = harness.get_by_label("timeline").rect();
    let secondary = egui::PointerButton::Secondary;
    harness.hover_at(plot.center());
    press(&mut harness, secondary, plot.center(), true);
    let end = plot.lerp_inside(vec2(0.8, 0.8));
    harness.hover_at(end);
    harness.run_steps(2);
    harness.key_press(egui::Key::Escape);
    harness.run_steps(2);
    press(&mut harness, secondary, end, false);
    assert_eq!(shown(&harness), WHOLE);
}

#[test]
fn the_plot_keeps_its_height_in_a_smaller_window() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = large(sample(COMPACTED));
    for size in [vec2(1100.0, 700.0), vec2(900.0, 560.0), vec2(1440.0, 900.0)] {
        harness.set_size(size);
        harness.run_ok();
        let plot = harness.get_by_label("timeline").rect();
        let overview = harness.get_by_label("overview").rect();
        let height = overview.bottom() - plot.top();
        assert!(height >= 170.0, "{height} at {size}");
    }
}

#[test]
fn keyboard_focus_visits_the_bar_from_left_to_right() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = large(sample(COMPACTED));
    let names = ["Menu", "Open…", "Export…"];
    let mut order: Vec<&&str> = Vec::new();
    for _ in 0..12 {
        harness.key_press(egui::Key::Tab);
        harness.run_steps(1);
        let is_here = |name: &&&str| harness.get_by_label(name).is_focused();
        order.extend(names.iter().find(is_here));
    }
    assert_eq!(order, names.iter().collect::<Vec<_>>());
}

/// Draws one knob. The state is its value.
fn knob_harness<'a>() -> egui_kittest::Harness<'a, f64> {
    let show = |ui: &mut Ui, value: &mut f64| {
        if ui.ctx().cumulative_frame_nr() == 0 {
            theme::apply(ui.ctx());
            return;
        }
        let spec = KnobSpec {
            label: "knob",
            value: *value,
            range: 0.0..=1.0,
            step: 0.01,
            is_logarithmic: false,
            unit: "of usable",
            scope: "",
            help: "",
            hint: "",
            note: "",
            is_noted: false,
            default: 0.5,
            consequence: None,
            tone: Tone::Plain,
        };
        if let Some(set) = knob_slider(ui, &spec).changed {
            *value = set;
        }
    };
    let mut harness = egui_kittest::Harness::builder()
        .with_size(vec2(300.0, 100.0))
        .allow_missing_glyphs()
        .build_ui_state(show, 0.5);
    harness.run_ok();
    harness
}

fn type_in_field(harness: &mut egui_kittest::Harness<'_, f64>, text: &str) -> egui::Rect {
    use egui_kittest::kittest::Queryable as _;
    harness.get_by_label("knob value").click();
    harness.run_ok();
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run_steps(2);
    harness.get_by_label("knob value").rect()
}

#[test]
fn escape_restores_a_knob_and_enter_applies_the_typed_value() {
    let mut harness = knob_harness();
    type_in_field(&mut harness, "0.8");
    harness.key_press(egui::Key::Escape);
    harness.run_ok();
    assert_eq!(*harness.state(), 0.5);
    type_in_field(&mut harness, "0.8");
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert_eq!(*harness.state(), 0.8);
}

#[test]
fn a_value_out_of_range_is_clamped_with_a_message() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = knob_harness();
    let before = type_in_field(&mut harness, "7");
    let during = type_in_field(&mut harness, "75 000 000 000");
    assert!((before.width() - during.width()).abs() < 1.0, "{before} {during}");
    harness.key_press(egui::Key::Enter);
    harness.run_steps(2);
    assert_eq!(*harness.state(), 1.0);
    harness.get_by_label("at most 1.00");
}

#[test]
fn a_clicked_rail_is_moved_by_the_arrows() {
    use egui_kittest::kittest::Queryable as _;
    let mut harness = knob_harness();
    harness.get_by_role_and_label(egui::accesskit::Role::Slider, "knob").click();
    harness.run_ok();
    let clicked = *harness.state();
    harness.key_press(egui::Key::ArrowRight);
    harness.run_steps(2);
    assert!((harness.state() - clicked - 0.01).abs() < 1e-9);
}
