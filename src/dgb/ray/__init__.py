"""Training past one machine: blocks of rows in Ray's object store, ranks of Ray Train."""
