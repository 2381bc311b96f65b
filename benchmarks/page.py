"""What stands between the marks of docs/performance.md: tables and sentences from the figures."""

import re

import growth
import records
from tables import table

PAGE = records.ROOT / "docs" / "performance.md"
ENOUGH = 10  # rounds on Cora, below which times are no more than a trial
MARKS = re.compile(r"<!-- (?P<name>[\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def fill_page() -> None:
    """Write every text between the marks of its name."""
    page = PAGE.read_text("utf-8")
    filled = MARKS.sub(lambda m: f"<!-- {m['name']} -->\n{text(m['name'])}\n<!-- end -->", page)
    PAGE.write_text(filled, "utf-8")


def text(topic: str) -> str:
    """Return the table of a topic and what is to be said below it."""
    if topic == "machine":
        return machine()
    below = {"step": losses, "diffusion": residual, "growth": exponents, "million": cost}
    sentence = below.get(topic.partition("-")[0], lambda _: "")(topic)
    return f"\n{table(topic)}\n" + (f"\n{sentence}\n" if sentence else "")


def machine() -> str:
    """Return what the figures were measured on."""
    record = records.read("step-cora")
    if not record:
        return "\nnot measured yet\n"
    names = ", ".join(f"{k} {v}" for k, v in record["versions"].items() if k != "dgb")
    threads, rounds = record["rows"][0]["threads"], record.get("rounds", 1)
    trial = "" if rounds >= ENOUGH else "\n**A trial of a few rounds, to be measured again.**"
    return f"\nMeasured on {record['machine']}, threads: {threads}; {names}.{trial}\n"


def losses(topic: str) -> str:
    """Return the check that the plain version computes the same, where it was made."""
    differences = records.read(topic).get("loss_differences")
    if not differences:
        return ""
    worst = max(differences.values())
    return f"Largest difference of losses over five steps, ours to plain PyG: {worst:.1e}."


def residual(topic: str) -> str:
    """Return how right the reference of the errors is."""
    value = records.read(topic).get("residual")
    compiled = [
        row["compile_s"] for row in records.read(topic).get("rows", []) if "compile_s" in row
    ]
    first = "" if value is None else f"The reference leaves a residual of {value:.1e} in Eq. 6. "
    return first + (f"numba compiles push in {min(compiled):.0f} s first." if compiled else "")


def cost(topic: str) -> str:
    """Return what the whole run took."""
    took = records.read(topic).get("cost")
    if not took:
        return ""
    return f"`dgb train` took {took['minutes']:.1f} minutes and {took['peak_gb']:.1f} GB in all."


def exponents(topic: str) -> str:
    """Return the table of the exponents fitted to the curves."""
    fitted = records.read(topic).get("exponents", {})
    if not fitted:
        return ""
    lines = [f"| exponent of n | {' | '.join(fitted)} |", "|---" * (len(fitted) + 1) + "|"]
    for key, name in growth.FITTED.items():
        cells = (f"{part[key]:.2f}" if key in part else "–" for part in fitted.values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
