"""Search for a recipe: by validation accuracy, or by what embeddings show without any label."""
