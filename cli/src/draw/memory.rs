//! The plan of the activations: execution order from left to right, addresses from bottom to top, each tensor a rectangle
//! over its lifetime. Above it, the bytes alive at each step.

use netkit::{Error, MemoryPlan, Model};

use super::legend::{self, Entry};
use super::lifetimes::{Lifetimes, Tensor};
use super::svg::{Anchor, Font, Rect, Svg, text_width};
use super::theme::{self, ALARM, FAINT, Family, HEADING, INK, NOTE, PAPER, SMALL, SOFT_INK, SUBTITLE, TITLE};

const MARGIN: f64 = 36.0;
/// Left edge of the plot, behind the numbers of the address axis.
const LEFT: f64 = 118.0;
/// Top of the chart of bytes alive.
const CHART_TOP: f64 = 112.0;
const CHART: f64 = 62.0;
const TOP: f64 = CHART_TOP + CHART + 44.0;
/// Most and least height of the plot.
const MOST_HEIGHT: f64 = 460.0;
const LEAST_HEIGHT: f64 = 260.0;
/// Room below the axis for the names of the steps.
const NAMES: f64 = 80.0;
/// The same where steps are so wide that their names need not run upwards.
const LEVEL_NAMES: f64 = 26.0;
/// Width of such steps.
const LEVEL_STEP: f64 = 84.0;
/// Height of the row of layers.
const BAND: f64 = 17.0;
/// Most width that steps share before they get narrow.
const WIDTH: f64 = 1120.0;
const LEAST_STEP: f64 = 17.0;
const MOST_STEP: f64 = 170.0;

/// Light red of the peak.
const PEAK: &str = "#fbe3e1";
/// Height of a line of labels.
const LINE: f64 = 11.0;
const LABEL: Font = Font::new(9.0, INK);

/// Places of steps and addresses on the page.
struct Scale {
    step: f64,
    steps: usize,
    bytes: f64,
    height: f64,
}

impl Scale {
    fn new(steps: usize, bytes: usize) -> Self {
        let step = (WIDTH / steps.max(1) as f64).clamp(LEAST_STEP, MOST_STEP);
        let height = (step * steps as f64 / 2.0).clamp(LEAST_HEIGHT, MOST_HEIGHT);
        Self { step, steps, bytes: bytes.max(1) as f64, height }
    }

    fn x(&self, step: usize) -> f64 {
        LEFT + self.step * step as f64
    }

    fn y(&self, address: u64) -> f64 {
        self.bottom() - self.height * address as f64 / self.bytes
    }

    fn bottom(&self) -> f64 {
        TOP + self.height
    }

    fn right(&self) -> f64 {
        self.x(self.steps)
    }

    fn rect(&self, tensor: &Tensor) -> Rect {
        let (x, top) = (self.x(tensor.steps.start), self.y(u64::from(tensor.bytes.end)));
        let (right, bottom) = (self.x(tensor.steps.end), self.y(u64::from(tensor.bytes.start)));
        Rect::new(x + 0.5, top, right - x - 1.0, (bottom - top).max(0.6))
    }
}

/// The drawing of the plan of a model.
pub(crate) fn draw(model: &Model<'_>, name: &str, plan: &MemoryPlan) -> Result<String, Error> {
    let lifetimes = Lifetimes::of(model, plan)?;
    let scale = Scale::new(lifetimes.steps.len(), plan.activation_bytes);
    let title = format!("{name}: memory plan");
    let subtitle = format!(
        "{} of activations and scratch  ·  {} alive at most  ·  {} arena with plan and tables",
        theme::bytes(plan.activation_bytes as u64),
        theme::bytes(plan.peak_live_bytes as u64),
        theme::bytes(plan.arena_bytes as u64)
    );
    let texts = [text_width(&subtitle, SUBTITLE), text_width(&title, TITLE), 420.0];
    let page_width = texts.into_iter().fold(scale.right(), |width, text| width.max(text + MARGIN)) + MARGIN;
    let mut svg = Svg::new();
    svg.text((MARGIN, 44.0), Anchor::Start, TITLE, &title);
    svg.text((MARGIN, 64.0), Anchor::Start, SUBTITLE, &subtitle);
    peaks(&mut svg, &lifetimes, plan, &scale);
    chart(&mut svg, &lifetimes, plan, &scale);
    addresses(&mut svg, plan, &scale);
    tensors(&mut svg, &lifetimes, &scale);
    let bottom = step_axis(&mut svg, &lifetimes, &scale);
    let shown = |family: &Family| lifetimes.tensors.iter().any(|tensor| tensor.family == *family);
    let families = Family::ALL.into_iter().filter(shown).map(Entry::Family);
    let entries: Vec<Entry> = families.chain([Entry::Peak]).collect();
    let note =
        "Labels: layer, operation that writes the tensor, size. Input and output lie in the buffers of the caller.";
    svg.text((MARGIN, bottom + 24.0), Anchor::Start, NOTE, note);
    let height = legend::draw(&mut svg, &entries, (MARGIN, bottom + 40.0), page_width - MARGIN) + MARGIN;
    Ok(svg.finish(page_width, height, name))
}

/// Marks the steps at which most bytes are alive.
fn peaks(svg: &mut Svg, lifetimes: &Lifetimes, plan: &MemoryPlan, scale: &Scale) {
    for (index, step) in lifetimes.steps.iter().enumerate() {
        if step.live_bytes == plan.peak_live_bytes as u64 {
            let band = Rect::new(scale.x(index), CHART_TOP, scale.step, scale.bottom() - CHART_TOP);
            svg.rect(band, 0.0, PEAK, "none", "");
        }
    }
}

/// Bytes alive at each step.
fn chart(svg: &mut Svg, lifetimes: &Lifetimes, plan: &MemoryPlan, scale: &Scale) {
    let (bottom, peak) = (CHART_TOP + CHART, plan.peak_live_bytes as u64);
    svg.text((LEFT, CHART_TOP - 12.0), Anchor::Start, HEADING, "Bytes alive");
    for (index, step) in lifetimes.steps.iter().enumerate().filter(|(_, step)| step.live_bytes > 0) {
        let height = CHART * step.live_bytes as f64 / peak.max(1) as f64;
        let color = if step.live_bytes == peak { ALARM } else { "#b9c3cd" };
        let bar = Rect::new(scale.x(index) + 1.0, bottom - height, scale.step - 2.0, height);
        let tooltip = format!("step {index}: {} bytes", step.live_bytes);
        svg.rect(bar, 0.0, color, "none", &tooltip);
    }
    svg.path(&format!("M{LEFT} {bottom}H{:.1}", scale.right()), SOFT_INK, 0.8, "");
    let Some(first) = lifetimes.steps.iter().position(|step| step.live_bytes == peak) else { return };
    let layer = lifetimes.steps[first].layer;
    let text = format!("peak: {} at step {first}, layer {layer}", theme::bytes(peak));
    let font = Font::bold(10.5, ALARM);
    let heading_end = LEFT + text_width("Bytes alive", HEADING) + 12.0;
    let room = scale.right().max(heading_end + text_width(&text, font));
    let x = (scale.x(first)).clamp(heading_end, room - text_width(&text, font));
    svg.text((x, CHART_TOP - 12.0), Anchor::Start, font, &text);
}

/// The vertical axis.
fn addresses(svg: &mut Svg, plan: &MemoryPlan, scale: &Scale) {
    svg.text((LEFT, TOP - 14.0), Anchor::Start, HEADING, "Activations");
    let end = plan.activation_bytes as u64;
    let (unit, name) = theme::byte_unit(end);
    let number = |address: u64| {
        let text = format!("{:.2}", address as f64 / unit as f64);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let mut tick = 64;
    while end / tick > 8 {
        tick *= 2;
    }
    let end_y = scale.y(end);
    for address in (0..).map(|index| index * tick).take_while(|&address| address < end) {
        let y = scale.y(address);
        svg.path(&format!("M{LEFT} {y:.1}H{:.1}", scale.right()), FAINT, 0.6, "");
        if y - end_y > 12.0 {
            svg.text((LEFT - 8.0, y + 3.5), Anchor::End, SMALL, &number(address));
        }
    }
    svg.path(&format!("M{LEFT} {end_y:.1}H{:.1}", scale.right()), ALARM, 1.0, r#"stroke-dasharray="5 3""#);
    svg.text((LEFT - 8.0, end_y + 3.5), Anchor::End, Font::bold(9.5, ALARM), &number(end));
    svg.text_upwards((MARGIN + 10.0, TOP + scale.height / 2.0), Anchor::Middle, NOTE, &format!("address in {name}"));
}

fn tensors(svg: &mut Svg, lifetimes: &Lifetimes, scale: &Scale) {
    let rects: Vec<Rect> = lifetimes.tensors.iter().map(|tensor| scale.rect(tensor)).collect();
    for (tensor, rect) in lifetimes.tensors.iter().zip(&rects) {
        let Tensor { layer, name, steps, bytes, family } = tensor;
        let (last, end) = (steps.end - 1, bytes.end - 1);
        let tooltip = format!(
            "layer {layer} {name}: {} bytes at {}..{end}, steps {} to {last}",
            tensor.size(),
            bytes.start,
            steps.start
        );
        let fill = if *family == Family::Scratch { PAPER } else { family.tint() };
        svg.rect(*rect, 1.5, fill, family.line(), &tooltip);
        if *family == Family::Scratch {
            hatch(svg, *rect);
        }
    }
    // The largest first: they have room inside, so that small ones find some outside.
    let mut order: Vec<usize> = (0..rects.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(lifetimes.tensors[index].size()));
    let mut taken = rects.clone();
    for index in order {
        let tensor = &lifetimes.tensors[index];
        let size = theme::bytes(tensor.size());
        let long = format!("{} {} · {size}", tensor.layer, tensor.name);
        let is_labelled = inner_label(svg, rects[index], [&long, &size]);
        if !is_labelled && tensor.family != Family::Scratch {
            outer_label(svg, rects[index], [&long, &size], scale, &mut taken);
        }
    }
}

/// Diagonal lines in a rectangle.
pub(crate) fn hatch(svg: &mut Svg, rect: Rect) {
    const DISTANCE: f64 = 7.0;
    let mut data = String::new();
    let mut offset = DISTANCE;
    while offset < rect.width + rect.height {
        // From the left or bottom edge up to the top or right edge.
        let (x1, y1) = (f64::max(0.0, offset - rect.height), f64::min(offset, rect.height));
        let (x2, y2) = (f64::min(offset, rect.width), f64::max(0.0, offset - rect.width));
        data += &format!("M{:.1} {:.1}L{:.1} {:.1}", rect.x + x1, rect.y + y1, rect.x + x2, rect.y + y2);
        offset += DISTANCE;
    }
    svg.path(&data, FAINT, 0.6, "");
}

/// Writes the first of the texts that fits inside the rectangle; false if none does.
fn inner_label(svg: &mut Svg, rect: Rect, texts: [&str; 2]) -> bool {
    const PAD: f64 = 8.0;
    let (x, y) = (rect.middle(), rect.y + rect.height / 2.0);
    for text in texts {
        let width = text_width(text, LABEL);
        if width + PAD <= rect.width && LINE + 2.0 <= rect.height {
            svg.text((x, y + 3.2), Anchor::Middle, LABEL, text);
            return true;
        }
        if width + PAD <= rect.height && LINE + 2.0 <= rect.width {
            svg.text_upwards((x + 3.2, y), Anchor::Middle, LABEL, text);
            return true;
        }
    }
    false
}

/// Writes the first of the texts that fits above or below the rectangle, upwards.
fn outer_label(svg: &mut Svg, rect: Rect, texts: [&str; 2], scale: &Scale, taken: &mut Vec<Rect>) {
    let x = rect.middle();
    for text in texts {
        let width = text_width(text, LABEL);
        let above = Rect::new(x - LINE / 2.0, rect.y - 4.0 - width, LINE, width);
        let below = Rect::new(x - LINE / 2.0, rect.bottom() + 4.0, LINE, width);
        for place in [above, below] {
            let is_inside = place.y >= TOP && place.bottom() <= scale.bottom() && place.right() <= scale.right();
            if is_inside && !taken.iter().any(|other| other.overlaps(&place)) {
                taken.push(place);
                // The lines of the scale would run through the text.
                svg.rect(place, 0.0, PAPER, "none", "");
                return svg.text_upwards((x + 3.2, place.bottom()), Anchor::Start, LABEL, text);
            }
        }
    }
}

/// Names of the steps and the layers they belong to; gives the bottom.
fn step_axis(svg: &mut Svg, lifetimes: &Lifetimes, scale: &Scale) -> f64 {
    let bottom = scale.bottom();
    svg.path(&format!("M{LEFT} {bottom:.1}H{:.1}", scale.right()), INK, 1.0, "");
    let is_level = scale.step >= LEVEL_STEP;
    for (index, step) in lifetimes.steps.iter().enumerate() {
        let x = scale.x(index) + scale.step / 2.0;
        if is_level {
            svg.text((x, bottom + 16.0), Anchor::Middle, SMALL, step.name);
        } else {
            svg.text_upwards((x + 3.2, bottom + 7.0), Anchor::End, SMALL, step.name);
        }
    }
    let (names, steps_y) = if is_level { (LEVEL_NAMES, 16.0) } else { (NAMES, 30.0) };
    let y = bottom + names;
    svg.text((LEFT - 8.0, bottom + steps_y), Anchor::End, NOTE, "steps");
    svg.text((LEFT - 8.0, y + 12.0), Anchor::End, NOTE, "layers");
    let mut first = 0;
    for group in lifetimes.steps.chunk_by(|a, b| a.layer == b.layer) {
        let layer = group[0].layer;
        let band = Rect::new(scale.x(first) + 0.5, y, scale.step * group.len() as f64 - 1.0, BAND);
        svg.rect(band, 2.0, "#eef0f2", "none", "");
        svg.text((band.middle(), y + 12.0), Anchor::Middle, SMALL, &layer.to_string());
        first += group.len();
    }
    y + BAND
}
