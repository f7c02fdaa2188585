"""A synthetic digit task: a small font, drawn large, shifted, dimmed, with noise.

Images are 16x16 with pixels on the k/64 grid between 0 and 1, so that every
machine draws the same ones.
"""

import numpy as np

SIZE, CLASSES = 16, 10

_FONT = (
    ".###. #...# #..## #.#.# ##..# #...# .###.",
    "..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.",
    ".###. #...# ....# ..##. .#... #.... #####",
    "####. ....# ....# .###. ....# ....# ####.",
    "...#. ..##. .#.#. #..#. ##### ...#. ...#.",
    "##### #.... ####. ....# ....# #...# .###.",
    "..##. .#... #.... ####. #...# #...# .###.",
    "##### ....# ...#. ..#.. ..#.. .#... .#...",
    ".###. #...# #...# .###. #...# #...# .###.",
    ".###. #...# #...# .#### ....# ...#. .##..",
)
_GLYPHS = np.array([[[mark == "#" for mark in row] for row in glyph.split()] for glyph in _FONT])


def draw(digit, rng):
    """One image of `digit`, flat, f32."""
    glyph = _GLYPHS[digit].repeat(2, axis=0).repeat(2, axis=1)
    height, width = glyph.shape
    top, left = rng.integer(0, SIZE - height + 1), rng.integer(1, SIZE - width)
    noise = rng.integers(0, 25, (SIZE, SIZE))
    image = noise.copy()
    image[top:top + height, left:left + width] += glyph * rng.integer(24, 37)
    dropped = rng.integers(0, 8, (SIZE, SIZE)) == 0
    image[dropped] = noise[dropped]
    return (image / 64).astype(np.float32).reshape(-1)


def dataset(rng, count):
    """Images (count, 256) and labels, all digits in turn."""
    labels = np.arange(count) % CLASSES
    return np.stack([draw(digit, rng) for digit in labels]), labels
