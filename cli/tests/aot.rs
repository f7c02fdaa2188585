//! `netkit aot`: what it writes and tells. Whether the C computes the right thing is tested where it is made.

mod common;

use common::{json, netkit, stdout};

#[test]
fn the_report_tells_files_and_costs() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("new/folder");
    let target = target.to_str().expect("UTF-8");
    let text = stdout(&format!("aot models/digits_cnn_int8.nk -o {target}"));
    for part in ["digits_cnn_int8_aot.h", "digits_cnn_int8_aot.c", "conv2d", "flash:", "RAM:", "MACs:"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let report = json(&format!("aot models/digits_cnn_int8.nk -o {target} --with-test --json"));
    assert_eq!(report["schema"], "netkit.aot/1");
    let files = report["files"].as_array().expect("files");
    assert_eq!(files.len(), 2);
    for file in files {
        let bytes = std::fs::metadata(file["path"].as_str().expect("a path")).expect("the file is there").len();
        assert_eq!(file["bytes"], bytes);
    }
    let layers = report["layers"].as_array().expect("layers");
    let sum = |field: &str| layers.iter().map(|layer| layer[field].as_u64().expect("a number")).sum::<u64>();
    assert_eq!(report["macs"], sum("macs"));
    // The test cases are no layer.
    assert!(report["flash_bytes"].as_u64().expect("a number") > sum("flash_bytes"));
    let inspected = json("inspect models/digits_cnn_int8.nk --full --json");
    assert_eq!(report["macs"], inspected["macs"]);
    // The C needs no scratch memory and no plan in RAM.
    assert!(report["ram_bytes"].as_u64() < inspected["activation_bytes"].as_u64());
}

#[test]
fn names_and_modes_are_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().to_str().expect("UTF-8");
    stdout(&format!("aot models/test_mlp.nk -o {target} --mode embed --name first_net"));
    let header = std::fs::read_to_string(folder.path().join("first_net_aot.h")).expect("the header");
    assert!(header.contains("#define FIRST_NET_AOT_LOWERED 0"), "{header}");
    stdout(&format!("aot models/test_mlp.nk -o {target} --scratch caller --main"));
    let header = std::fs::read_to_string(folder.path().join("test_mlp_aot.h")).expect("the header");
    assert!(
        header.contains("void test_mlp_aot_run(test_mlp_aot_scratch_t *scratch, const float *input, float *output);")
    );
    stdout(&format!("aot models/test_mlp.nk -o {target} --arduino"));
    assert!(folder.path().join("test_mlp_aot/library.properties").is_file());
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().to_str().expect("UTF-8");
    let fails = |arguments: &str, code: i32, text: &str| {
        netkit(arguments).assert().code(code).stdout("").stderr(text.to_owned());
    };
    fails(
        &format!("aot models/test_mlp.nk -o {target} --name 2nd"),
        2,
        "netkit: --name: `2nd` is not a name in C: it must be letters, digits and underscores, and not begin with a \
         digit\n  hint: see `netkit help aot`\n",
    );
    fails(
        &format!("aot models/test_mlp.nk -o {target} --mode embed --arduino --scratch static"),
        2,
        "netkit: --scratch and --arduino cannot be used with --mode embed\n  hint: see `netkit help aot`\n",
    );
    // A folder cannot be made where a file is.
    fails(
        "aot models/test_mlp.nk -o models/test_mlp.nk/out",
        3,
        "netkit: models/test_mlp.nk/out: cannot make the folder: Not a directory (os error 20)\n",
    );
    // A file cannot be written where a folder is.
    std::fs::create_dir(folder.path().join("test_mlp_aot.h")).expect("a folder");
    let output = netkit(&format!("aot models/test_mlp.nk -o {target}")).assert().code(3).get_output().clone();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("test_mlp_aot.h: cannot write the source: Is a directory"), "{text}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("readable").collect();
    assert_eq!(left.len(), 1, "an unfinished file is left: {left:?}");
}

#[test]
fn a_model_without_cases_has_no_self_test() {
    let mut bytes = common::model("test_mlp.nk");
    let folder = tempfile::tempdir().expect("a folder");
    // Header flags, and the file up to the test section.
    bytes[10] = 0;
    let cases = bytes.windows(4).position(|window| window == b"TCAS").expect("cases");
    bytes.truncate(cases);
    let path = folder.path().join("bare.nk");
    std::fs::write(&path, bytes).expect("written");
    let (path, target) = (path.display(), folder.path().display());
    let failure = netkit(&format!("aot {path} -o {target} --with-test")).assert().code(3).get_output().clone();
    let text = String::from_utf8_lossy(&failure.stderr).into_owned();
    assert!(
        text.contains("a self-test needs test cases, and the model has none\n  hint: leave out --with-test"),
        "{text}"
    );
    stdout(&format!("aot {path} -o {target}"));
}
