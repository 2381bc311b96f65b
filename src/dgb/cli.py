"""The command `dgb`: one verb parses, calls one function and prints."""

import os
import sys
from collections.abc import Sequence

from dgb.arguments.parser import parse
from dgb.errors import DGBError
from dgb.files.atomic import NO_ROOM
from dgb.terminal import log


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; a mistake of the user's is one line on stderr and exit code 2."""
    options = parse(arguments)
    try:
        # Only now: the verbs import torch, which takes seconds that --help should not.
        from dgb import commands

        getattr(commands, options.verb)(options)
    except DGBError as error:
        log(f"dgb: {error}")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `dgb … | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # no space, no permission, a folder where a file should be
        advice = "; make room, and give the same command again" if error.errno in NO_ROOM else ""
        log(f"dgb: {error}{advice}")
        return 2
    except MemoryError as error:
        log(f"dgb: out of memory ({error}); end other programs, or take a smaller graph")
        return 2
    return 0
