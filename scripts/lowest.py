"""Print the lock with every version that pyproject.toml bounds from below at that bound.

    python scripts/lowest.py > lowest.txt && pip install -c lowest.txt -e '.[test]'

torch stays at its pin: another build of it would bring gigabytes of GPU packages. What nobody here
names but others bring along stays as locked too, so that a failure is one of our own bounds.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = "torch"


def main() -> None:
    """Print one constraint a line."""
    lowest = floors((ROOT / "pyproject.toml").read_text("utf-8"))
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, locked = line.partition("==")
            sys.stdout.write(f"{name}=={lowest.get(normal(name), locked)}\n")


def floors(pyproject: str) -> dict[str, str]:
    """Read the lowest version of everything that the package, its extras and its build ask for."""
    read = tomllib.loads(pyproject)
    project = read["project"]
    lists = [project["dependencies"], read["build-system"]["requires"]]
    lists += project["optional-dependencies"].values()
    found = [re.match(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)$", line) for each in lists for line in each]
    lowest = {normal(match[1]): match[2] for match in found if match}
    del lowest[KEPT]
    return lowest


def normal(name: str) -> str:
    """Spell the name of a distribution as an index does."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
