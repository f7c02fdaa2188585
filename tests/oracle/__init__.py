"""Independent numpy oracle for `.nk` neural-network files.

The oracle shares no code with the Rust library.  It reads and writes the
container, checks it strictly, and executes float and int8 networks, so that
expected values in the committed models and in random tests come from a second
implementation of the same rules.

Modules
    records     layer records: constants, binary layout, constructors
    geometry    window geometry: padding bytes, output sizes, block strides
    plan        shape walk and strict validation
    container   the file format: parser and writer
    build       putting models together layer by layer
    stable      sums, exp and tanh that give the same bits on every machine
    float_ops   float operators (f64 inside, f32 between operators)
    float_net   float executor, all 14 layer kinds
    int8_ops    integer operators (bit-exact)
    int8_softmax  integer softmax (bit-exact)
    int8_tables  sigmoid, tanh and leaky ReLU as tables (bit-exact)
    int8_net    int8 executor
    quantize    post-training quantisation of a float model
    cases       embedded test cases: running, making, comparing
    prng        SplitMix64
    synth       random valid float models
    synth_int8  random valid int8 models
"""
