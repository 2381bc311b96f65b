"""`dgb info`: versions, devices and recipes, or all settings of one recipe."""

from argparse import ArgumentParser, Namespace
from dataclasses import fields

from dgb.cookbook import load_recipe, recipe_names
from dgb.recipe import Recipe
from dgb.terminal import output, readable

HELP = "versions and devices, or all settings of a recipe"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("recipe", nargs="?", help="a name or a .toml file")


def run(options: Namespace) -> None:
    """Print versions, devices, recipes and folders, or every setting of one recipe."""
    from dgb.data.public.sources import cache_folder
    from dgb.run.machine import devices, git_hash, versions

    if options.recipe:
        output(*_setting_lines(load_recipe(options.recipe)))
        return
    facts = versions() | {"git": git_hash() or "no checkout"} | devices()
    facts |= {"recipes": ", ".join(recipe_names()), "cache": str(cache_folder())}
    for name, value in facts.items():
        output(f"{name:18}{value}")


def _setting_lines(recipe: Recipe) -> list[str]:
    """Return every setting of a recipe with its value and its line of documentation."""
    sections = [(field.name, getattr(recipe, field.name)) for field in fields(recipe)]
    return [
        f"{f'{name}.{f.name}':26}{readable(getattr(section, f.name)):12}  {f.metadata['doc']}"
        + (f" ({' | '.join(f.metadata['among'])})" if f.metadata["among"] else "")
        for name, section in sections
        for f in fields(section)
    ]
