"""Text without line ends: a row that never stops, a quote that is never closed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dgb import load_graph
from dgb.errors import DGBError

MB = 1 << 20
HEAD = b"source,target\n1,2\n"
# What stands first, what comes again and again, and the line that is to be named.
ENDLESS = {
    "the first row": (b"", b"a,", 1),
    "a later row": (HEAD, b"a,", 3),
    "a row after carriage returns": (HEAD.replace(b"\n", b"\r"), b"7", 3),
    "a row of spaces": (b"# a comment\n1 2\n", b"1 ", 3),
    "one cell": (HEAD, b"x", 3),
    "zeros": (b"", b"\0", 1),
    "a quote over many lines": (HEAD + b'1,"', b"some words\n", 3),
    "a quote over one line": (HEAD + b'"', b"x", 3),
    "quotes that open at every end of a line": (HEAD, b'a,"\n",', 3),
}


def write_endless(path: Path, name: str, size: int) -> None:
    first, again, _ = ENDLESS[name]
    piece = again * (MB // len(again))
    with path.open("wb") as file:
        file.write(first)
        for _ in range(size // len(piece)):
            file.write(piece)


@pytest.mark.parametrize("name", ENDLESS)
def test_a_row_without_end_is_refused_by_its_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    write_endless(path, name, 40 * MB)
    with pytest.raises(DGBError) as caught:
        load_graph(path)
    message = str(caught.value)
    assert message.startswith(f"edges.csv:{ENDLESS[name][2]}: a row of more than 8 MB")
    assert "check the line ends, or give such features as .npy or .npz" in message


def test_a_row_of_too_many_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_bytes(b"a," * (2 * MB) + b"\n1,2\n")
    with pytest.raises(DGBError, match=r"edges\.csv:1: 2,097,153 columns, where a table has 100,"):
        load_graph(path)


def test_long_rows_that_fit_are_read(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    words = "words " * (MB // 6) + "\n" * 1000
    path.write_text(f'source,target,text\n1,2,"{words}"\n' + "2,3,short\n" * 10)
    assert load_graph(path).num_edges == 2


def test_many_empty_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_bytes(b"\n" * MB + b"1,2\n2\n")
    with pytest.raises(DGBError, match=rf"edges\.csv:{MB + 2}: 1 cells where the first row has 2"):
        load_graph(path)


def test_a_byte_that_is_no_text_is_told_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_bytes(b"1,\xc3\xa9\n" * (3 * MB) + b"1,\xc3\n")  # every block ends within a letter
    with pytest.raises(DGBError, match=rf"edges\.csv:{3 * MB + 1}: not UTF-8 text"):
        load_graph(path)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the memory")
@pytest.mark.parametrize("name", ENDLESS)
def test_a_gigabyte_takes_seconds_and_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    write_endless(path, name, 1024 * MB)
    code = (
        "import json, sys, time; from dgb import load_graph; from dgb.run.machine import peak_mb\n"
        "start = time.perf_counter()\n"
        "try: load_graph(sys.argv[1])\n"
        "except ValueError as error: told = str(error)\n"
        "print(json.dumps([told, time.perf_counter() - start, peak_mb()]))"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True)
    message, seconds, peak = json.loads(done.stdout)
    assert "a row of more than 8 MB" in message
    assert seconds < 60 and peak < 4000
    print(f"{name}: {seconds:.1f} s, {peak:.0f} MB")
