"""The one exception of the project: what a user can mend, said in one line."""


class DGBError(Exception):
    """Wrong input or a missing file; the message says what to do about it."""
