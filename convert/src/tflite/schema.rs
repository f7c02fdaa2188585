//! The tables of a TensorFlow Lite file that are read, as FlatBuffers: field numbers and types of the public schema.
//!
//! A file is only looked into after the verifier has followed every offset that these declarations name.

use flatbuffers::{
    Follow, ForwardsUOffset, InvalidFlatbuffer, Table, VOffsetT, Vector, Verifiable, Verifier, VerifierOptions,
};

/// First bytes behind the offset of the root table.
const IDENTIFIER: &[u8] = b"TFL3";
/// How often the tables of a file may refer to the same bytes, on average.
const MOST_SHARING: usize = 8;
/// Bytes by which even a small file may exceed that.
const SHARING_BASE: usize = 1 << 20;

/// Place of a field's offset in a vtable.
const fn slot(field: VOffsetT) -> VOffsetT {
    4 + 2 * field
}

/// Declares a table: fields with their numbers and types. A field that is absent is `None`.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty = $number:literal,)* } $(options $tag:literal $value:literal)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'f>(Table<'f>);

        impl<'f> Follow<'f> for $name<'f> {
            type Inner = Self;

            unsafe fn follow(file: &'f [u8], at: usize) -> Self {
                // SAFETY: the caller promises that a valid table lies there.
                Self(unsafe { Table::new(file, at) })
            }
        }

        impl<'f> Verifiable for $name<'f> {
            fn run_verifier(verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                verifier
                    .visit_table(at)?
                    $(.visit_field::<$kind>(stringify!($field), slot($number), false)?)*
                    $(.visit_union::<u8, _>("type", slot($tag), "value", slot($value), false, verify_options)?)?
                    .finish();
                Ok(())
            }
        }

        impl<'f> $name<'f> {
            $(
                pub fn $field(&self) -> Option<<$kind as Follow<'f>>::Inner> {
                    // SAFETY: the verifier has checked this field as this type, since tables come from `root` only.
                    unsafe { self.0.get::<$kind>(slot($number), None) }
                }
            )*
        }
    };
}

type Numbers<'f, T> = ForwardsUOffset<Vector<'f, T>>;
type Tables<'f, T> = ForwardsUOffset<Vector<'f, ForwardsUOffset<T>>>;
type Text<'f> = ForwardsUOffset<&'f str>;

table! {
    /// The root.
    Model {
        version: u32 = 0,
        operator_codes: Tables<'f, OperatorCode<'f>> = 1,
        subgraphs: Tables<'f, SubGraph<'f>> = 2,
        description: Text<'f> = 3,
        buffers: Tables<'f, Buffer<'f>> = 4,
    }
}

table! {
    /// An operation that operators refer to by its index.
    OperatorCode {
        deprecated_builtin_code: i8 = 0,
        custom_code: Text<'f> = 1,
        builtin_code: i32 = 3,
    }
}

table! {
    /// A graph.
    SubGraph {
        tensors: Tables<'f, Tensor<'f>> = 0,
        inputs: Numbers<'f, i32> = 1,
        outputs: Numbers<'f, i32> = 2,
        operators: Tables<'f, Operator<'f>> = 3,
    }
}

table! {
    /// A tensor: constant if its buffer has bytes.
    Tensor {
        shape: Numbers<'f, i32> = 0,
        element_type: i8 = 1,
        buffer: u32 = 2,
        name: Text<'f> = 3,
        quantization: ForwardsUOffset<Quantization<'f>> = 4,
        // The offset of a table of which only the presence counts.
        sparsity: u32 = 6,
    }
}

table! {
    /// Scales and zero points, one of each or one for each index of a dimension.
    Quantization {
        scale: Numbers<'f, f32> = 2,
        zero_point: Numbers<'f, i64> = 3,
        dimension: i32 = 6,
    }
}

table! {
    /// An operation on tensors.
    Operator {
        code: u32 = 0,
        inputs: Numbers<'f, i32> = 1,
        outputs: Numbers<'f, i32> = 2,
        options_type: u8 = 3,
    }
    options 3 4
}

table! {
    /// Bytes of constants.
    Buffer {
        data: Numbers<'f, u8> = 0,
        offset: u64 = 1,
    }
}

table! {
    /// Of CONV_2D.
    Conv2dOptions {
        padding: i8 = 0,
        stride_w: i32 = 1,
        stride_h: i32 = 2,
        activation: i8 = 3,
        dilation_w: i32 = 4,
        dilation_h: i32 = 5,
    }
}

table! {
    /// Of DEPTHWISE_CONV_2D.
    DepthwiseConv2dOptions {
        padding: i8 = 0,
        stride_w: i32 = 1,
        stride_h: i32 = 2,
        activation: i8 = 4,
        dilation_w: i32 = 5,
        dilation_h: i32 = 6,
    }
}

table! {
    /// Of AVERAGE_POOL_2D and MAX_POOL_2D.
    Pool2dOptions {
        padding: i8 = 0,
        stride_w: i32 = 1,
        stride_h: i32 = 2,
        filter_w: i32 = 3,
        filter_h: i32 = 4,
        activation: i8 = 5,
    }
}

table! {
    /// Of FULLY_CONNECTED.
    FullyConnectedOptions {
        activation: i8 = 0,
        weights_format: i8 = 1,
    }
}

table! {
    /// Of SOFTMAX.
    SoftmaxOptions {
        beta: f32 = 0,
    }
}

table! {
    /// Of ADD.
    AddOptions {
        activation: i8 = 0,
    }
}

table! {
    /// Of LEAKY_RELU.
    LeakyReluOptions {
        alpha: f32 = 0,
    }
}

/// Options of an operator, by the numbers of the union.
#[derive(Clone, Copy, Debug)]
pub enum Options<'f> {
    /// 1.
    Conv2d(Conv2dOptions<'f>),
    /// 2.
    DepthwiseConv2d(DepthwiseConv2dOptions<'f>),
    /// 5.
    Pool2d(Pool2dOptions<'f>),
    /// 8.
    FullyConnected(FullyConnectedOptions<'f>),
    /// 9.
    Softmax(SoftmaxOptions<'f>),
    /// 11.
    Add(AddOptions<'f>),
    /// 75.
    LeakyRelu(LeakyReluOptions<'f>),
    /// Of operators that are refused or whose options say nothing that counts.
    Other,
}

/// Field of the options in an operator.
const OPTIONS: VOffsetT = slot(4);

fn verify_options(kind: u8, verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
    match kind {
        1 => ForwardsUOffset::<Conv2dOptions<'_>>::run_verifier(verifier, at),
        2 => ForwardsUOffset::<DepthwiseConv2dOptions<'_>>::run_verifier(verifier, at),
        5 => ForwardsUOffset::<Pool2dOptions<'_>>::run_verifier(verifier, at),
        8 => ForwardsUOffset::<FullyConnectedOptions<'_>>::run_verifier(verifier, at),
        9 => ForwardsUOffset::<SoftmaxOptions<'_>>::run_verifier(verifier, at),
        11 => ForwardsUOffset::<AddOptions<'_>>::run_verifier(verifier, at),
        75 => ForwardsUOffset::<LeakyReluOptions<'_>>::run_verifier(verifier, at),
        _ => Ok(()),
    }
}

impl<'f> Operator<'f> {
    /// The options.
    pub fn options(&self) -> Options<'f> {
        macro_rules! read {
            ($variant:ident, $table:ident) => {
                // SAFETY: `verify_options` has checked the field as the table of this number.
                match unsafe { self.0.get::<ForwardsUOffset<$table<'f>>>(OPTIONS, None) } {
                    Some(options) => Options::$variant(options),
                    None => Options::Other,
                }
            };
        }
        match self.options_type().unwrap_or(0) {
            1 => read!(Conv2d, Conv2dOptions),
            2 => read!(DepthwiseConv2d, DepthwiseConv2dOptions),
            5 => read!(Pool2d, Pool2dOptions),
            8 => read!(FullyConnected, FullyConnectedOptions),
            9 => read!(Softmax, SoftmaxOptions),
            11 => read!(Add, AddOptions),
            75 => read!(LeakyRelu, LeakyReluOptions),
            _ => Options::Other,
        }
    }
}

/// The root of a file, once everything that is declared here has been verified.
pub fn root(file: &[u8]) -> Result<Model<'_>, String> {
    if file.get(4..8) != Some(IDENTIFIER) {
        return Err("bytes 4 to 7 are not TFL3".into());
    }
    let options = VerifierOptions {
        max_tables: file.len() / 4,
        max_apparent_size: file.len().saturating_mul(MOST_SHARING).saturating_add(SHARING_BASE),
        ignore_missing_null_terminator: true,
        ..VerifierOptions::default()
    };
    flatbuffers::root_with_opts::<Model<'_>>(&options, file).map_err(|error| error.to_string())
}
