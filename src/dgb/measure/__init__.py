"""Measuring: one resumable runner and one table for evaluations, comparisons and reproductions."""
