"""The default address of the server, shared by the settings and by the health check, which has no time to import the
settings."""

from collections.abc import Mapping

HOST, HOST_VARIABLE = "127.0.0.1", "JIEDA_HOST"
PORT, PORT_VARIABLE = "8000", "JIEDA_PORT"


def read_variable(environ: Mapping[str, str], variable: str, default: str) -> str:
    """Return the value of a variable. An empty one counts as not set, and so does the one that Kubernetes sets in every
    container beside a service named jieda: `JIEDA_PORT=tcp://10.96.12.3:8000`."""
    text = environ.get(variable, "").strip()
    return default if not text or (variable == PORT_VARIABLE and text.startswith("tcp://")) else text
