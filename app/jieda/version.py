"""The version of Jieda, defined only here."""

VERSION = "0.1.0"
