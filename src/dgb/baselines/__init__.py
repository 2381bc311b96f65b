"""Every system that DGB is held against: one file a method, one interface for all."""
