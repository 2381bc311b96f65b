"""The one look of every page: a shell, a style and a script, all inside the file."""
