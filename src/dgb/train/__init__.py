"""Training: the only loop, its checkpoints and its label-free health."""
