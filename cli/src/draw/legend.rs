//! What colors and signs mean, in rows below a drawing.

use super::memory::hatch;
use super::network::rule;
use super::svg::{Anchor, Rect, Svg, text_width};
use super::theme::{ALARM, Family, INK, NOTE, PAPER};

const SWATCH: f64 = 14.0;
const ROW: f64 = 20.0;

/// A sign and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Family(Family),
    Residual,
    Merged,
    Peak,
}

impl Entry {
    const fn name(self) -> &'static str {
        match self {
            Self::Family(family) => family.name(),
            Self::Residual => "input added to the result",
            Self::Merged => "computed with the next layer, never stored",
            Self::Peak => "most bytes alive at one time",
        }
    }

    fn draw(self, svg: &mut Svg, x: f64, y: f64) {
        let middle = y + SWATCH / 2.0;
        match self {
            Self::Family(family) => {
                let swatch = Rect::new(x, y + 1.0, SWATCH, SWATCH - 2.0);
                svg.rect(swatch, 2.0, family.tint(), family.line(), "");
                if family == Family::Scratch {
                    hatch(svg, swatch);
                }
            }
            Self::Residual => {
                let color = Family::Block.line();
                svg.rect(Rect::new(x + 1.0, y + 1.0, 12.0, 12.0), 6.0, PAPER, color, "");
                svg.path(
                    &format!("M{:.1} {middle:.1}h7M{:.1} {:.1}v7", x + 3.5, x + 7.0, middle - 3.5),
                    color,
                    1.2,
                    "",
                );
            }
            Self::Merged => {
                svg.path(&format!("M{x:.1} {middle:.1}h{SWATCH}"), INK, 1.1, r#"stroke-dasharray="3 2.5""#);
            }
            Self::Peak => svg.rect(Rect::new(x, y, SWATCH, SWATCH), 0.0, "#fbe3e1", ALARM, ""),
        }
    }
}

/// Draws the legend from `place` to the right edge `right`; gives its bottom.
pub(crate) fn draw(svg: &mut Svg, entries: &[Entry], place: (f64, f64), right: f64) -> f64 {
    let (left, mut y) = place;
    rule(svg, left, right, y);
    y += 14.0;
    let mut x = left;
    for entry in entries {
        let width = SWATCH + 7.0 + text_width(entry.name(), NOTE);
        if x > left && x + width > right {
            (x, y) = (left, y + ROW);
        }
        entry.draw(svg, x, y);
        svg.text((x + SWATCH + 7.0, y + 11.0), Anchor::Start, NOTE, entry.name());
        x += width + 14.0;
    }
    y + SWATCH
}
