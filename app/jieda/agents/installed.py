"""Checks for the MCP SDK, which is an optional extra."""

from importlib.util import find_spec

from jieda.errors import JiedaError

EXTRA_MISSING = (
    "jieda mcp needs the SDK of the Model Context Protocol, which is not installed; install it beside Jieda:"
    " pip install 'mcp>=2.3', in a checkout: make install"
)


def is_installed() -> bool:
    """Return whether the SDK is installed."""
    return find_spec("mcp") is not None


def require() -> None:
    """Raise JiedaError where the SDK is not installed."""
    if not is_installed():
        raise JiedaError(EXTRA_MISSING)
