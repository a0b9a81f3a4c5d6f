"""The version of Sash, which state and workers are compared by."""

VERSION = "0.2.0"
