//! The macro [`json!`](super::json).

/// Makes a [`Value`](crate::json::Value) of JSON with expressions in place of values and keys. An expression is a
/// [`ToValue`](crate::json::ToValue), a key becomes a `String`.
///
/// ```
/// let value = plimsoll_core::json::json!({"role": "user", "turn": 1 + 1, "parts": [null, true]});
/// assert_eq!(value.to_string(), r#"{"role":"user","turn":2,"parts":[null,true]}"#);
/// ```
#[macro_export]
macro_rules! json_value {
    // The elements of a list: moves one after the other into the brackets.
    (@list [$($done:expr,)*]) => { vec![$($done,)*] };
    (@list [$($done:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::json_value!(@list [$($done,)* $crate::json_value!(null),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::json_value!(@list [$($done,)* $crate::json_value!([$($inner)*]),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::json_value!(@list [$($done,)* $crate::json_value!({$($inner)*}),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::json_value!(@list [$($done,)* $crate::json_value!($next),] $($($rest)*)?)
    };

    // The members of an object: moves the tokens before a colon into the parentheses, then inserts the value after it.
    (@object $map:ident ()) => {};
    (@object $map:ident ($($key:tt)+) : null $(, $($rest:tt)*)?) => {
        $map.insert(($($key)+).into(), $crate::json_value!(null));
        $crate::json_value!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)+) : [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $map.insert(($($key)+).into(), $crate::json_value!([$($inner)*]));
        $crate::json_value!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)+) : {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $map.insert(($($key)+).into(), $crate::json_value!({$($inner)*}));
        $crate::json_value!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)+) : $value:expr $(, $($rest:tt)*)?) => {
        $map.insert(($($key)+).into(), $crate::json_value!($value));
        $crate::json_value!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)*) $next:tt $($rest:tt)*) => {
        $crate::json_value!(@object $map ($($key)* $next) $($rest)*);
    };

    (null) => { $crate::json::Value::Null };
    ([$($inner:tt)*]) => { $crate::json::Value::Array($crate::json_value!(@list [] $($inner)*)) };
    ({}) => { $crate::json::Value::Object($crate::json::Map::new()) };
    ({$($inner:tt)+}) => {
        $crate::json::Value::Object({
            let mut map = $crate::json::Map::new();
            $crate::json_value!(@object map () $($inner)+);
            map
        })
    };
    ($value:expr) => { $crate::json::ToValue::to_value(&$value) };
}
