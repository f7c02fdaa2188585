# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_netkit_global_optspecs
    string join \n color= h/help V/version
end

function __fish_netkit_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_netkit_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_netkit_using_subcommand
    set -l cmd (__fish_netkit_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c netkit -n "__fish_netkit_needs_command" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_needs_command" -s V -l version -d 'Print version'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "convert" -d 'Turn an ONNX or TensorFlow Lite model into a .nk model with the same answers, and prove it'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "quantize" -d 'Turn a float model into an int8 model, and tell layer by layer what that costs'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "inspect" -d 'Describe a model: layers, memory, tensors'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "run" -d 'Run a model on one or many inputs and print the outputs'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "test" -d 'Run the test cases that models carry'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "bench" -d 'Measure how long a model takes'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "aot" -d 'Turn a model into C source for firmware: code that needs no library, or data for the library'
complete -c netkit -n "__fish_netkit_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c netkit -n "__fish_netkit_using_subcommand convert" -s o -l out -d 'The file to write; default: the model\'s name with .nk' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l input-shape -d 'Shape of an input that the file leaves open: image=1,3,224,224, or only the numbers' -r
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l dim -d 'Extent of a named dimension that the file leaves open: height=224' -r
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l output -d 'Convert up to this tensor instead of the output of the file' -r
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l tolerance -d 'Largest accepted difference, relative to the largest output [default: 1e-4; 1e-3 if approximated; 0 for int8]' -r
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l seed -d 'Start of the random inputs' -r
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l embed-tests -d 'Embed this many test cases with answers of the source model' -r
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l tests -d 'Embed these test cases: arrays inputs, outputs and maybe labels, one case per row' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l report -d 'Form of the report; json has schema netkit.convert/1' -r -f -a "text\t'For people'
json\t'One document'"
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l no-optimize -d 'Keep linear layers in a row apart instead of multiplying them'
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l lower-residual -d 'Compute residual sums that no block has with up to three times the channels'
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l no-verify -d 'Write without comparing with the source model'
complete -c netkit -n "__fish_netkit_using_subcommand convert" -l explain -d 'Tell for each node of the source which layers compute it'
complete -c netkit -n "__fish_netkit_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -s o -l out -d 'The file to write' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l calib -d 'Inputs as the model will see them, one sample per row or image: a folder of PNG images, x.npy, x.npz, x.npz:NAME, x.csv, or @x.f32 for raw little-endian float32; in the order of the .onnx file if MODEL is one, unless --layout says otherwise' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l scale -d 'Multiply input values, such as 0.5 or 1/255; without it 1/255 for images and 1 for all else' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l mean -d 'Then subtract this, one number or one for each channel' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l std -d 'Then divide by this, one number or one for each channel' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l layout -d 'Order of arrays and values [default: nhwc]' -r -f -a "nhwc\t'Height, width, channels: as models take it'
nchw\t'Channels, height, width'"
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l method -d 'How ranges are chosen: minmax, percentile, percentile=99.9 or mse' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l samples -d 'Take this many samples, drawn at random if there are more' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l seed -d 'Start of the random draw' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l labels -d 'Right class of each sample, one number on each line: tells the accuracy of both models' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l embed-tests -d 'Embed the first N samples as test cases with the answers of the int8 model; with --labels, those that it reads correctly' -r
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l per-tensor -d 'One weight scale for each tensor instead of one for each output channel'
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -l json -d 'Print one JSON document (schema netkit.quantize/1)'
complete -c netkit -n "__fish_netkit_using_subcommand quantize" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l svg -d 'Draw the network to this file' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l memory-svg -d 'Draw the plan of the activations to this file: steps against addresses' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l layers -d 'Also show each layer\'s output shape, parameters, MACs and bytes of weights, and their totals'
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l full -d 'Also show the memory that the model needs and the steps of its plan; nothing is run'
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l tensors -d 'Also show header, sections, layers, tensors, quantization and test cases'
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l check -d 'Check the whole model and name everything that is wrong; exit code 1 when something is'
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -l json -d 'Print one JSON document (schema netkit.inspect/1)'
complete -c netkit -n "__fish_netkit_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_using_subcommand run" -s i -l input -d 'Input values: numbers such as 1,2.5,-3e4, or a file: x.npy, x.npz, x.npz:NAME, x.png, or @x.f32 for raw little-endian float32; int8 models quantize them. An array may hold many inputs, which its first axis counts, and the option may be given more than once: a batch, which has as many outputs' -r
complete -c netkit -n "__fish_netkit_using_subcommand run" -l scale -d 'Multiply input values, such as 0.5 or 1/255; without it 1/255 for images and 1 for all else' -r
complete -c netkit -n "__fish_netkit_using_subcommand run" -l mean -d 'Then subtract this, one number or one for each channel' -r
complete -c netkit -n "__fish_netkit_using_subcommand run" -l std -d 'Then divide by this, one number or one for each channel' -r
complete -c netkit -n "__fish_netkit_using_subcommand run" -l layout -d 'Order of arrays and values [default: nhwc]' -r -f -a "nhwc\t'Height, width, channels: as models take it'
nchw\t'Channels, height, width'"
complete -c netkit -n "__fish_netkit_using_subcommand run" -s o -l output -d 'File for the output: y.npy, or @y.f32 for raw little-endian float32' -r
complete -c netkit -n "__fish_netkit_using_subcommand run" -l top -d 'Print the K largest outputs instead of all' -r
complete -c netkit -n "__fish_netkit_using_subcommand run" -l labels -d 'Names of the outputs, one on each line' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand run" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_using_subcommand run" -l raw -d 'Take and give the integers of an int8 model as they are: numbers, x.npy of int8, or @x.i8'
complete -c netkit -n "__fish_netkit_using_subcommand run" -s q -l quiet -d 'Print only the output values, joined with commas, a line for each input'
complete -c netkit -n "__fish_netkit_using_subcommand run" -l json -d 'Print one JSON document (schema netkit.run/1)'
complete -c netkit -n "__fish_netkit_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_using_subcommand test" -l per-layer -d 'Compare the output of each layer with DIR/layer_INDEX.npy or DIR/INDEX_name.npy, for the first test case' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand test" -s i -l input -d 'Take this input instead of the first test case, in any form that `netkit run` takes' -r
complete -c netkit -n "__fish_netkit_using_subcommand test" -l scale -d 'Multiply input values, such as 0.5 or 1/255; without it 1/255 for images and 1 for all else' -r
complete -c netkit -n "__fish_netkit_using_subcommand test" -l mean -d 'Then subtract this, one number or one for each channel' -r
complete -c netkit -n "__fish_netkit_using_subcommand test" -l std -d 'Then divide by this, one number or one for each channel' -r
complete -c netkit -n "__fish_netkit_using_subcommand test" -l layout -d 'Order of arrays and values [default: nhwc]' -r -f -a "nhwc\t'Height, width, channels: as models take it'
nchw\t'Channels, height, width'"
complete -c netkit -n "__fish_netkit_using_subcommand test" -l tolerance -d 'Largest difference of a layer; that of the test section if not given' -r
complete -c netkit -n "__fish_netkit_using_subcommand test" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_using_subcommand test" -s v -l verbose -d 'Print long tensors too; NETKIT_REGRESSION_VERBOSE=1 or 0 decides when neither -v nor -q is given'
complete -c netkit -n "__fish_netkit_using_subcommand test" -l strict -d 'Compare each output of int8 models too, within the file\'s tolerance or one step, not only the class'
complete -c netkit -n "__fish_netkit_using_subcommand test" -s q -l quiet -d 'Print only what failed, and the counts'
complete -c netkit -n "__fish_netkit_using_subcommand test" -l json -d 'Print one JSON document (schema netkit.test/1)'
complete -c netkit -n "__fish_netkit_using_subcommand test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_using_subcommand bench" -l seconds -d 'Measure for this long; 1 without --runs' -r
complete -c netkit -n "__fish_netkit_using_subcommand bench" -l runs -d 'Measure this many runs' -r
complete -c netkit -n "__fish_netkit_using_subcommand bench" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_using_subcommand bench" -l per-layer -d 'Also measure each layer, in as many runs again'
complete -c netkit -n "__fish_netkit_using_subcommand bench" -l in-place -d 'Read weights where they lie in the file, as in an arena without room for packed ones'
complete -c netkit -n "__fish_netkit_using_subcommand bench" -l json -d 'Print one JSON document (schema netkit.bench/1)'
complete -c netkit -n "__fish_netkit_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_using_subcommand aot" -s o -l out -d 'Folder for the files, which is made if it is not there' -r -F
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l mode -d 'What the files hold' -r -f -a "lowered\t'C99 that needs nothing but a compiler'
embed\t'The bytes of the model as an array, and the calls of the library'"
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l name -d 'Begin all names with this instead of the name of the file' -r
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l scratch -d 'Whose memory a lowered network computes in [default: static]' -r -f -a "static\t'An array of its own'
caller\t'The caller hands it over with each run'"
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l color -d 'When to use colors; NO_COLOR=1 in the environment turns them off' -r -f -a "auto\t'On a terminal that can show them'
always\t'Also in pipes and files'
never\t'Never'"
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l with-test -d 'Add the function NAME_selftest, which runs the embedded test cases and returns how many fail'
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l main -d 'Add a program that runs the network once, compiled where NETKIT_AOT_MAIN is defined'
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l arduino -d 'Write a library folder of the Arduino IDE, with a sketch'
complete -c netkit -n "__fish_netkit_using_subcommand aot" -l json -d 'Print one JSON document (schema netkit.aot/1)'
complete -c netkit -n "__fish_netkit_using_subcommand aot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "convert" -d 'Turn an ONNX or TensorFlow Lite model into a .nk model with the same answers, and prove it'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "quantize" -d 'Turn a float model into an int8 model, and tell layer by layer what that costs'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "inspect" -d 'Describe a model: layers, memory, tensors'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "run" -d 'Run a model on one or many inputs and print the outputs'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "test" -d 'Run the test cases that models carry'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "bench" -d 'Measure how long a model takes'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "aot" -d 'Turn a model into C source for firmware: code that needs no library, or data for the library'
complete -c netkit -n "__fish_netkit_using_subcommand help; and not __fish_seen_subcommand_from convert quantize inspect run test bench aot help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
