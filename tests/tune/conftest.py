"""A database that need not survive a power cut writes ten times as fast."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def fast_database() -> Iterator[None]:
    engine = pytest.importorskip("sqlalchemy").engine.Engine
    event = pytest.importorskip("sqlalchemy.event")

    def do_not_wait(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    event.listen(engine, "connect", do_not_wait)
    yield
    event.remove(engine, "connect", do_not_wait)
