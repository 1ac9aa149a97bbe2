"""What commands write into content directories."""
