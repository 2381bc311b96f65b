"""Tests of the data stage."""
