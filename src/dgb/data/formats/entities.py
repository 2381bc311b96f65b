"""XML that declares entities, which can unfold to gigabytes or name files to be read."""

from pathlib import Path
from typing import Any
from xml.parsers import expat

from dgb.errors import DGBError

_PIECE = 1 << 16


class _RootReached(Exception):  # noqa: N818, since it is no error
    pass


def refuse_entities(path: Path) -> None:
    """Refuse a file with entities of its own; only what stands before its first element is read."""

    def begin(*_: Any) -> None:
        raise _RootReached

    def declare(name: str, *_: Any) -> None:
        raise DGBError(f"{path} declares the XML entity {name!r}; export it without any")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EntityDeclHandler = begin, declare
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                parser.Parse(piece)
    except _RootReached:
        return
    except expat.ExpatError:  # the reader says what is wrong, in its own words
        return
