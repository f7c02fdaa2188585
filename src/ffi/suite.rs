//! The suite of netkit: the models, section by section, whose cases its users count. Programs expect exactly these 89 cases
//! from a folder that holds them, whatever else lies there.

use core::ffi::CStr;

use super::files;

/// Title above the reports, and the one above their totals.
pub(super) const TITLE: &str = "C++ API TESTS";
pub(super) const TOTALS_TITLE: &str = "C++ API SUMMARY";

/// Titles of the sections, and the models in each.
pub(super) const SECTIONS: [(&str, &[&CStr]); 11] = [
    ("MLP TESTS", &[c"models/test_mlp.nk", c"models/mlp_hand.nk"]),
    ("CNN TESTS", &[c"models/test_cnn.nk", c"models/cnn_4x4_single.nk", c"models/cnn_hand.nk"]),
    ("CONVNEXT V2 ATTO BLOCK TESTS", &[c"models/convnextv2_atto_block.nk", c"models/convnextv2_atto.nk"]),
    ("RESNET-18 BASIC BLOCK TESTS", &[c"models/resnet18_basic_block.nk"]),
    ("RESNET-18 TESTS", &[c"models/resnet18.nk"]),
    ("MOBILENETV4 SMALL UIB TESTS", &[c"models/mobilenetv4_small_uib.nk"]),
    (
        "MOBILENETV4 CONV-SMALL TESTS",
        &[
            c"models/mobilenetv4_small.nk",
            c"models/mobilenetv4_small_int8.nk",
            c"models/yolox_mnv4_small.nk",
            c"models/yolox_pafpn_taps.nk",
        ],
    ),
    ("MNIST MLP TESTS", &[c"models/mnist_mlp.nk"]),
    ("MNIST CNN TESTS", &[c"models/mnist_cnn.nk"]),
    (
        "OP MATRIX TESTS",
        &[c"models/op_matrix_mlp.nk", c"models/op_matrix_cnn.nk", c"models/cnn_extended_ops.nk", c"models/deep_mlp.nk"],
    ),
    (
        "ONNX IMPORT EXTENSION TESTS",
        &[
            c"models/import_asym_conv.nk",
            c"models/import_rect_pool.nk",
            c"models/import_matmul_mlp.nk",
            c"models/import_cnn_matmul_head.nk",
            c"models/import_asym_depthwise_conv.nk",
            c"models/import_resnet_basic_block.nk",
            c"models/import_mobilenet_uib.nk",
            c"models/import_mobilenet_uib_skip.nk",
            c"models/import_convnextv2_block.nk",
        ],
    ),
];

/// Whether every model of the suite can be opened.
pub(super) fn is_complete() -> bool {
    SECTIONS.iter().flat_map(|(_, models)| models.iter()).all(|path| files::open(path).is_ok())
}
