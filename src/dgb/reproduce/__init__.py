"""The paper's tables and figures, measured again and set beside the published cells."""
