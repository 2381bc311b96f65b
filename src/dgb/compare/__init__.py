"""Systems beside each other on one graph: the same splits, seeds and evaluator for all."""
