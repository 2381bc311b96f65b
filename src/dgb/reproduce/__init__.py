"""The paper's tables and figures, measured again and set next to the published cells."""
