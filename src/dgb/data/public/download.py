"""One file from a public address to the cache: whole and of the right hash, or not at all."""

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dgb.errors import DGBError
from dgb.files.atomic import whole_file

# Not pooch: it makes files that only their owner may read, and does not bring them to the disk
# before they get their name (docs/reliability.md).
TIMEOUT = 10.0  # seconds to connect, and between two pieces of a file
_PIECE = 1 << 18


def download(url: str, target: Path, sha256: str) -> None:
    """Download `url` to `target`, and keep it only when it is whole and hashes to `sha256`."""
    from http.client import HTTPException
    from urllib.request import urlopen

    with part_file(target, sha256) as part:
        try:
            with urlopen(url, timeout=TIMEOUT) as response, part.open("wb") as file:
                expected = int(response.headers.get("Content-Length") or 0)
                _copy_with_bar(response, file, target.name, expected)
        except (OSError, HTTPException, ValueError) as error:
            raise DGBError(f"{url} could not be downloaded ({_reason(error)})") from None
        if expected and part.stat().st_size != expected:
            raise DGBError(f"{url} stopped at {part.stat().st_size} of {expected} bytes")


@contextmanager
def part_file(target: Path, sha256: str) -> Iterator[Path]:
    """Give a temporary file next to `target` that takes its place once filled and verified."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target, is_shared=True) as part:
            yield part
            if not has_sha256(part, sha256):
                raise DGBError(
                    f"{target.name} as downloaded is not the published file (wrong SHA-256)"
                )
    except OSError as error:
        raise DGBError(
            f"{target}: cannot be written ({_reason(error)}); set DGB_CACHE elsewhere"
        ) from None


def has_sha256(path: Path, sha256: str) -> bool:
    """Tell whether a file hashes to `sha256`; an empty `sha256` expects nothing."""
    return not sha256 or file_sha256(path) == sha256


def file_sha256(path: Path) -> str:
    """Hash a file without holding it in memory."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DGBError(
            f"{path}: cannot be read ({_reason(error)}); check who may read it"
        ) from None


def _copy_with_bar(response: IO[bytes], file: IO[bytes], name: str, total: int) -> None:
    from tqdm import tqdm

    is_quiet = not sys.stderr.isatty()
    with tqdm.wrapattr(
        response, "read", total=total or None, desc=name, disable=is_quiet
    ) as source:
        shutil.copyfileobj(source, file, _PIECE)


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)
