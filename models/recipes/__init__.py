"""Recipes of the committed models, grouped by purpose."""

import zlib

from oracle.prng import Prng

from . import basics, blocks, digits, kinds, layers, quantised, quantised_blocks, quantised_kinds, quantised_layers
from .common import RECIPES

__all__ = ["basics", "blocks", "digits", "kinds", "layers", "quantised", "quantised_blocks", "quantised_kinds",
           "quantised_layers", "build_model", "names"]


def names():
    """All model names in order of definition."""
    return list(RECIPES)


def build_model(name):
    """Build one model; its random numbers depend on its name only."""
    return RECIPES[name](Prng(zlib.crc32(name.encode())))
