//! The settings to vary and their values.

use super::{subject, truncate};
use plimsoll_core::analysis::tune::{Axis, ChangedSetting, Scale, Values, changed_settings};
use plimsoll_core::engine::KnobValues;
use plimsoll_core::presets;
use std::collections::HashSet;

fn values(settings: &[KnobValues], knob: &str) -> Vec<f64> {
    settings.iter().filter_map(|s| s.get(knob)).collect()
}

#[test]
fn assumptions_of_a_replay_are_not_varied() {
    let codex = presets::by_name("codex").expect("bundled");
    let is_assumed = |axis: &Axis| axis.knob == "summary_max_tokens";
    assert!(codex.knobs.iter().any(|knob| knob.is_assumed && knob.name == "summary_max_tokens"));
    let axes = Axis::usual(&codex);
    assert!(!axes.is_empty() && !axes.iter().any(is_assumed), "{axes:?}");
}

#[test]
fn a_small_space_is_tried_completely() {
    let policy = truncate();
    let axes = vec![
        Axis::listed(&policy, "keep_recent", &[5.0, 10.0, 20.0]).unwrap(),
        Axis::listed(&policy, "compression_trigger", &[0.5, 0.75]).unwrap(),
    ];
    let subject = subject(policy, axes);
    let settings = subject.settings(100);
    assert_eq!(settings[0], subject.now);
    let pairs: Vec<_> = values(&settings, "keep_recent")
        .into_iter()
        .zip(values(&settings, "compression_trigger"))
        .collect();
    let all = [(10.0, 0.75), (5.0, 0.5), (10.0, 0.5), (20.0, 0.5), (5.0, 0.75), (20.0, 0.75)];
    assert_eq!(pairs, all);
}

#[test]
fn a_large_space_is_sampled_evenly_and_deterministically() {
    let policy = truncate();
    let axes = vec![
        Axis::between(&policy, "compression_trigger", (0.4, 0.9), None).unwrap(),
        Axis::of(policy.knob("keep_recent").unwrap()),
    ];
    let subject = subject(policy, axes);
    let settings = subject.settings(200);
    assert_eq!(settings, subject.settings(200));
    assert_eq!(settings.len(), 200);
    let triggers = values(&settings, "compression_trigger");
    let keeps = values(&settings, "keep_recent");
    let distinct: HashSet<_> =
        triggers.iter().zip(&keeps).map(|(t, k)| (t.to_bits(), k.to_bits())).collect();
    assert_eq!(distinct.len(), 200);
    let low = triggers[1..].iter().filter(|t| **t < 0.65).count();
    assert!((90..=110).contains(&low), "{low} of 199 triggers in the lower half");
    // Logarithmic: as many values below the root of 500 as above it, and 1 and 500 are included.
    let small = keeps[1..].iter().filter(|k| **k <= 22.0).count();
    assert!((90..=110).contains(&small), "{small} of 199 keep few");
    // Each quarter of the space has its share.
    let corner = triggers.iter().zip(&keeps).filter(|(t, k)| **t < 0.65 && **k <= 22.0).count();
    assert!((40..=60).contains(&corner), "{corner} of 200 in a quarter");
    let is_step = |t: &f64| (0.4..=0.9).contains(t) && *t == (t * 100.0).round() / 100.0;
    assert!(triggers.iter().all(is_step), "{triggers:?}");
}

#[test]
fn a_choice_is_spread_by_its_values_and_a_share_evenly() {
    let policy = presets::by_name("digitorn").unwrap();
    let choice = policy.knobs.iter().find(|knob| !knob.choices.is_empty()).unwrap();
    let axis = Axis::of(choice);
    assert!(matches!(&axis.values, Values::Listed(all) if all.len() == choice.choices.len()));
    let trigger = Axis::of(truncate().knob("compression_trigger").unwrap());
    assert!(matches!(trigger.values, Values::Between { scale: Scale::Linear, .. }));
}

#[test]
fn invalid_values_of_a_setting_are_rejected() {
    let policy = truncate();
    assert!(Axis::listed(&policy, "keep_recent", &[5.0, 0.0]).is_err());
    assert!(Axis::between(&policy, "keep_recent", (5.0, 5_000.0), None).is_err());
    assert!(Axis::listed(&policy, "keep_old", &[5.0]).is_err());
}

#[test]
fn defaults_are_within_the_documented_ranges_and_constants_are_marked() {
    for preset in presets::PRESETS {
        let policy = preset.policy().expect("bundled");
        for knob in &policy.knobs {
            let name = format!("{}.{}", preset.name, knob.name);
            assert!(!knob.is_advised_against(knob.value), "{name}");
            // A setting of a real system has a key, or it is none.
            assert!(knob.is_offered || knob.key.is_none(), "{name}");
        }
        let axes = Axis::usual(&policy);
        let is_fixed = |axis: &&Axis| policy.knob(&axis.knob).is_some_and(|knob| !knob.is_offered);
        assert_eq!(axes.iter().find(is_fixed), None, "{}", preset.name);
    }
}

#[test]
fn settings_are_written_as_options() {
    let policy = presets::by_name("digitorn").unwrap();
    let choice = policy.knobs.iter().find(|knob| knob.choices.len() > 1).unwrap();
    let mut knobs = policy.defaults();
    let other = if choice.value == 0.0 { 1.0 } else { 0.0 };
    policy.set(&mut knobs, &choice.name, other).unwrap();
    let changed = changed_settings(&policy, &policy.defaults(), &knobs);
    let expected =
        ChangedSetting { knob: choice.name.clone(), value: choice.choices[other as usize].clone() };
    assert_eq!(changed, [expected]);
}
