"""The verb that makes the page of a run or of a comparison."""

import webbrowser
from argparse import Namespace
from pathlib import Path

from dgb.terminal import output


def report(options: Namespace) -> None:
    """Write report.html into a run folder or a comparison's, and open it by wish."""
    from dgb.report.page import write_report

    path = write_report(Path(options.run), Path(options.compare) if options.compare else None)
    output(str(path))
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        output("no browser could be opened; open the file above")
