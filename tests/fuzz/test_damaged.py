"""Files with damage of any kind: a sound graph comes out, or one clear sentence."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgb.data.tables.source import read_table
from tests.fuzz.damage import Change, changes, damaged
from tests.fuzz.oracle import answer, inputs, lay
from tests.fuzz.samples import Sample, make_samples

TABLES = ("csv", "tsv", "csv.gz", "parquet", "edge list", "parts", "jsonl", "xlsx", "misnamed")
ARRAYS = ("npy", "scipy npz", "mtx", "mtx.gz", "npz", "graphml", "pt")
TYPED = ("hetero csv", "heco", "hetero pt")
PUBLIC = ("planetoid", "gnn-benchmark", "wikics", "ogbn", "wheel", "imdb")
RUNS = ("run", "typed run", "report", "typed report", "vectors", "checkpoint")
NAMES = (*TABLES, *ARRAYS, *TYPED, *PUBLIC, *RUNS)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    return make_samples(tmp_path_factory.mktemp("samples"))


def test_every_sample_is_whole(samples: dict[str, Sample], tmp_path: Path) -> None:
    assert tuple(samples) == NAMES
    for sample in samples.values():
        lay(tmp_path, sample.files)
        assert not isinstance(answer(lambda: sample.read(tmp_path)), Exception)  # noqa: B023


@pytest.mark.parametrize("name", NAMES)
@inputs(2)
@given(
    which=st.integers(0, 20),
    how=st.lists(changes(), min_size=1, max_size=4),
    is_inside=st.booleans(),
)
def test_damaged_files_are_read_right_or_refused(
    samples: dict[str, Sample],
    tmp_path: Path,
    name: str,
    which: int,
    how: list[Change],
    is_inside: bool,
) -> None:
    sample = samples[name]
    hit = sample.damaged[which % len(sample.damaged)]
    lay(tmp_path, sample.files | {hit: damaged(sample.files[hit], how, is_inside=is_inside)})
    names = [Path(file).name for file in sample.files]
    answer(lambda: sample.read(tmp_path), *names, str(tmp_path))


def test_every_byte_of_what_parquet_says_of_itself_may_be_wrong(
    samples: dict[str, Sample], tmp_path: Path
) -> None:
    """Flip bits of the metadata one after the other: looked at carelessly, some end the process."""
    whole, path = samples["parquet"].files["labels.parquet"], tmp_path / "labels.parquet"
    (size,) = struct.unpack("<I", whole[-8:-4])
    for place in range(len(whole) - 8 - size, len(whole) - 8):
        for bit in (1, 16):
            broken = bytearray(whole)
            broken[place] ^= bit
            path.write_bytes(broken)
            answer(lambda: read_table(path), "labels.parquet")
