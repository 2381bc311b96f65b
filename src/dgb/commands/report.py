"""`dgb report`: the page of a run or of a comparison."""

import webbrowser
from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.terminal import output

HELP = "one page to look at a run or a comparison"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("run", help="run folder, or the folder of a comparison")
    parser.add_argument("--compare", metavar="DIR", help="a comparison to show next to the run")
    parser.add_argument("--open", action="store_true", help="open it in the browser")


def run(options: Namespace) -> None:
    """Write report.html into a run folder or a comparison's, and open it if asked to."""
    from dgb.report.page import write_report

    path = write_report(Path(options.run), Path(options.compare) if options.compare else None)
    output(str(path))
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        output("no browser could be opened; open the file above")
