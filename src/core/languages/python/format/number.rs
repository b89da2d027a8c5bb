//! Formatting of integers and texts by a format specification.

use super::spec::Spec;
use crate::languages::python::PythonError;

/// `format(value, spec)` of an `int`.
pub(crate) fn format_int(value: i64, text: &str) -> Result<String, PythonError> {
    let spec = Spec::parse(text, '>', "int")?;
    let kind = spec.kind.unwrap_or('d');
    if let Some(mark) = spec.grouping {
        let takes = if mark == ',' { "deEfFgG%" } else { "deEfFgG%boxX" };
        if !takes.contains(kind) {
            return Err(PythonError::of_value(format!("Cannot specify '{mark}' with '{kind}'.")));
        }
    }
    let magnitude = value.unsigned_abs();
    let (prefix, digits) = match kind {
        'd' | 'n' => ("", magnitude.to_string()),
        'b' => ("0b", format!("{magnitude:b}")),
        'o' => ("0o", format!("{magnitude:o}")),
        'x' => ("0x", format!("{magnitude:x}")),
        'X' => ("0X", format!("{magnitude:X}")),
        'c' => return character(value, &spec),
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' => ("", as_float(magnitude, kind, &spec)),
        other => {
            return Err(PythonError::of_value(format!(
                "Unknown format code '{other}' for object of type 'int'"
            )));
        }
    };
    if "dnboxX".contains(kind) {
        if spec.precision.is_some() {
            let why = "Precision not allowed in integer format specifier";
            return Err(PythonError::of_value(why));
        }
        if spec.coerces_zero {
            let why = "Negative zero coercion (z) not allowed in integer format specifier";
            return Err(PythonError::of_value(why));
        }
    }
    let sign = match (value < 0, spec.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        _ => "",
    };
    let prefix = if spec.is_alternate { prefix } else { "" };
    let sign = format!("{sign}{prefix}");
    let body = group(&digits, kind, &spec, sign.len());
    Ok(spec.pad(&sign, &body))
}

fn character(value: i64, spec: &Spec) -> Result<String, PythonError> {
    let c = u32::try_from(value).ok().and_then(char::from_u32);
    let beyond = || PythonError::new("OverflowError", "%c arg not in range(0x110000)");
    let c = c.ok_or_else(beyond)?;
    Ok(spec.pad("", &c.to_string()))
}

/// Separates groups of three digits, or four for other bases. Padding zeros are grouped too.
fn group(digits: &str, kind: char, spec: &Spec, before: usize) -> String {
    let Some(mark) = spec.grouping else {
        return digits.to_owned();
    };
    let end = digits.find(['.', 'e', 'E', '%']).unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at(end);
    let size = if "boxX".contains(kind) { 4 } else { 3 };
    let grouped = |whole: &str| {
        let mut out = String::new();
        for (idx, digit) in whole.chars().enumerate() {
            if idx > 0 && (whole.len() - idx).is_multiple_of(size) {
                out.push(mark);
            }
            out.push(digit);
        }
        out
    };
    let mut whole = whole.to_owned();
    if spec.fill == '0' && spec.align == '=' {
        let groups = |n: usize| n + n.saturating_sub(1) / size + fraction.len() + before;
        let mut n = whole.len();
        while groups(n) < spec.width {
            n += 1;
        }
        whole = format!("{whole:0>n$}");
    }
    format!("{}{fraction}", grouped(&whole))
}

fn as_float(magnitude: u64, kind: char, spec: &Spec) -> String {
    let value = magnitude as f64;
    let precision = spec.precision.unwrap_or(6);
    let text = match kind {
        'f' | 'F' => format!("{value:.precision$}"),
        '%' => format!("{:.precision$}%", value * 100.0),
        'e' | 'E' => exponent(value, precision),
        _ => general(value, precision.max(1), spec.is_alternate),
    };
    if kind.is_ascii_uppercase() { text.to_uppercase() } else { text }
}

/// Writes `1.5e+03`: Python writes at least two digits of the exponent, and its sign.
fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{digits}e+{power:0>2}")
}

fn general(value: f64, precision: usize, keeps_zeros: bool) -> String {
    let scientific = format!("{value:.*e}", precision - 1);
    let power = scientific.split_once('e').and_then(|(_, p)| p.parse().ok());
    let power: usize = power.unwrap_or(0);
    let strip = |text: &str| {
        if keeps_zeros || !text.contains('.') {
            text.to_owned()
        } else {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    if power < precision {
        return strip(&format!("{value:.*}", precision - 1 - power));
    }
    let digits = scientific.split_once('e').map_or("", |(digits, _)| digits);
    format!("{}e+{power:0>2}", strip(digits))
}

/// `format(value, spec)` of a `str`.
pub(crate) fn format_str(value: &str, text: &str) -> Result<String, PythonError> {
    let spec = Spec::parse(text, '<', "str")?;
    let refused = if spec.sign.is_some() {
        Some("Sign not allowed in string format specifier".to_owned())
    } else if spec.is_alternate {
        Some("Alternate form (#) not allowed in string format specifier".to_owned())
    } else if spec.align == '=' {
        Some("'=' alignment not allowed in string format specifier".to_owned())
    } else if let Some(mark) = spec.grouping {
        Some(format!("Cannot specify '{mark}' with 's'."))
    } else {
        let unknown = spec.kind.filter(|kind| *kind != 's');
        unknown.map(|kind| format!("Unknown format code '{kind}' for object of type 'str'"))
    };
    if let Some(why) = refused {
        return Err(PythonError::of_value(why));
    }
    let cut: String = value.chars().take(spec.precision.unwrap_or(usize::MAX)).collect();
    Ok(spec.pad("", &cut))
}
