// CNNs: the four sections of the header that are about them.
//
//     network.rs   handle, create, buffers, run
//     layers.rs    describing simple layers
//     blocks.rs    describing fused blocks
//     yolox.rs     describing heads, feature taps and pyramids

mod blocks;
mod layers;
mod network;
mod yolox;

pub use blocks::*;
pub use layers::*;
pub use network::*;
pub use yolox::*;
