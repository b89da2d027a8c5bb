//! A drawing as SVG, in a page or as a separate file. Colors follow the reader's light or dark setting.

use super::drawing::{Anchor, Drawing, Ink, Shape};
use super::escaped::escaped;
use std::fmt::Write as _;

/// Returns the drawing as an element of a page that contains [`style`].
pub(super) fn element(drawing: &Drawing) -> String {
    let mut out = String::new();
    open(&mut out, drawing, "");
    body(&mut out, drawing);
    out
}

/// Returns the drawing as a file.
pub fn svg(drawing: &Drawing) -> String {
    let mut out = String::new();
    open(&mut out, drawing, " xmlns=\"http://www.w3.org/2000/svg\"");
    let _ = writeln!(out, "<style>{}\nsvg{{font-family:system-ui,sans-serif}}</style>", style());
    out.push_str("<rect width=\"100%\" height=\"100%\" class=\"f-ground\"/>\n");
    body(&mut out, drawing);
    out
}

/// Returns the style sheet of drawings.
pub(super) fn style() -> String {
    let variables = |is_dark: bool| {
        Ink::ALL.iter().fold(String::new(), |mut css, ink| {
            let [dark, light] = ink.colors();
            let color = if is_dark { dark } else { light };
            let _ = write!(css, "--{}:#{color:06x};", ink.name());
            css
        })
    };
    let classes = Ink::ALL.iter().fold(String::new(), |mut css, ink| {
        let name = ink.name();
        let _ = write!(
            css,
            ".s-{name}{{stroke:var(--{name});fill:none}}.f-{name}{{fill:var(--{name})}}"
        );
        css
    });
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n{classes}",
        variables(false),
        variables(true)
    )
}

fn open(out: &mut String, drawing: &Drawing, namespace: &str) {
    let (width, height) = (drawing.width, drawing.height);
    let _ = writeln!(
        out,
        "<svg{namespace} viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"{}\">",
        escaped(&drawing.description)
    );
}

fn body(out: &mut String, drawing: &Drawing) {
    for shape in &drawing.shapes {
        draw(out, shape);
        out.push('\n');
    }
    out.push_str("</svg>\n");
}

fn draw(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Line { points, ink, width, dashes } => {
            let _ = write!(out, "<path class=\"s-{}\" stroke-width=\"{width}\"", ink.name());
            if !dashes.is_empty() {
                let all: Vec<String> = dashes.iter().map(ToString::to_string).collect();
                let _ = write!(out, " stroke-dasharray=\"{}\"", all.join(" "));
            }
            out.push_str(" stroke-linejoin=\"round\" d=\"");
            for (idx, point) in points.iter().enumerate() {
                out.push_str(if idx == 0 { "M" } else { " " });
                place(out, *point);
            }
            out.push_str("\"/>");
        }
        Shape::Strokes { strokes, ink, width } => {
            let _ = write!(out, "<path class=\"s-{}\" stroke-width=\"{width}\" d=\"", ink.name());
            for [from, to] in strokes {
                out.push('M');
                place(out, *from);
                out.push(' ');
                place(out, *to);
            }
            out.push_str("\"/>");
        }
        Shape::Text { at, text, ink, anchor, size } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            // Not all programs support `dominant-baseline`.
            let baseline = at[1] + size * 0.36;
            let _ = write!(
                out,
                "<text class=\"f-{}\" x=\"{:.1}\" y=\"{baseline:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{}</text>",
                ink.name(),
                at[0],
                escaped(text)
            );
        }
    }
}

fn place(out: &mut String, point: [f32; 2]) {
    let tenths = |v: f32| (v * 10.0).round() / 10.0;
    let _ = write!(out, "{} {}", tenths(point[0]), tenths(point[1]));
}
