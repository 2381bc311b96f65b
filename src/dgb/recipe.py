"""A recipe: every choice of a run, with the paper's words and one line of documentation each.

`Recipe()` is the default recipe. A key that is added says by `before` which value means "as before
this key existed": results that were measured without it keep their hash.
"""

from dataclasses import asdict, dataclass, field
from functools import partial

from dgb.settings import setting

TEXT_FORMS = ("auto", "category", "words", "drop")
WEIGHTS = ("as-is", "log", "mean-1", "none")
REPEATS = ("max", "sum", "count")
DECIMALS = ("auto", "point", "comma")
DATES = ("auto", "day-first", "month-first")
FILLS = ("flag", "median", "mean", "refuse")
UNKNOWN = ("refuse", "drop", "add", "match")
STRUCTURES = ("walk", "ppr", "degree")
ALL_TYPES = "all"  # as data.target: every type is embedded
LEARNT = "learnt"  # for node types of heterogeneous graphs
# What picks a repetition or a machine, or says which graph is read: the graph has its own hash.
unhashed = partial(setting, is_hashed=False)
rate = partial(setting, low=0, high=0.99)
size = partial(setting, low=1, high=2**20)
STOP_ON = ("loss", "effective_rank", "auc")  # auc: of links.held_out
BLOCKS = ("learnt", "diffused", "structure")  # of a vector, in their order
SHOWN = 6  # settings in the text of a recipe
DIFF = -1  # after the hops of an encoder: a block over diff
ACTIVATIONS = ("prelu", "relu", "elu", "gelu", "tanh", "none")


@dataclass(frozen=True)
class Data:
    """The graph, and what happens to X once, before any dropout."""

    graph: str = unhashed("", "name, file or folder; filled in by the command that runs the recipe")
    target: str = unhashed("", "node type to embed, of a heterogeneous graph; all: every type")
    nodes: str = unhashed("", "file of node rows, where the graph is a file of edges")
    labels: str = unhashed("", "file of ids, labels and splits, where the node rows have none")
    id: str = unhashed("", "id column of the rows (default: id, node_id, node or the first)")
    label: str = unhashed("", "label column (default: label, class, y or target)")
    split: str = unhashed("", "column of train, validation and test (default: split)")
    ends: str = unhashed(
        "", "columns of the two ends of edges (default: by name, or the first two)"
    )
    weight: str = unhashed("", "weight column of edges (default: weight, or a third of numbers)")
    weights: str = unhashed("as-is", "log(1 + w), divided by their mean, or all 1", among=WEIGHTS)
    repeats: str = unhashed("max", "weight of an edge listed again", among=REPEATS)
    drop: str = unhashed("", "columns of nodes that are not features, separated by commas")
    charset: str = unhashed(
        "", "encoding of text files, such as cp1252 (default: UTF-8, or as marked)"
    )
    empty: str = unhashed("", "texts of cells that say nothing, such as unknown,k.A.")
    categories: str = unhashed("", "columns that are categories though they hold numbers")
    text: str = unhashed("auto", "text: few values are categories, else words", among=TEXT_FORMS)
    decimal: str = unhashed("auto", "before the decimals of 1,007", among=DECIMALS)
    dates: str = unhashed("auto", "what comes first in 05/06/2020", among=DATES)
    missing: str = unhashed(
        "flag", "of cells without a number: flag fills in the median and adds a column", among=FILLS
    )
    unknown: str = unhashed(
        "refuse",
        "edges to nodes without a row; add: a row for them; match: by another spelling",
        among=UNKNOWN,
    )
    structure: str = setting(
        "walk", "features made where there are none", among=(*STRUCTURES, LEARNT), before="walk"
    )
    normalise: str = setting("none", "divide a row by the sum of its sizes", among=("row", "none"))


@dataclass(frozen=True)
class EncoderRecipe:
    """The GCN of Eq. 1, or blocks of it over several hops."""

    width: int = size(96, "columns of a representation, or of a block of it")
    layers: int = setting(1, "graph convolutions in a row", low=1, high=16)
    activation: str = setting("elu", "σ of Eq. 1", among=ACTIVATIONS)
    hops: tuple[int, ...] = setting(
        (0, 1, 2),
        "blocks over P^k X of these k side by side, each of this width; none: stacked layers",
        low=0,
        high=16,
        before=(),
        is_whole=True,
    )
    diff: bool = setting(False, "with hops: one more block, over diff", before=False)
    norm: str = setting(
        "batch", "BatchNorm before σ of a block", among=("none", "batch"), before="none"
    )

    @property
    def columns(self) -> int:
        """Columns of a representation, all blocks together."""
        return self.width * len(self.walked)

    @property
    def walked(self) -> tuple[int, ...]:
        """Hops k of the P^k X̃ that are taken, and DIFF: one hop, where nothing is said."""
        return (*self.hops, DIFF) if self.diff else self.hops or (1,)


@dataclass(frozen=True)
class Heads:
    """Projector and predictor, two multilayer perceptrons of the same shape."""

    projector: str = setting("mlp", "none: the paper's ablation", among=("mlp", "none"))
    hidden: int = size(128, "width of the hidden layer")
    width: int = size(128, "columns of a projection")
    activation: str = setting("prelu", "between the two linear maps", among=ACTIVATIONS)
    batch_norm: bool = setting(True, "BatchNorm after the first map; without it runs collapse")


@dataclass(frozen=True)
class ViewRecipe:
    """What is done to one view: node augmentations and an operator, as Table 3 names them."""

    augment: str = setting("nfd+adj", "any of in, nfd, nd, ed, joined by + with one of adj, diff")
    nfd_drop_rate: float = rate(0.7, "share of the features that nfd drops")
    nd_drop_rate: float = rate(0.5, "share of the nodes that nd drops")
    ed_drop_rate: float = rate(0.7, "share of edges that ed hides, beyond the paper", before=0.5)
    way_drop_rate: float = rate(0.0, "share of nodes on meta-paths that are left out", before=0.0)
    types: str = setting("", "rates of node types, such as author.way=0.3,paper.nfd=0.5", before="")


@dataclass(frozen=True)
class DiffusionRecipe:
    """S of Eq. 4: `diff`."""

    kernel: str = setting("ppr", "Eq. 6, Eq. 5, or the list theta", among=("ppr", "heat", "theta"))
    alpha: float = setting(0.05, "teleport probability of PPR", low=1e-4, high=1)
    heat_time: float = setting(5.0, "t of the heat kernel", low=0, high=1000)
    theta: tuple[float, ...] = setting((), "θ_0, θ_1, … of Eq. 4 for kernel theta", low=0)
    error: float = setting(1e-3, "of S, spectral norm (heat: weighted)", low=1e-6, high=0.5)
    top_k: int = setting(0, "keep the k largest entries a row; 0 keeps S whole", low=0)
    threshold: float = setting(0.0, "drop the entries of S below this", low=0, high=1)
    self_loops: bool = setting(False, "build T from A + I instead of A")


@dataclass(frozen=True)
class Hetero:
    """A graph of several node types: what its views and its encoder go over."""

    encoder: str = setting(
        "metapaths",
        "a GCN for each meta-path and attention over them, one over their union, or one over all "
        "relations",
        among=("metapaths", "union", "relations"),
        before="metapaths",
    )
    metapaths: str = setting(
        "", "such as paper-author-paper,paper-subject-paper (default: all to max_length)", before=""
    )
    max_length: int = setting(4, "steps of the meta-paths that are found", low=1, high=8, before=4)
    weights: str = setting(
        "counts", "of a path: 1, or shared on the way", among=("counts", "walk"), before="counts"
    )
    attention: int = size(64, "columns of the attention over meta-paths", before=64)
    materialise: bool = setting(False, "multiply meta-paths out where that is small", before=False)


@dataclass(frozen=True)
class Links:
    """Hidden edges as a second thing to predict, beyond the paper."""

    weight: float = setting(
        1.0, "of telling edges that view 1 lacks (ed) from random pairs; 0: none", low=0, before=0.0
    )
    at: str = setting(
        "blocks",
        "a decoder for every block, or one for all",
        among=("blocks", "all"),
        before="blocks",
    )
    decoder: int = size(64, "columns of the decoder's hidden layer", before=64)
    pairs: int = setting(10_000, "hidden edges asked for a step at most; 0: all", low=0, before=0)
    held_out: float = setting(
        0.0, "share of edges that training never sees, for auc", low=0, high=0.5, before=0.0
    )


@dataclass(frozen=True)
class Train:
    """The loop: Adam on the online network, Eq. 7 on the target network."""

    epochs: int = setting(30, "epochs at most", low=0)
    learning_rate: float = setting(1e-2, "of Adam", low=0)
    weight_decay: float = setting(0.0, "of Adam", low=0)
    decay: float = setting(0.9, "p of Eq. 7: 1 freezes the target, 0 copies", low=0, high=1)
    target_start: str = setting("copy", "ξ starts as θ or redrawn", among=("copy", "independent"))
    batch_size: int = setting(0, "nodes a step; 0 takes all at once", low=0)
    by_graph: bool = setting(
        True,
        "large graphs: row batches, 120 steps, 64 columns a hop, for all that is as by default",
        before=False,
    )
    order: str = setting("auto", "P(XW), (PX)W, by cost", among=("auto", "transform", "propagate"))
    columns: int = unhashed(0, "of X that row batches propagate at once: fewer save memory", low=0)
    keep: str = unhashed("auto", "where row batches keep P X̃", among=("auto", "memory", "disk"))
    memory_gb: float = unhashed(0.0, "memory that a run may take; 0 is what is free", low=0)
    bootstrap: float = setting(0.5, "weight of Eq. 10 in the loss", low=0, before=1.0)
    ways: int = setting(
        1, "2: the views predict each other; 1: view 1 predicts view 2", low=1, high=2, before=2
    )
    patience: int = setting(0, "stop after so many epochs without a better stop_on; 0 never", low=0)
    stop_on: str = setting("loss", "label-free criterion", among=STOP_ON)
    monitor_every: int = setting(10, "epochs between two measures of health", low=1)
    checkpoint_every: int = unhashed(25, "epochs between two checkpoints", low=1)
    seed: int = unhashed(0, "of weights, masks and batches", low=0, high=2**63 - 1)
    device: str = unhashed("auto", "where to train", among=("auto", "cpu", "cuda", "mps"))
    bf16: bool = setting(False, "dense products in bfloat16: faster where built in", before=False)
    threads: int = unhashed(0, "CPU threads; 0 leaves torch's choice", low=0, high=1024)


@dataclass(frozen=True)
class Embed:
    """How representations are read off the trained encoder."""

    operator: str = setting("adj", "what H travels over", among=("adj", "diff", "adj+diff"))
    smooth: float = setting(0.0, "alpha of a PPR that diffuses H once more; 0: none", low=0, high=1)
    features: bool = setting(False, "append X, smoothed as H is; rows of both parts get length one")
    blocks: tuple[str, ...] = setting(
        BLOCKS,
        "of a vector: H, diffused X in few columns, where a node is (walk)",
        among=BLOCKS,
        before=("learnt",),
    )
    by_graph: bool = setting(
        True,
        "weights of blocks by what edges join and by size, for all that is as by default",
        before=False,
    )
    normalise: str = setting(
        "block",
        "blocks: rows of length one, or one number a block",
        among=("rows", "block", "none"),
        before="none",
    )
    centre: bool = setting(
        True, "blocks: the mean of every column is taken away before", before=False
    )
    learnt_columns: int = setting(
        256, "main directions of H that are kept; 0: all of it", low=0, high=2**20, before=0
    )
    diffused_weight: float = setting(
        1.0, "of the block, next to 1 of learnt", low=0, high=1000, before=1.0
    )
    diffused_columns: int = size(128, "main directions of X, diffused by PPR", before=128)
    diffused_alpha: float = setting(0.1, "of that PPR", low=1e-4, high=1, before=0.1)
    diffused_nearest: int = setting(
        20, "nodes with like diffused X that a node is joined to before; 0: none", low=0, before=0
    )
    nearest_weight: float = setting(
        0.3, "of all these edges, next to 1 of the graph's", low=0, high=1000, before=0.3
    )
    structure_weight: float = setting(
        0.3, "of the block, next to 1 of learnt", low=0, high=1000, before=0.3
    )
    structure_columns: int = size(64, "of the block", before=64)
    npy: bool = setting(False, "write embeddings.npy next to the Parquet file")

    @property
    def is_plain(self) -> bool:
        """Whether there are no blocks but H, and X next to it, as they come."""
        is_whole = self.normalise == "none" and not (self.learnt_columns or self.centre)
        return self.blocks == ("learnt",) and is_whole

    @property
    def joined(self) -> int:
        """The nodes that each is joined to: none without the block that travels over them."""
        return self.diffused_nearest if "diffused" in self.blocks else 0

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every block, which X itself is among."""
        weights = (1.0, self.diffused_weight, self.structure_weight)
        return dict(zip(BLOCKS, weights, strict=True)) | {"features": 1.0}

    def widths(self, learnt: int, num_features: int) -> dict[str, int]:
        """Return how many columns each block has, in their order; X itself is the last one."""
        learnt = min(self.learnt_columns or learnt, learnt)
        diffused = min(self.diffused_columns, num_features)
        known = dict(zip(BLOCKS, (learnt, diffused, self.structure_columns), strict=True))
        own = {name: known[name] for name in self.blocks}
        return own | ({"features": num_features} if self.features else {})


# As the paper has it: H as it comes.
PLAIN = Embed(
    blocks=("learnt",),
    by_graph=False,
    normalise="none",
    centre=False,
    learnt_columns=0,
    diffused_nearest=0,
)


@dataclass(frozen=True)
class Probe:
    """The linear probe; lists are searched on validation accuracy."""

    kind: str = setting(
        "linear",
        "dgi: 50 heads of 100 steps, as DGI has it; heco: 50 heads with F1 and AUC, as HeCo has it",
        among=("linear", "dgi", "heco"),
    )
    weight_decays: tuple[float, ...] = setting(
        (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5), "tried, best on validation", low=1e-12
    )
    normalise: str = setting(
        "auto",
        "rows of the input; auto: none or l2, any: one of the three, best on validation",
        among=("auto", "any", "none", "l2", "rms"),
    )
    blocks: bool = setting(
        False, "choose weights of embed.blocks on validation, for a figure of its own", before=False
    )


@dataclass(frozen=True, repr=False)
class Recipe:
    """All settings of a run."""

    data: Data = field(default_factory=Data)
    encoder: EncoderRecipe = field(default_factory=EncoderRecipe)
    heads: Heads = field(default_factory=Heads)
    view1: ViewRecipe = field(default_factory=lambda: ViewRecipe(augment="ed+nfd+adj"))
    view2: ViewRecipe = field(default_factory=lambda: ViewRecipe(augment="in+adj"))
    diffusion: DiffusionRecipe = field(default_factory=DiffusionRecipe)
    hetero: Hetero = field(default_factory=Hetero)
    links: Links = field(default_factory=Links)
    train: Train = field(default_factory=Train)
    embed: Embed = field(default_factory=Embed)
    probe: Probe = field(default_factory=Probe)

    def __repr__(self) -> str:
        """Return the settings that are not the default's, or some of them, as overrides."""
        usual = asdict(Recipe())
        unusual = [
            f"{section}.{key}={value}"
            for section, values in asdict(self).items()
            for key, value in values.items()
            if value != usual[section][key]
        ]
        more = [f"… {len(unusual) - SHOWN} more"] if len(unusual) > SHOWN else []
        return f"Recipe({', '.join([*unusual[:SHOWN], *more])})"
