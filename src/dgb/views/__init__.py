"""The views of a graph: node augmentations (Eq. 2, 3) and diffusion (Eq. 4–6)."""
