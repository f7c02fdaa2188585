"""Makes the small models of this folder and the answers of TensorFlow Lite Micro.

    python3 generate.py        # needs tflite-micro, ai-edge-litert, flatbuffers and numpy

NAME.tflite with NAME.x.npy and NAME.y.npy, some inputs and their outputs, must convert and compute the same: int8 to the bit.
refused_NAME has no exact form. Heights, widths and channels all differ, so that a wrong order cannot pass by luck.
"""
import blocks  # noqa: F401: each of these modules registers its models
import floats  # noqa: F401
import integers  # noqa: F401
import refused  # noqa: F401
from net import FOLDER, MODELS, Net


def main():
    for old in [*FOLDER.glob("*.tflite"), *FOLDER.glob("*.npy")]:
        old.unlink()
    for fill, shape, options in MODELS:
        net = Net(fill.__name__, shape, **options)
        fill(net)
        net.save()
    total = sum(path.stat().st_size for path in FOLDER.iterdir() if path.suffix in (".tflite", ".npy"))
    print(f"{len(MODELS)} models, {total} bytes")


if __name__ == "__main__":
    main()
