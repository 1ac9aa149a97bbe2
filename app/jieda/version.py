"""The version of Jieda: this is the one place that says it, and everything that tells it reads it here."""

VERSION = "0.1.0"
