"""The verb that makes the page of a run or of a comparison."""

import webbrowser
from argparse import Namespace
from pathlib import Path


def report(options: Namespace) -> None:
    """Write report.html into a run folder or a comparison's, and open it by wish."""
    from dgb.report.write import write_report

    path = write_report(Path(options.run), Path(options.compare) if options.compare else None)
    print(path)
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        print("no browser could be opened; open the file above")
