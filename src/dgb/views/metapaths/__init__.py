"""Views of heterogeneous graphs: over meta-paths, or over the relations themselves."""
