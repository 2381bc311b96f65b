"""Anything a user has becomes one Graph record."""
