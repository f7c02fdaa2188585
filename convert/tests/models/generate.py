"""Makes the small models of this folder and onnxruntime's answers, in the classes that converters get wrong.

    python3 generate.py        # needs onnx, onnxruntime and numpy

NAME.onnx, some with their weights in NAME.data, with NAME.x.npy and NAME.y.npy must convert and compute the same; residual_NAME needs more channels for its residual
sums; refused_NAME has no exact form. Heights, widths and channels all differ, so that a wrong order cannot pass by luck.
"""
import blocks  # noqa: F401: each of these modules registers its models
import layouts  # noqa: F401
import refused  # noqa: F401
import rows  # noqa: F401
import windows  # noqa: F401
from net import FOLDER, MODELS, Net


def main():
    for old in [*FOLDER.glob("*.onnx"), *FOLDER.glob("*.npy"), *FOLDER.glob("*.data")]:
        old.unlink()
    for fill, shape, options in MODELS:
        net = Net(fill.__name__, shape, **options)
        fill(net)
        net.save()
    total = sum(path.stat().st_size for path in FOLDER.iterdir() if path.suffix in (".onnx", ".npy"))
    print(f"{len(MODELS)} models, {total} bytes")


if __name__ == "__main__":
    main()
