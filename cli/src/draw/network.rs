//! The network as boxes: one for each layer from the input to the output, with the shapes on the arrows between them.

use netkit::Model;
use netkit::format::TensorEntry;

use super::boxes::{self, Words};
use super::columns;
use super::legend::{self, Entry};
use super::svg::{Anchor, Font, Rect, Svg, text_width};
use super::theme::{self, FAINT, Family, INK, PAPER, SMALL, SOFT_INK, SUBTITLE, TITLE};
use crate::inspect::facts::{Document, Layer};

const MARGIN: f64 = 36.0;
/// From the top of the page to the first box.
const HEAD: f64 = 122.0;
/// Between the boxes of a column: room for an arrow and the sum of a residual.
const GAP: f64 = 42.0;
/// Between columns, with the arc of a residual and the arrow to the next column.
const GUTTER: f64 = 58.0;
/// Colored strip with the layer's index.
const STRIP: f64 = 26.0;
const PAD: f64 = 9.0;
const ROW: f64 = 15.0;
const RADIUS: f64 = 4.0;
/// From a box to the arc of its residual.
const ARC: f64 = 15.0;
/// Radius of the sign of a sum.
const SUM: f64 = 6.0;

const OPERATION: Font = Font::bold(12.0, INK);
const INNER: Font = Font::new(10.0, INK);
const INDEX: Font = Font::bold(10.5, PAPER);

/// A box of the drawing.
struct Node {
    /// Index of the layer; none for input and output.
    layer: Option<usize>,
    words: Words,
    /// Parameters and multiply-accumulates.
    costs: String,
    /// Shape of what leaves the box.
    output: String,
    /// Whether what leaves is never stored: the next layer is computed along with this one.
    is_merged: bool,
}

/// The drawing of a model; `document` tells what is known about it.
pub(crate) fn draw(model: &Model<'_>, document: &Document) -> String {
    let nodes = nodes(model, document);
    let width = nodes.iter().map(Node::width).fold(150.0, f64::max).ceil();
    let heights: Vec<f64> = nodes.iter().map(|node| node.height() + GAP).collect();
    let families: Vec<Family> =
        nodes.iter().filter(|node| node.layer.is_some()).map(|node| node.words.family).collect();
    let columns = columns::cut(&heights, width + GUTTER, (2.0 * MARGIN, HEAD + MARGIN));
    let mut svg = Svg::new();
    let mut bottom = 0.0;
    let mut places = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let x = MARGIN + index as f64 * (width + GUTTER);
        let mut y = HEAD;
        for node in &nodes[column.clone()] {
            places.push(Rect::new(x, y, width, node.height()));
            y += node.height() + GAP;
        }
        bottom = f64::max(bottom, y);
    }
    let subtitle = subtitle(document);
    let boxes_width = columns.len() as f64 * (width + GUTTER) - GUTTER + 2.0 * MARGIN + ARC;
    let page_width = [text_width(&subtitle, SUBTITLE) + 2.0 * MARGIN, text_width(&document.name, TITLE) + 2.0 * MARGIN]
        .into_iter()
        .fold(boxes_width, f64::max);
    svg.text((MARGIN, 44.0), Anchor::Start, TITLE, &document.name);
    svg.text((MARGIN, 64.0), Anchor::Start, SUBTITLE, &subtitle);
    for (index, pair) in places.windows(2).enumerate() {
        arrow(&mut svg, &nodes[index], pair[0], pair[1]);
    }
    for (node, place) in nodes.iter().zip(&places) {
        node.draw(&mut svg, *place);
    }
    let mut entries: Vec<Entry> =
        Family::ALL.into_iter().filter(|family| families.contains(family)).map(Entry::Family).collect();
    if nodes.iter().any(|node| node.words.has_residual) {
        entries.push(Entry::Residual);
    }
    if nodes.iter().any(|node| node.is_merged) {
        entries.push(Entry::Merged);
    }
    let height = legend::draw(&mut svg, &entries, (MARGIN, bottom), page_width - MARGIN) + MARGIN;
    svg.finish(page_width, height, &document.name)
}

fn subtitle(document: &Document) -> String {
    let kind = if document.quantized { "int8" } else { "float32" };
    let memory = &document.memory;
    let parts = [
        Some(format!("{} parameters", theme::count(document.parameter_count))),
        memory.macs.map(|macs| format!("{} MACs", theme::count(macs))),
        Some(format!("{} of {kind} weights", theme::bytes(memory.flash_bytes as u64))),
        memory.arena_bytes.map(|arena| format!("{} arena", theme::bytes(arena as u64))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ·  ")
}

/// Input, layers, output.
fn nodes(model: &Model<'_>, document: &Document) -> Vec<Node> {
    let shape = |dims: Option<&[u32]>| dims.map_or("?".to_owned(), theme::shape);
    let mut nodes = vec![Node::end("Input", shape(Some(&document.input_shape)))];
    let mut weights = 0;
    for (record, facts) in model.layers().zip(&document.layers) {
        let first = model.weight_tensors().nth(weights).map(|tensor| tensor.entry);
        weights += facts.tensor_pairs.unwrap_or(0) as usize;
        nodes.push(Node::layer(&record.layer, facts, first.as_ref()));
    }
    nodes.push(Node::end("Output", shape(document.output_shape.as_deref())));
    nodes
}

impl Node {
    fn layer(record: &netkit::format::Layer, facts: &Layer, weights: Option<&TensorEntry>) -> Self {
        let costs = [
            facts.parameter_count.filter(|&count| count > 0).map(|count| format!("{} parameters", theme::count(count))),
            facts.macs.filter(|&macs| macs > 0).map(|macs| format!("{} MACs", theme::count(macs))),
        ];
        Self {
            layer: Some(facts.index),
            words: boxes::words(record, weights),
            costs: costs.into_iter().flatten().collect::<Vec<_>>().join("  ·  "),
            output: facts.output_shape.as_deref().map_or("?".to_owned(), theme::shape),
            is_merged: facts.merges_next,
        }
    }

    fn end(title: &str, output: String) -> Self {
        let words =
            Words { family: Family::Shape, title: title.to_owned(), aside: "", inner: Vec::new(), has_residual: false };
        Self { layer: None, words, costs: String::new(), output, is_merged: false }
    }

    fn width(&self) -> f64 {
        let line = |left: f64, aside: &str| left + if aside.is_empty() { 0.0 } else { 14.0 + text_width(aside, SMALL) };
        let inner = self.words.inner.iter().map(|(text, aside)| line(text_width(text, INNER), aside));
        let rows = [line(text_width(&self.words.title, OPERATION), self.words.aside), text_width(&self.costs, SMALL)];
        STRIP + 2.0 * PAD + inner.chain(rows).fold(0.0, f64::max)
    }

    fn height(&self) -> f64 {
        if self.layer.is_none() {
            return 26.0;
        }
        let inner = if self.words.inner.is_empty() { 0.0 } else { 7.0 + ROW * self.words.inner.len() as f64 };
        let costs = if self.costs.is_empty() { 0.0 } else { ROW };
        26.0 + costs + inner + if inner > 0.0 || costs > 0.0 { 4.0 } else { 0.0 }
    }

    fn draw(&self, svg: &mut Svg, place: Rect) {
        let family = self.words.family;
        let Some(index) = self.layer else {
            svg.rect(place, place.height / 2.0, PAPER, SOFT_INK, "");
            let text = format!("{}  {}", self.words.title, self.output);
            return svg.text((place.middle(), place.y + 17.0), Anchor::Middle, Font::new(11.0, INK), &text);
        };
        svg.rect(place, RADIUS, family.tint(), family.line(), "");
        svg.fill(&strip(place), family.line());
        svg.text((place.x + STRIP / 2.0, place.y + 17.5), Anchor::Middle, INDEX, &index.to_string());
        let (left, right) = (place.x + STRIP + PAD, place.right() - PAD);
        let aside = Font::new(SMALL.size, family.line());
        let mut y = place.y + 18.0;
        svg.text((left, y), Anchor::Start, OPERATION, &self.words.title);
        svg.text((right, y), Anchor::End, aside, self.words.aside);
        if !self.costs.is_empty() {
            y += ROW;
            svg.text((left, y), Anchor::Start, SMALL, &self.costs);
        }
        if !self.words.inner.is_empty() {
            let rule = format!("M{left:.1} {:.1}H{right:.1}", y + 7.5);
            svg.path(&rule, family.line(), 0.6, r#"stroke-opacity="0.45""#);
            y += 7.0;
        }
        for (text, remark) in &self.words.inner {
            y += ROW;
            svg.text((left, y), Anchor::Start, INNER, text);
            svg.text((right, y), Anchor::End, aside, remark);
        }
        if self.words.has_residual {
            residual(svg, place, family.line());
        }
    }
}

/// The colored left edge of a box.
fn strip(place: Rect) -> String {
    let (x, y, bottom, r) = (place.x, place.y, place.bottom(), RADIUS);
    format!(
        "M{:.1} {y:.1}H{:.1}V{bottom:.1}H{:.1}a{r} {r} 0 0 1 -{r} -{r}V{:.1}a{r} {r} 0 0 1 {r} -{r}z",
        x + r,
        x + STRIP,
        x + r,
        y + r
    )
}

/// The way around a block, from the arrow into it to the sum behind it.
fn residual(svg: &mut Svg, place: Rect, color: &str) {
    let (x, right) = (place.middle(), place.right() + ARC);
    let (from, to, r) = (place.y - 13.0, place.bottom() + 11.0, 8.0);
    let way = format!(
        "M{x:.1} {from:.1}H{:.1}a{r} {r} 0 0 1 {r} {r}V{:.1}a{r} {r} 0 0 1 -{r} {r}H{:.1}",
        right - r,
        to - r,
        x + SUM + 5.0
    );
    svg.path(&way, color, 1.2, "");
    svg.fill(&format!("M{:.1} {to:.1}l6 -3v6z", x + SUM), color);
    svg.fill(&format!("M{x:.1} {from:.1}m-2.2 0a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0 -4.4 0"), color);
    svg.rect(Rect::new(x - SUM, to - SUM, 2.0 * SUM, 2.0 * SUM), SUM, PAPER, color, "");
    svg.path(&format!("M{:.1} {to:.1}h7M{x:.1} {:.1}v7", x - 3.5, to - 3.5), color, 1.2, "");
}

/// The arrow from one box to the next, with the shape of what flows.
fn arrow(svg: &mut Svg, from: &Node, start: Rect, end: Rect) {
    let (x, y) = (start.middle(), start.bottom());
    let (to_x, to_y) = (end.middle(), end.y);
    let dash = if from.is_merged { r#"stroke-dasharray="3 2.5""# } else { "" };
    let is_same_column = start.x == end.x;
    let data = if is_same_column {
        format!("M{x:.1} {y:.1}V{:.1}", to_y - 5.0)
    } else {
        let (down, gutter, up, r) = (y + GAP - 14.0, end.x - 20.0, to_y - GAP + 10.0, 6.0);
        format!(
            "M{x:.1} {y:.1}V{:.1}a{r} {r} 0 0 0 {r} {r}H{:.1}a{r} {r} 0 0 0 {r} -{r}V{:.1}a{r} {r} 0 0 1 {r} -{r}H{:.1}a{r} {r} 0 0 1 {r} {r}V{:.1}",
            down - r,
            gutter - r,
            up + r,
            to_x - r,
            to_y - 5.0
        )
    };
    svg.path(&data, INK, 1.1, dash);
    svg.fill(&format!("M{to_x:.1} {to_y:.1}l-3.5 -7h7z"), INK);
    if from.layer.is_some() {
        // Residuals pass on the right.
        svg.text((to_x - 9.0, to_y - GAP / 2.0 + 7.0), Anchor::End, SMALL, &from.output);
    }
}

/// A thin line across the page.
pub(crate) fn rule(svg: &mut Svg, left: f64, right: f64, y: f64) {
    svg.path(&format!("M{left:.1} {y:.1}H{right:.1}"), FAINT, 0.8, "");
}
