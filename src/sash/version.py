"""The version of Sash, which state and workers are compared by."""

VERSION = "0.1.0.dev1"
