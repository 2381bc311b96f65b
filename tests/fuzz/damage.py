"""Damage to the bytes of a file: cut, flipped, doubled, swapped, and numbers made absurd."""

import gzip
import io
import re
import zipfile
from collections.abc import Callable

from hypothesis import strategies as st

Change = Callable[[bytes], bytes]

PIECES = [b"", b"\x00", b"\xff", b"\n", b"\r", b'"', b",", b"\t", b"#", b"\xef\xbb\xbf", b"\x1b[2J"]
PIECES += [b"nan", b"-1", b"1e999", b"99999999999999999999", b"<", b">", b"&x;", b"{", b"[" * 3000]
NUMBER = re.compile(rb"\d+")


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """Draw one change of some bytes; places are fractions, so that they fit every length."""
    place, other = draw(st.floats(0, 1)), draw(st.floats(0, 1))
    kind = draw(st.sampled_from(["cut", "flip", "drop", "double", "put", "number", "swap"]))
    bit, piece = draw(st.integers(0, 7)), draw(st.sampled_from(PIECES) | st.binary(max_size=8))

    def change(content: bytes) -> bytes:
        low, high = sorted((int(place * len(content)), int(other * len(content))))
        if kind == "cut":
            return content[:low]
        if kind == "flip":
            flipped = bytes([content[low] ^ 1 << bit]) if low < len(content) else b""
            return content[:low] + flipped + content[low + 1 :]
        if kind == "drop":
            return content[:low] + content[min(high, low + 64) :]
        if kind == "double":
            return content[:high] + content[low:high] + content[high:]
        if kind == "swap":
            return content[low:high] + content[:low] + content[high:]
        return changed_number(content, low, piece) if kind == "number" else put(content, low, piece)

    return change


def put(content: bytes, place: int, piece: bytes) -> bytes:
    """Return the bytes with a piece put in between."""
    return content[:place] + piece + content[place:]


def changed_number(content: bytes, place: int, piece: bytes) -> bytes:
    """Return the bytes with the first number after a place replaced."""
    found = NUMBER.search(content, place)
    return content[: found.start()] + piece + content[found.end() :] if found else content


def damaged(content: bytes, how: list[Change], *, is_inside: bool) -> bytes:
    """Return damaged bytes; `is_inside` an archive, one of its members is hit, and packed again."""
    if is_inside and content.startswith(b"\x1f\x8b"):
        return gzip.compress(damaged(gzip.decompress(content), how, is_inside=False), 1)
    if is_inside and content.startswith(b"PK"):
        return _damaged_member(content, how)
    for change in how:
        content = change(content)
    return content


def _damaged_member(content: bytes, how: list[Change]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    hit = sorted(members)[len(repr(how[0](b"0123456789"))) % len(members)]
    members[hit] = damaged(members[hit], how, is_inside=False)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return packed.getvalue()
