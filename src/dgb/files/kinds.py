"""What lies at a path: its kind, by its first bytes or else by its name, or nothing at all."""

import difflib
import gzip
import re
import zipfile
import zlib
from pathlib import Path

from dgb.errors import DGBError
from dgb.terminal import some

TEXT, PARQUET, JSON, EXCEL = "text", "parquet", "json", "xlsx"
NPY, NPZ, MARKET, GRAPHML, TORCH = "npy", "npz", "mtx", "graphml", "pt"
TABLES, MATRICES, WHOLE = (TEXT, PARQUET, JSON, EXCEL), (NPY, NPZ), (GRAPHML, TORCH)
PACKED = b"\x1f\x8b"  # how gzip begins
_SUFFIXES = dict.fromkeys((".csv", ".tsv", ".txt", ".edgelist", ".edges"), TEXT)
_SUFFIXES |= {".json": JSON, ".jsonl": JSON, ".ndjson": JSON, ".mtx": MARKET}
SUFFIXES = _SUFFIXES | {f"{suffix}.gz": kind for suffix, kind in _SUFFIXES.items()}
SUFFIXES |= {f".{kind}": kind for kind in (PARQUET, EXCEL, NPY, NPZ, GRAPHML, TORCH)}
_BEGIN = {b"\x93NUMPY": NPY, b"PAR1": PARQUET}  # of files that are never packed
_HEAD = 512  # bytes that are looked at
_PART = re.compile(r"part-\d+\b.*")  # what Spark and its like call the files of one table


def find_kind(path: Path) -> str:
    """Return the kind of a file or of a folder of Parquet parts, "" where nothing tells."""
    if path.is_dir():
        return PARQUET if is_parts(path) else ""
    head = _read_head(path)
    begins = (kind for begin, kind in _BEGIN.items() if head.startswith(begin))
    found = _zip_kind(path) if head.startswith(b"PK\x03\x04") else next(begins, "")
    if found or head.startswith(PACKED):
        return found or _text_kind(_read_head(path, is_packed=True)) or _name_kind(path)
    return _text_kind(head) or _name_kind(path)


def suffix_of(name: str) -> str:
    """Return the longest suffix of a name that says how a file is written, "" where none does."""
    endings = [suffix for suffix in SUFFIXES if name.lower().endswith(suffix)]
    return max(endings, key=len, default="")


def known_suffixes(*kinds: str) -> str:
    """Return the suffixes of these kinds, all by default, for a person to read."""
    return ", ".join(suffix for suffix, kind in SUFFIXES.items() if kind in (kinds or (kind,)))


def is_parts(folder: Path) -> bool:
    """Tell whether a folder is one table, of Parquet files that are called parts."""
    if not folder.is_dir():
        return False
    files = [path for path in folder.iterdir() if path.name[0] not in "._"]
    is_table = suffix_of(folder.name) == ".parquet"
    return bool(files) and all(
        path.name.endswith(".parquet") and (is_table or _PART.fullmatch(path.name))
        for path in files
    )


def _name_kind(path: Path) -> str:
    return SUFFIXES.get(suffix_of(path.name), "")


def _text_kind(head: bytes) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"%%matrixmarket"):
        return MARKET
    return GRAPHML if start.startswith((b"<?xml", b"<graphml")) else ""


def _zip_kind(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except Exception:  # broken bytes raise nearly anything; the reader will say what is wrong
        return ""
    if "xl/workbook.xml" in names:
        return EXCEL
    return TORCH if any(name.endswith("data.pkl") for name in names) else NPZ


def _read_head(path: Path, *, is_packed: bool = False) -> bytes:
    try:
        with gzip.open(path) if is_packed else path.open("rb") as file:
            return file.read(_HEAD)
    except (OSError, EOFError, zlib.error):
        return b""


def refuse_missing(path: Path) -> None:
    """Refuse a path at which there is nothing, with a name like it from the same folder."""
    if path.exists():
        return
    for place, part in enumerate(path.parts):
        if part in ("http:", "https:", "s3:", "gs:", "ftp:"):
            address = "/".join((f"{part}/", *path.parts[place + 1 :]))
            raise DGBError(f"{address} is an address; download the file, and give the path of it")
    if not path.parent.is_dir():
        raise DGBError(f"{path} does not exist, nor does its folder {path.parent}; check the path")
    near = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1)
    hint = f"did you mean {near[0]}?" if near else f"its folder holds {list_folder(path.parent)}"
    raise DGBError(f"{path} does not exist; {hint}")


def list_folder(folder: Path) -> str:
    """Return the first names of what a folder holds, for a person to read."""
    return some(sorted(path.name for path in folder.iterdir()), 8) or "nothing"
