"""Storage of facts and generations, and communication between processes."""
