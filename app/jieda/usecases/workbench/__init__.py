"""What the workbench does: an entry that is being written, held against everything that is served."""
