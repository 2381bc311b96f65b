"""Random numbers that belong to a node's id: the same on every machine, in every process."""

import numpy as np

from dgb.data.graph import Array

_CHUNK = 1 << 14  # ids at a time, so that their text never lies in memory as a whole
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def random_signs(node_ids: Array, width: int) -> Array:
    """Return float32 [n, width] of ±1, drawn for every id from its hash alone."""
    words = -(-width // 64)
    offsets = np.arange(1, words + 1, dtype=np.uint64) * _GOLDEN
    bits = mixed(hash_ids(node_ids)[:, None] + offsets).astype("<u8").view(np.uint8)
    signs = np.unpackbits(bits, axis=1)[:, :width].astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def hash_ids(node_ids: Array) -> Array:
    """Hash ids as text to 64 bits each: 7 and "7" are the same node, read from different files."""
    chunks = [node_ids[i : i + _CHUNK] for i in range(0, len(node_ids), _CHUNK)]
    return np.concatenate([_hash_text(np.asarray(chunk.astype(np.str_))) for chunk in chunks])


def _hash_text(texts: Array) -> Array:
    letters = np.ascontiguousarray(texts).view(np.uint32).reshape(len(texts), -1)
    hashes = np.full(len(texts), _GOLDEN)
    for column in letters.T:
        # A zero is the padding behind a shorter text, which must not count.
        hashes = np.where(column == 0, hashes, mixed(hashes ^ column.astype(np.uint64)))
    return hashes


def mixed(values: Array) -> Array:
    """Return splitmix64's finaliser, which makes numbers that differ in a bit differ in half."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return np.asarray(values ^ (values >> np.uint64(31)))
