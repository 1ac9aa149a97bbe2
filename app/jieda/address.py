"""Where a server listens unless it is told otherwise: shared by the settings and by the health check, which has no
time to import the former."""

from collections.abc import Mapping

HOST, HOST_VARIABLE = "127.0.0.1", "JIEDA_HOST"
PORT, PORT_VARIABLE = "8000", "JIEDA_PORT"


def set_in(environ: Mapping[str, str], variable: str, default: str) -> str:
    """What a variable is set to. Set to nothing is not set, and neither is what Kubernetes puts into every container
    beside a service named jieda: `JIEDA_PORT=tcp://10.96.12.3:8000`."""
    text = environ.get(variable, "").strip()
    return default if not text or (variable == PORT_VARIABLE and text.startswith("tcp://")) else text
