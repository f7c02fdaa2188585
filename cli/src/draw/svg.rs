//! A small writer of SVG: rectangles, paths and text with presentation attributes only, which every viewer, TeX tool and
//! office program understands.

use std::fmt::Write as _;

use super::theme::{FONT, INK, PAPER};

/// A drawing; lengths are in pixels.
pub(crate) struct Svg {
    body: String,
}

/// How a text is set.
#[derive(Clone, Copy)]
pub(crate) struct Font {
    pub(crate) size: f64,
    pub(crate) is_bold: bool,
    pub(crate) color: &'static str,
}

impl Font {
    pub(crate) const fn new(size: f64, color: &'static str) -> Self {
        Self { size, is_bold: false, color }
    }

    pub(crate) const fn bold(size: f64, color: &'static str) -> Self {
        Self { size, is_bold: true, color }
    }
}

/// Which point of a text its position means.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) const fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }

    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(crate) fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }

    pub(crate) fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }
}

impl Svg {
    pub(crate) fn new() -> Self {
        Self { body: String::new() }
    }

    /// A rectangle with round corners. `tooltip` is what viewers show under the pointer.
    pub(crate) fn rect(&mut self, rect: Rect, radius: f64, fill: &str, stroke: &str, tooltip: &str) {
        let Rect { x, y, width, height } = rect;
        self.write(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}" fill="{fill}" stroke="{stroke}""#
        ));
        if tooltip.is_empty() {
            self.body.push_str("/>\n");
        } else {
            self.write(format_args!("><title>{}</title></rect>\n", escaped(tooltip)));
        }
    }

    /// A line along `data`, as in the attribute `d` of a path. `more` holds further attributes.
    pub(crate) fn path(&mut self, data: &str, stroke: &str, width: f64, more: &str) {
        self.write(format_args!(r#"<path d="{data}" fill="none" stroke="{stroke}" stroke-width="{width}" {more}/>"#));
        self.body.push('\n');
    }

    /// A filled shape without an outline.
    pub(crate) fn fill(&mut self, data: &str, color: &str) {
        self.write(format_args!(r#"<path d="{data}" fill="{color}"/>"#));
        self.body.push('\n');
    }

    /// One line of text; `y` is its baseline.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, font: Font, text: &str) {
        self.write(format_args!(r#"<text x="{x:.1}" y="{y:.1}"{}>{}</text>"#, attributes(anchor, font), escaped(text)));
        self.body.push('\n');
    }

    /// One line of text that runs upwards.
    pub(crate) fn text_upwards(&mut self, (x, y): (f64, f64), anchor: Anchor, font: Font, text: &str) {
        let attributes = attributes(anchor, font);
        self.write(format_args!(
            r#"<text transform="translate({x:.1} {y:.1}) rotate(-90)"{attributes}>{}</text>"#,
            escaped(text)
        ));
        self.body.push('\n');
    }

    /// The document.
    pub(crate) fn finish(self, width: f64, height: f64, title: &str) -> String {
        format!(
            concat!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" "#,
                r#"viewBox="0 0 {width:.0} {height:.0}" font-family="{font}" fill="{ink}">"#,
                "\n<title>{title}</title>\n",
                r#"<rect width="100%" height="100%" fill="{paper}"/>"#,
                "\n{body}</svg>\n"
            ),
            width = width,
            height = height,
            font = FONT,
            ink = INK,
            title = escaped(title),
            paper = PAPER,
            body = self.body
        )
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(text);
    }
}

fn attributes(anchor: Anchor, font: Font) -> String {
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => r#" text-anchor="middle""#,
        Anchor::End => r#" text-anchor="end""#,
    };
    let weight = if font.is_bold { r#" font-weight="bold""# } else { "" };
    format!(r#"{anchor} font-size="{}"{weight} fill="{}""#, font.size, font.color)
}

/// Text that XML can hold.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut safe, c| {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() => safe.push('\u{FFFD}'),
            c => safe.push(c),
        }
        safe
    })
}

/// Widths of the characters from blank to `~` in Helvetica, in thousandths of the font size.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
/// How much wider than Helvetica the fonts are that a viewer may take instead.
const FALLBACK: f64 = 1.16;
const FALLBACK_BOLD: f64 = 1.27;

/// Room that a text needs, also in a wider font than the first choice.
pub(crate) fn text_width(text: &str, font: Font) -> f64 {
    let width = |c: char| match c {
        ' '..='~' => f64::from(HELVETICA[c as usize - ' ' as usize]),
        '·' => 278.0,
        '×' => 584.0,
        '→' => 800.0,
        _ => 1000.0,
    };
    let factor = if font.is_bold { FALLBACK_BOLD } else { FALLBACK };
    text.chars().map(width).sum::<f64>() / 1000.0 * font.size * factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        let mut svg = Svg::new();
        svg.text((0.0, 0.0), Anchor::Start, Font::new(9.0, INK), "a<b>&\"c\"\u{1b}");
        let text = svg.finish(10.0, 10.0, "t&t");
        assert!(text.contains(">a&lt;b&gt;&amp;&quot;c&quot;\u{FFFD}</text>"), "{text}");
        assert!(text.contains("<title>t&amp;t</title>"), "{text}");
    }

    #[test]
    fn longer_bold_and_larger_texts_need_more_room() {
        let font = Font::new(10.0, INK);
        assert!(text_width("ab", font) > text_width("a", font));
        assert!(text_width("a", Font::bold(10.0, INK)) > text_width("a", font));
        assert!((text_width("a", Font::new(20.0, INK)) - 2.0 * text_width("a", font)).abs() < 1e-9);
    }
}
