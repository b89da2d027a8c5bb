//! The expression language: errors have a position, valid expressions have a value, and their description is correct.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::engine::{Definition, Expr, Moment, Quantity, Type, Vocabulary};
use std::collections::BTreeMap;

fuzz_target!(|text: &str| {
    let vocabulary = Vocabulary {
        names: BTreeMap::from([
            ("knob".to_owned(), Definition::SETTING),
            (
                "ready".to_owned(),
                Definition {
                    kind: Type::Truth,
                    n_nodes: 3,
                },
            ),
        ]),
        stages: vec!["clear".to_owned(), "summarize".to_owned()],
    };
    let (expr, _) = match Expr::parse_any(text, &vocabulary) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(
                (1..=text.chars().count() + 1).contains(&error.column),
                "{error}"
            );
            return;
        }
    };
    let ready = Expr::parse("call > 3", Type::Truth, &Vocabulary::default());
    let names = BTreeMap::from([
        ("knob".to_owned(), Expr::constant(0.5)),
        ("ready".to_owned(), ready.expect("the expression is valid")),
    ]);
    let bound = expr.bind(&names);
    let _ = expr.terms();
    for value in [0.0, 1.0, -3.5, 1e18, f64::INFINITY, f64::NAN] {
        let mut moment = Moment {
            quantities: [value; Quantity::ALL.len()],
            since: vec![f64::INFINITY, value],
            fired: vec![false, true],
        };
        let _ = (expr.value(&moment), bound.value(&moment));
        let fixed = bound.fix(Quantity::Window, value);
        assert_eq!(
            fixed.value(&moment).to_bits(),
            bound.value(&moment).to_bits()
        );
        if let Some(floor) = bound.floor_of(Quantity::Used) {
            moment.set(Quantity::Used, value);
            assert_eq!(bound.holds(&moment), value >= floor);
        }
    }
});
