"""A module imports from its own stage and from those before it, never from a later one."""

import ast
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "dgb"
STAGES = [
    ["errors", "settings", "terminal", "arrays"],
    ["recipe", "cookbook", "files"],
    ["data"],
    ["views"],
    ["transforms"],
    ["model"],
    ["train"],
    ["evaluate"],
    ["ray", "run"],
    ["estimator", "estimator_hetero", "estimator_inputs"],
    ["baselines"],
    ["measure"],
    ["report"],
    ["tune"],
    ["reproduce"],
    ["commands"],
    ["cli"],
]
STAGE = {name: number for number, names in enumerate(STAGES) for name in names}


def imported_stages(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the whole path"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("dgb.")}
    return found


def test_imports_point_one_way() -> None:
    for path in SOURCE.rglob("*.py"):
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for other in imported_stages(path):
            assert STAGE[other] <= STAGE[own], f"{path.name} imports {other}"


def test_help_and_import_do_not_load_torch() -> None:
    code = "import sys; from dgb.cli import make_parser; make_parser()"
    code += "; assert not {'torch', 'numpy', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
