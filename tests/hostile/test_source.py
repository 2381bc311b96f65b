"""The code itself: no call in it could run what a file brings."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "dgb"
# Modules whose whole purpose is to bring objects back, or to run text.
MODULES = {"joblib", "shelve", "marshal", "yaml", "dill", "cloudpickle", "jsonpickle"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
CALLS |= {"pickle.load", "pickle.loads", "pickle.Unpickler"}
METHODS = {"extract", "extractall", "unpack_archive", "read_pickle"}  # of whatever object
OWN = {"read_pickle"}  # as a module names its own, which has an allow-list
NEEDED = {"torch.load": ("weights_only", True), "np.load": ("allow_pickle", False)}
NEEDED |= {"np.lib.format.read_array": ("allow_pickle", False)}


def test_no_call_in_the_package_could_run_what_a_file_brings() -> None:
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 200
    found = [f"{path.name}: {what}" for path in paths for what in dangers(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\npickle.load(file)",
        "from pickle import loads\nloads(text)",
        "import pickle as p\np.loads(text)",
        "import torch\ntorch.load(path)",
        "import torch\ntorch.load(path, weights_only=False)",
        "import numpy as np\nnp.load(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import joblib",
        "from yaml import load",
        "eval(text)",
        "archive.extractall(folder)",
        "import pandas\npandas.read_pickle(path)",
        "import subprocess\nsubprocess.run(text, shell=True)",
        "import os\nos.system(text)",
    ],
)
def test_the_search_finds_such_calls(code: str) -> None:
    assert list(dangers(code))


def dangers(code: str) -> Iterator[str]:
    """Yield what in a module could run what a file brings."""
    tree = ast.parse(code)
    names = _imported(tree)
    yield from (name for name in names.values() if name.split(".")[0] in MODULES)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        words = {k.arg: getattr(k.value, "value", None) for k in call.keywords}
        dotted = _dotted(call.func)
        head, _, rest = dotted.partition(".")
        name = ".".join(part for part in (names.get(head, head), rest) if part)
        name = name.replace("numpy.", "np.")
        key, value = NEEDED.get(name, ("", None))
        if key and words.get(key, "missing") is not value:
            yield f"{name} without {key}={value}"
        if name in CALLS or (name.split(".")[-1] in METHODS and name not in OWN):
            yield name
        if words.get("shell"):
            yield f"{name} with a shell"


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return what names stand for, by the imports of a module."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return found


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"
