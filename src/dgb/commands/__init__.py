"""What each verb of the command line does, once its options are parsed."""

from dgb.commands.cluster import cluster
from dgb.commands.compare import compare
from dgb.commands.data import data, info
from dgb.commands.embedding import embed
from dgb.commands.neighbors import neighbors
from dgb.commands.report import report
from dgb.commands.results import reproduce, tune
from dgb.commands.training import evaluate, train

__all__ = [
    "cluster",
    "compare",
    "data",
    "embed",
    "evaluate",
    "info",
    "neighbors",
    "report",
    "reproduce",
    "train",
    "tune",
]
