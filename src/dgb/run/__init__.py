"""Whole runs: a graph and a recipe in, a run folder out."""
