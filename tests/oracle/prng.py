"""SplitMix64: a tiny random generator with the same output everywhere."""

import numpy as np

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


class Prng:
    """Draws arrays; the state is a plain counter."""

    def __init__(self, seed):
        self._seed = np.uint64(seed)
        self._drawn = 0

    def words(self, count):
        """`count` 64-bit words."""
        index = np.arange(self._drawn + 1, self._drawn + 1 + count, dtype=np.uint64)
        self._drawn += count
        z = self._seed + index * _STEP
        z = (z ^ z >> np.uint64(30)) * _MIX1
        z = (z ^ z >> np.uint64(27)) * _MIX2
        return z ^ z >> np.uint64(31)

    def integers(self, low, high, shape=()):
        """Integers low <= k < high."""
        count = int(np.prod(shape, dtype=np.int64))
        span = np.uint64(high - low)
        values = (self.words(count) >> np.uint64(16)) % span
        return values.astype(np.int64).reshape(shape) + low

    def integer(self, low, high):
        return int(self.integers(low, high))

    def choice(self, items):
        return items[self.integer(0, len(items))]

    def chance(self, probability):
        return self.integer(0, 1 << 20) < probability * (1 << 20)

    def grid(self, low, high, shape, steps=64):
        """f32 multiples of 1/steps with low <= value <= high."""
        return (self.integers(round(low * steps), round(high * steps) + 1, shape) / steps).astype(np.float32)

    def uniform(self, low, high, shape):
        """f32 values of full precision."""
        count = int(np.prod(shape, dtype=np.int64))
        unit = (self.words(count) >> np.uint64(11)).astype(np.float64) / float(1 << 53)
        return (low + (high - low) * unit).reshape(shape).astype(np.float32)
