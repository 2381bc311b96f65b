"""Evaluation: arrays in, scores out; nothing here trains an encoder."""
