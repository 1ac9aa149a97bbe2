"""Parsing of logs of any program: lines without decoration, failures with their frames, passages to compare.

Linear in the length of the text, and accepts any string. Independent of entries; formats of logs come from
failures.yaml.
"""
