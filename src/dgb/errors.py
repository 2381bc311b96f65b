"""The one exception of the project: what a user can mend, said in one line."""


class DGBError(ValueError):
    """Wrong input or a missing file; the message says what to do about it.

    A ValueError, which is what scikit-learn and its users expect of an estimator given bad input.
    """
