"""Files of tensors: the same content gives the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

WRITE = """
import sys, torch
from pathlib import Path
from dgb.files.tensors import write_tensors
names = [f"layer{i}.weight" for i in range(5)] + ["step", "größe"]
tensors = {name: torch.full((2, i + 1), float(i)) for i, name in enumerate(names)}
tensors |= {"count": torch.tensor(7), "half": torch.ones(3, dtype=torch.bfloat16)}
order = sorted(tensors, reverse=sys.argv[2] == "1")
metadata = {f"key{i}": str(i) for i in range(9)}
write_tensors(Path(sys.argv[1]), {name: tensors[name] for name in order}, metadata)
"""


def test_the_same_tensors_are_the_same_bytes_in_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in ("0", "1"):
        path = tmp_path / f"{seed}.safetensors"
        subprocess.run(
            [sys.executable, "-c", WRITE, str(path), seed],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "2.safetensors"), "2"])
    exec(WRITE, {})  # in this process, which hashes by a seed of its own
    first = (tmp_path / "0.safetensors").read_bytes()
    assert (tmp_path / "1.safetensors").read_bytes() == first
    assert (tmp_path / "2.safetensors").read_bytes() == first
    with safe_open(tmp_path / "0.safetensors", "pt") as file:
        assert file.metadata()["key3"] == "3"
        assert torch.equal(file.get_tensor("layer3.weight"), torch.full((2, 4), 3.0))
        assert file.get_tensor("half").dtype == torch.bfloat16 and file.get_tensor("count") == 7
