//! The fields of layer records by name, for text and JSON.

use netkit::format::records::{ActivationCode, ChannelsEps, Pool2d};
use netkit::format::{Header, Layer, NETWORK_MLP};
use netkit::tensor::{Padding, Shape};
use netkit::text::General;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Value of a field.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Field {
    Count(u32),
    Real(f32),
    Name(&'static str),
    List(Vec<u32>),
}

/// Fields in the order of the record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields(Vec<(&'static str, Field)>);

impl Fields {
    /// The fields of a record, as far as they say something.
    pub(crate) fn of(layer: &Layer) -> Self {
        use Field::{Count, Real};
        let byte = |value: u8| Count(u32::from(value));
        Self(match layer {
            Layer::Flatten => vec![],
            Layer::Dense(r) => [vec![("units", Count(r.units))], activation(r.activation, r.alpha)].concat(),
            Layer::Conv2d(r) => [
                vec![("kernel", Count(r.kernel_size)), ("stride", Count(r.stride)), ("filters", Count(r.filters))],
                vec![("pads", pads(r.pads()))],
                activation(r.activation, r.alpha),
            ]
            .concat(),
            Layer::DepthwiseConv2d(r) => [
                vec![("kernel_h", Count(r.kernel_h)), ("kernel_w_byte", byte(r.kernel_w))],
                vec![("stride", Count(r.stride)), ("channels", Count(r.channels))],
                vec![("pad_top", byte(r.pad_h)), ("pad_left", byte(r.pad_w))],
                activation(r.activation, r.alpha),
            ]
            .concat(),
            Layer::MaxPool2d(r) | Layer::AvgPool2d(r) => pool(r),
            Layer::BatchNorm2d(r) => vec![("channels", Count(r.channels))],
            Layer::ConvNextV2Block(ChannelsEps { channels, eps })
            | Layer::LayerNorm2d(ChannelsEps { channels, eps }) => {
                vec![("channels", Count(*channels)), ("eps", Real(*eps))]
            }
            Layer::MobilenetV4Uib(r) => vec![
                ("in_channels", Count(r.in_channels)),
                ("out_channels", Count(r.out_channels)),
                ("start_dw_kernel", byte(r.start_dw_kernel)),
                ("middle_dw_kernel", byte(r.middle_dw_kernel)),
                ("stride", byte(r.stride)),
                ("middle_dw_downsample", byte(r.middle_dw_downsample)),
                ("expand_ratio", Real(r.expand_ratio)),
            ],
            Layer::ResnetBasicBlock(r) => vec![
                ("in_channels", Count(r.in_channels)),
                ("out_channels", Count(r.out_channels)),
                ("stride", byte(r.stride)),
            ],
            Layer::YoloxDecoupledHead(r) => vec![
                ("in_channels", Count(r.in_channels)),
                ("hidden_dim", Count(r.hidden_dim)),
                ("num_classes", Count(r.num_classes)),
                ("num_convs", byte(r.num_convs)),
            ],
            Layer::FeatureTap(r) => vec![("channels", Count(r.channels)), ("tap_id", byte(r.tap_id))],
            Layer::YoloxPafpnMultiscale(r) => vec![
                ("c3_channels", Count(r.c3_channels)),
                ("c4_channels", Count(r.c4_channels)),
                ("c5_channels", Count(r.c5_channels)),
                ("hidden_dim", Count(r.hidden_dim)),
                ("num_classes", Count(r.num_classes)),
                ("num_convs", byte(r.num_convs)),
            ],
        })
    }
}

fn pool(record: &Pool2d) -> Vec<(&'static str, Field)> {
    let (height, width) = record.pool();
    vec![
        ("pool", Field::List(vec![height, width])),
        ("stride", Field::Count(record.stride)),
        ("pads", pads(record.pads())),
    ]
}

/// Top, left, bottom, right.
fn pads(pads: Padding) -> Field {
    Field::List(vec![pads.top, pads.left, pads.bottom, pads.right])
}

fn activation(code: ActivationCode, alpha: f32) -> Vec<(&'static str, Field)> {
    let mut fields = vec![("activation", Field::Name(code.name()))];
    if code == ActivationCode::LEAKY_RELU {
        fields.push(("alpha", Field::Real(alpha)));
    }
    fields
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl std::fmt::Display for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            match value {
                Field::Count(value) => write!(f, "{space}{name}={value}")?,
                Field::Real(value) => write!(f, "{space}{name}={}", General(*value))?,
                Field::Name(value) => write!(f, "{space}{name}={value}")?,
                Field::List(values) => {
                    let values: Vec<String> = values.iter().map(u32::to_string).collect();
                    write!(f, "{space}{name}={}", values.join(","))?;
                }
            }
        }
        Ok(())
    }
}

/// Shape of the input; `None` for a header whose rank no network kind has.
pub(crate) fn input_shape(header: &Header) -> Option<Shape> {
    let [a, b, c, _] = header.input_shape;
    let shape = match (header.network, header.input_rank) {
        (NETWORK_MLP, 2) => Shape::rows(a, b),
        (_, 3) => Shape::map(a, b, c),
        _ => return None,
    };
    shape.elements().is_ok().then_some(shape)
}
