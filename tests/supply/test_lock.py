"""What is installed is what the lock says, and the lowest versions are those of pyproject.toml."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distributions
from pathlib import Path
from sysconfig import get_path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "constraints.txt"
OWN = Path(sys.prefix) / "constraints.txt"  # that of an environment of lowest versions
PACKAGE = Requirement("deep-graph-bootstrapping[test]")
BUILDERS = ["setuptools"]
GPU = ("cuda-", "nvidia-", "triton")  # with torch as it comes from the index, chosen by torch


def read_pins(text: str) -> dict[str, Version]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = [line.split("==") for line in lines]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


@cache
def installed() -> dict[str, Distribution]:
    """Return what pip has put here: not what Ray brings within itself, and puts on the path."""
    folders = list({get_path("purelib"), get_path("platlib")})
    return {canonicalize_name(each.name): each for each in distributions(path=folders)}


def distribution(name: str) -> Distribution:
    if (name := canonicalize_name(name)) not in installed():
        raise PackageNotFoundError(name)
    return installed()[name]


def needed(requirement: Requirement) -> Iterator[Requirement]:
    """Yield what a requirement with its extras asks for on this machine."""
    environments = [{"extra": extra} for extra in ("", *requirement.extras)]
    for line in distribution(requirement.name).requires or []:
        other = Requirement(line)
        if not other.marker or any(other.marker.evaluate(each) for each in environments):
            yield other


def walk(requirement: Requirement) -> dict[str, Version]:
    """Return all that the requirement brings, with the versions that are installed."""
    found: dict[str, Version] = {}
    seen, waiting = set(), [requirement]
    while waiting:
        other = waiting.pop()
        name = canonicalize_name(other.name)
        if (key := (name, frozenset(other.extras))) in seen:
            continue
        seen.add(key)
        if name.startswith(GPU):
            continue
        found[name] = Version(distribution(name).version)
        waiting += needed(other)
    return found


def strangers(found: dict[str, Version], pins: dict[str, Version]) -> list[str]:
    """Name what is not pinned, as the lines that the lock should have."""
    return sorted(f"{name}=={found[name].public}" for name in found.keys() - pins.keys())


def strays(found: dict[str, Version], pins: dict[str, Version]) -> list[str]:
    """Name what is installed at another version than its pin."""
    shared = sorted(found.keys() & pins.keys())
    return [
        f"{name} is {found[name]}, pinned at {pins[name]}"
        for name in shared
        if Version(found[name].public) != pins[name]  # 2.13.0+cpu is a 2.13.0
    ]


@pytest.fixture(scope="module")
def found() -> dict[str, Version]:
    try:
        everything = walk(PACKAGE)
    except PackageNotFoundError as error:
        pytest.skip(f"not all of {PACKAGE} is installed: {error}")
    everything |= {name: Version(distribution(name).version) for name in BUILDERS}
    del everything[PACKAGE.name]
    return everything


def test_all_that_is_installed_is_pinned(found: dict[str, Version]) -> None:
    if OWN.exists():
        pytest.skip("lowest versions bring others along than those of the lock")
    lines = strangers(found, read_pins(LOCK.read_text("utf-8")))
    assert not lines, f"not in {LOCK.name}:\n" + "\n".join(lines)


def test_all_that_is_pinned_is_installed_at_that_version(found: dict[str, Version]) -> None:
    pins = read_pins((OWN if OWN.exists() else LOCK).read_text("utf-8"))
    lines = strays(found, pins)
    hint = "install with `-c constraints.txt` to test what the project is tested with"
    assert not lines, f"{hint}:\n" + "\n".join(lines)


def test_the_lock_can_fail(found: dict[str, Version]) -> None:
    pins = {name: Version(version.public) for name, version in found.items()}
    assert not strangers(found, pins) and not strays(found, pins)
    assert {"numpy", "aiohttp", "markupsafe", "setuptools", "torch"} <= found.keys()
    pins["numpy"] = Version("1.0")
    del pins["markupsafe"]
    assert strays(found, pins) == [f"numpy is {found['numpy']}, pinned at 1.0"]
    assert strangers(found, pins) == [f"markupsafe=={found['markupsafe'].public}"]


def test_the_lowest_versions_are_the_bounds_of_the_project() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "lowest.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lowest, locked = read_pins(printed), read_pins(LOCK.read_text("utf-8"))
    read = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    bounds = [*read["project"]["dependencies"], *read["build-system"]["requires"]]
    bounds += [
        line for lines in read["project"]["optional-dependencies"].values() for line in lines
    ]
    asked = [Requirement(line) for line in bounds]
    floors = {str(canonicalize_name(each.name)): str(each.specifier) for each in asked}
    assert lowest.keys() == locked.keys() and lowest["torch"] == locked["torch"]
    for name, version in lowest.items():
        if floors.get(name) and name != "torch":
            assert floors[name] == f">={version}"
        else:
            assert version == locked[name]
