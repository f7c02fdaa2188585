//! Drawings in SVG.
//!
//! ```text
//! network.rs   the network as boxes; boxes.rs: their words, columns.rs: their columns
//! memory.rs    the activations: steps against addresses
//! lifetimes.rs where each tensor lies, and how long
//! legend.rs    what colors and signs mean
//! theme.rs     fonts, colors, number formats
//! svg.rs       writing SVG
//! ```

mod boxes;
mod columns;
mod legend;
mod lifetimes;
pub(crate) mod memory;
pub(crate) mod network;
mod svg;
mod theme;
