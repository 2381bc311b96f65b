"""The colours of classes stay apart for every common kind of colour vision, in both themes."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from dgb.pages import read_part

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISIONS: dict[str, Any] = {
    "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = [0.9505, 1.0, 1.089]


def palette(theme: str) -> Any:
    """Return the colours of the page's script as linear RGB."""
    (text,) = re.findall(rf"PALETTE = \{{.*?{theme}: (\[.*?\])", read_part("colours.js"), re.S)
    codes = re.findall(r"#(\w\w)(\w\w)(\w\w)", text)
    rgb = np.array([[int(part, 16) for part in code] for code in codes]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: Any) -> Any:
    xyz = rgb @ np.transpose(TO_XYZ) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_no_two_classes_look_alike(theme: str, vision: str) -> None:
    seen = lab((palette(theme) @ np.transpose(VISIONS[vision])).clip(0, 1))
    assert len(seen) == 8
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    assert min(distances) > 15  # about six times what can be told apart side by side
