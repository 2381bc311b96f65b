"""A self-contained page: nothing is fetched, and nothing but its own script may run."""

import base64
import hashlib
import json
from html import escape
from importlib import resources
from string import Template
from typing import Any


def html_page(
    title: str, body: str, *, facts: str = "", style: str = "", script: str = "", data: Any = None
) -> str:
    """Return a page of ready-made HTML below an escaped title and a line of facts.

    `data` is what the script reads, as JSON in the element #data.
    """
    code = read_part("page.js") + script
    values = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    values = values.replace("<", "\\u003c")  # which could end the element it stands in
    json_part = f'<script type="application/json" id="data">{values}</script>\n'
    digest = hashlib.sha256(code.encode("utf-8")).digest()
    return Template(read_part("page.html")).substitute(
        title=escape(title),
        facts=f'<p class="facts">{escape(facts)}</p>' if facts else "",
        style=read_part("page.css") + style,
        body=body,
        data="" if data is None else json_part,
        script=code,
        # What a Content-Security-Policy calls a script by, so that no other one runs.
        hash=f"sha256-{base64.b64encode(digest).decode()}",
    )


def section(key: str, title: str, body: str) -> str:
    """Return a part of the page below its heading."""
    head = f'<section aria-labelledby="{key}"><h2 id="{key}">{title}</h2>'
    return f"{head}{body}</section>\n"


def read_part(name: str) -> str:
    """Return a file of this package: a style, a script or a template."""
    return (resources.files("dgb.report") / name).read_text("utf-8")
