"""Use cases of the workbench: an entry being written, checked against everything that is served."""
