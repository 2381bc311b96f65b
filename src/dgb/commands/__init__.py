"""The verbs of the command line, a file each: `HELP`, `add_options`, and `run` what it does.

`dgb --help` imports all of them, so what is slow to import is imported inside their functions.
"""
