"""Words of one language for those of the other, from a bilingual dictionary that an operator names."""
