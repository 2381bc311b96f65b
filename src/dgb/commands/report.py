"""`dgb report`: the page of a run or of a comparison."""

import webbrowser
from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.options import Verbs
from dgb.terminal import output


def add_options(verbs: Verbs) -> ArgumentParser:
    """Add the verb and its options."""
    report: ArgumentParser = verbs.add_parser(
        "report", help="one page to look at a run or a comparison"
    )
    report.add_argument("run", help="run folder, or the folder of a comparison")
    report.add_argument("--compare", metavar="DIR", help="a comparison to show next to the run")
    report.add_argument("--open", action="store_true", help="open it in the browser")
    return report


def run(options: Namespace) -> None:
    """Write report.html into a run folder or a comparison's, and open it if asked to."""
    from dgb.report.page import write_report

    path = write_report(Path(options.run), Path(options.compare) if options.compare else None)
    output(str(path))
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        output("no browser could be opened; open the file above")
