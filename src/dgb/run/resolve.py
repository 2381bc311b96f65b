"""A recipe for a graph: refused with the reason, or with what it leaves open filled in."""

from dataclasses import replace

from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.recipe import ALL_TYPES, Recipe
from dgb.run.machine import choose_device
from dgb.run.suit import PAIRED, suit_blocks, suit_steps
from dgb.views.augment import parse_view
from dgb.views.inputs import needed_operators
from dgb.views.metapaths.inputs import metapaths_of
from dgb.views.metapaths.rates import parse_typed_view
from dgb.views.operators import theta
from dgb.views.view import ONE_LAYER


def resolve_recipe(graph: AnyGraph, recipe: Recipe, *, is_on_cluster: bool = False) -> Recipe:
    """Check a recipe for a graph; return it with the weights or meta-paths that it leaves open."""
    check_recipe(recipe)
    if isinstance(graph, Graph):
        most = 0 if is_on_cluster else PAIRED
        recipe = suit_steps(graph, suit_blocks(graph, recipe, most_paired=most))
        if is_on_cluster and recipe.embed.joined:
            raise DGBError("--engine ray joins no like nodes; set embed.diffused_nearest=0")
        return recipe
    if is_on_cluster:
        raise DGBError("--engine ray is for graphs of one node type; leave it out")
    check_typed_recipe(recipe)
    is_over_relations = recipe.hetero.encoder == "relations"
    for view in (recipe.view1, recipe.view2):
        parse_typed_view(view, graph.nodes, None if is_over_relations else graph.target)
    if is_over_relations:
        return recipe
    names = ",".join(dict.fromkeys(path.name for path in metapaths_of(graph, recipe)))
    return replace(recipe, hetero=replace(recipe.hetero, metapaths=names))


def check_recipe(recipe: Recipe) -> None:
    """Refuse settings that make no sense or do not go together, whatever the graph."""
    parse_view(recipe.view1)
    parse_view(recipe.view2)
    theta(recipe.diffusion)
    choose_device(recipe.train.device)
    if recipe.encoder.hops:
        _check_hops(recipe)
    elif recipe.encoder.diff:
        raise DGBError("encoder.diff is one more block of an encoder over hops; set encoder.hops")
    if recipe.train.stop_on == "auc" and not recipe.links.held_out:
        raise DGBError("train.stop_on=auc is of edges held out; set links.held_out, such as 0.05")
    if recipe.links.weight and not parse_view(recipe.view1).edges:
        raise DGBError(
            "links.weight asks for edges that view 1 lacks; hide some: view1.augment=ed+nfd+adj"
        )
    if not recipe.links.weight and recipe.train.bootstrap != 1:
        raise DGBError("train.bootstrap weighs against links.weight; set that above 0")
    size = recipe.train.batch_size
    if size and recipe.encoder.layers > 1:
        raise DGBError(f"train.batch_size needs {ONE_LAYER}")
    _check_probe(recipe)
    if size == 1 and recipe.heads.batch_norm:
        raise DGBError("train.batch_size must be 0 or at least 2: BatchNorm needs several rows")
    if size and recipe.train.order == "transform":
        raise DGBError("train.batch_size needs train.order=auto or propagate, not transform")


def _check_hops(recipe: Recipe) -> None:
    hops = recipe.encoder.hops
    if list(hops) != sorted(set(hops)):
        raise DGBError(f"encoder.hops must rise, as 0,1,2 does, not {list(hops)}")
    if recipe.encoder.layers > 1:
        raise DGBError("encoder.hops take the place of stacked layers; set encoder.layers=1")
    if needed_operators(recipe) != {"adj"}:
        raise DGBError(
            "encoder.hops go over adj: let view1.augment, view2.augment and embed.operator end so; "
            "for graphs of several node types leave them out"
        )


def _check_probe(recipe: Recipe) -> None:
    probe = recipe.probe
    if not probe.weight_decays:
        raise DGBError("probe.weight_decays must list at least one number")
    if probe.blocks and probe.kind != "linear":
        raise DGBError("probe.blocks is of the probe that chooses; set probe.kind=linear")
    if probe.blocks and len(recipe.embed.blocks) + recipe.embed.features < 2:
        raise DGBError(
            "probe.blocks weighs the blocks of a vector, and this recipe has one; set "
            "embed.blocks=learnt,diffused,structure (graphs of one node type), or leave it out"
        )


def _typed_values(recipe: Recipe) -> list[str]:
    """Return overrides that take back what a graph of several node types does not have."""
    encoder, links, train, embed = recipe.encoder, recipe.links, recipe.train, recipe.embed
    is_set = {
        "encoder.hops=[]": bool(encoder.hops),
        "encoder.diff=false": encoder.diff,
        "links.weight=0": links.weight > 0,
        "train.bootstrap=1": train.bootstrap != 1,
        "links.held_out=0": links.held_out > 0,
        "train.stop_on=loss": train.stop_on == "auc",
        "train.keep=auto": train.keep == "disk",
        "embed.smooth=0": embed.smooth > 0,
        "embed.features=false": embed.features,
        "embed.blocks=learnt": embed.blocks != ("learnt",),
        "embed.normalise=none": embed.normalise != "none",
        "embed.centre=false": embed.centre,
        "embed.learnt_columns=0": embed.learnt_columns > 0,
    }
    return [override for override, is_needed in is_set.items() if is_needed]


def check_typed_recipe(recipe: Recipe) -> None:
    """Refuse what cannot be done with a graph of several node types."""
    is_over_relations = recipe.hetero.encoder == "relations"
    if others := _typed_values(recipe):
        raise DGBError(
            f"this recipe has settings for graphs of one node type: take the recipe hetero or "
            f"relations (--recipe hetero, or DGB(recipe='hetero')), or set {' '.join(others)}"
        )
    if recipe.data.target == ALL_TYPES and not is_over_relations:
        raise DGBError(
            "meta-paths embed one type; name it with data.target, or take --recipe relations, "
            "which embeds all types together"
        )
    if is_over_relations and needed_operators(recipe) != {"adj"}:
        raise DGBError(
            "an encoder over relations goes over adj alone: take --recipe relations, or set "
            "view1.augment, view2.augment and embed.operator to end in adj"
        )
    if is_over_relations and (recipe.hetero.metapaths or recipe.hetero.materialise):
        raise DGBError(
            "hetero.metapaths and hetero.materialise go with hetero.encoder=metapaths or union"
        )
    if is_over_relations and recipe.train.batch_size:
        raise DGBError("train.batch_size needs hetero.encoder=metapaths with encoder.layers=1")
