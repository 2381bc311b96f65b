"""How many inputs were tried, told at the end of the tests."""

from typing import Any

from tests.fuzz.oracle import answers


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell the count of all inputs, and what was answered."""
    if answers:
        told = f"{answers['read']:,} read, {answers['errors']:,} refused"
        terminalreporter.write_line(f"{answers.total():,} inputs: {told}")
