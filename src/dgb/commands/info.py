"""`dgb info`: versions, devices and recipes, or all settings of one recipe."""

from argparse import ArgumentParser, Namespace

from dgb.cookbook import load_recipe, recipe_names, setting_lines
from dgb.terminal import output

HELP = "versions and devices, or all settings of a recipe"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("recipe", nargs="?", help="a name or a .toml file")


def run(options: Namespace) -> None:
    """Print versions, devices, recipes and folders, or every setting of one recipe."""
    from dgb.data.public.sources import cache_folder
    from dgb.run.machine import devices, git_hash, versions

    if options.recipe:
        output(*setting_lines(load_recipe(options.recipe)))
        return
    facts = versions() | {"git": git_hash() or "no checkout"} | devices()
    facts |= {"recipes": ", ".join(recipe_names()), "cache": str(cache_folder())}
    for name, value in facts.items():
        output(f"{name:18}{value}")
