"""Signature lines for the analysis of logs; the grammar lies lower, where `content` sees it too."""

from app.signature import SignatureLine, SignatureSyntaxError, compile_signature_line

__all__ = ["SignatureLine", "SignatureSyntaxError", "compile_signature_line"]
