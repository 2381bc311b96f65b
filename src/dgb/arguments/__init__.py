"""The verbs of the command line and their options; nothing here imports torch."""
