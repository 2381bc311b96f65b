"""The machine a run happens on: device, threads, generators, memory and versions."""

import platform
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dgb.errors import DGBError
from dgb.files.limits import free_bytes

PACKAGES = ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn")


def choose_device(name: str) -> torch.device:
    """Return the device of a recipe; auto is a CUDA GPU where there is one, else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise DGBError("train.device is cuda, but torch finds no CUDA GPU; use train.device=cpu")
    if name == "mps" and not torch.backends.mps.is_available():
        raise DGBError("train.device is mps, but torch finds no Apple GPU; use train.device=cpu")
    return torch.device(name)


def set_threads(count: int) -> None:
    """Let torch use this many CPU threads; 0 leaves its own choice."""
    if count:
        torch.set_num_threads(count)


def generators(seed: int, device: torch.device) -> tuple[torch.Generator, torch.Generator]:
    """Return two independent generators: of the weights, and of masks and batches."""
    for_weights, for_masks = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    weights = torch.Generator().manual_seed(int(for_weights))
    return weights, torch.Generator(device).manual_seed(int(for_masks))


def dgb_version() -> str:
    """Return the version of this package."""
    return version("deep-graph-bootstrapping")


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and what its numbers depend on."""
    found = {"python": platform.python_version(), "dgb": dgb_version()}
    return found | {name: version(name) for name in PACKAGES}


def machine_kind() -> str:
    """Return the system and the processor: floating point sums may differ between kinds."""
    names = Path("/proc/cpuinfo")
    lines = names.read_text("utf-8").splitlines() if names.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor()
    return f"{platform.system()} {platform.machine()} {processor}".strip()


def git_hash() -> str | None:
    """Return the commit of the checkout this code runs from, or None for an installed package."""
    here = Path(__file__)
    try:
        # An environment may lie inside somebody else's repository: only a tracked file counts.
        _git(here.parent, "ls-files", "--error-unmatch", here.name)
        commit = _git(here.parent, "rev-parse", "HEAD")
        # Results that grow while a command runs do not change the code.
        changes = _git(here.parent.parent, "status", "--porcelain", "-uno", ".")
        return commit + ("-changed" if changes else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def find_uncommitted(*names: str) -> list[str]:
    """Return which of these files or folders of the package differ from the last commit."""
    if git_hash() is None:  # an installed package is as it was released
        return []
    package = Path(__file__).parent.parent
    return [name for name in names if _git(package, "status", "--porcelain", "--", name)]


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def peak_mb() -> float | None:
    """Return the most memory this process has held so far, in MB; None where it is not known."""
    # psutil tells what a process holds now, but its peak on Windows alone.
    status = Path("/proc/self/status")
    if status.exists():  # Linux; getrusage would count the parent process before exec as well
        (line,) = [t for t in status.read_text().splitlines() if t.startswith("VmHWM:")]
        return round(int(line.split()[1]) / 2**10, 1)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def free_gb(device: torch.device) -> float | None:
    """Return the memory that a process can still take, in GB; None where it is not known."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0]) / 1e9
    free = free_bytes()
    return None if free is None else free / 1e9


def has_bf16(device: torch.device) -> bool:
    """Tell whether a device computes in bfloat16 faster than in single precision."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    names = Path("/proc/cpuinfo")
    text = names.read_text("utf-8") if names.exists() else ""
    return any(word in text.split() for word in ("avx512_bf16", "amx_bf16", "bf16"))


def reset_peak() -> None:
    """Forget the peak so far where the system allows it (Linux), so that a run tells its own."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def devices() -> dict[str, Any]:
    """Return the devices torch can use here."""
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {
        "cpu threads": torch.get_num_threads(),
        "cuda": ", ".join(gpus) or "none",
        "mps": "yes" if torch.backends.mps.is_available() else "none",
    }
