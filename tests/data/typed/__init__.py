"""Tests of heterogeneous graphs as data."""
