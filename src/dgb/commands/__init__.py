"""The verbs of the command line, a file each: `add_options` its parser, `run` what it does.

`dgb --help` imports all of them, so what is slow to import is imported inside their functions.
"""
