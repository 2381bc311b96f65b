"""A module imports from its own stage and from those before it, never from a later one."""

import ast
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "dgb"
STAGES = [
    ["errors", "settings", "terminal", "arrays"],
    ["recipe", "cookbook", "files", "drawing", "pages", "neighbors"],
    ["data"],
    ["views"],
    ["transforms"],
    ["model"],
    ["train"],
    ["evaluate"],
    ["ray"],
    ["run"],
    ["baselines"],
    ["measure"],
    ["report"],
    ["estimator", "estimator_inputs", "estimator_use"],
    ["tune"],
    ["reproduce"],
    ["commands"],
    ["cli"],
]
STAGE = {name: number for number, names in enumerate(STAGES) for name in names}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in SOURCE.rglob("*.py")}


def imported_modules(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the whole path"
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        inner = [name for name in names if name in MODULES]
        found |= {max(inner, key=len)} if inner else set()
    return found


def stage_of(module: str) -> str:
    return module.split(".")[1]


def test_imports_point_one_way() -> None:
    for module, path in MODULES.items():
        for other in imported_modules(path) - {"dgb"} if module != "dgb" else ():
            is_before = STAGE[stage_of(other)] <= STAGE[stage_of(module)]
            assert is_before, f"{module} imports {other}"


def test_no_module_imports_itself_by_way_of_others() -> None:
    def reach(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, f"a cycle: {' → '.join((*way, module))}"
        if module not in finished:
            for other in sorted(imported_modules(MODULES[module])):
                reach(other, (*way, module))
            finished.add(module)

    finished: set[str] = set()
    # Packages gather names of their modules, which do not ask them for any.
    for module in MODULES:
        if MODULES[module].name != "__init__.py":
            reach(module, ())


def test_help_and_import_do_not_load_torch() -> None:
    code = "import sys; from dgb.cli import make_parser; make_parser()"
    code += "; assert not {'torch', 'numpy', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
