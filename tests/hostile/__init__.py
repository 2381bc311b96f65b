"""Files that somebody with bad intentions has made."""
