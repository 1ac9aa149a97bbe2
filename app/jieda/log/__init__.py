"""Reading a log, whoever wrote it: lines without decoration, failures with their frames, passages worth comparing.

Linear in the length of the text and total: any string is a log. Nothing here knows an entry; what it knows of logs
comes from failures.yaml.
"""
