"""The `jieda` script: starts the program that a command belongs to, and imports none of them.

A health check runs every few seconds for years, and whoever checks a file waits for the check: neither needs what a
server is made of. In a process that has imported the whole application a health check would cost a second of CPU; alone
it costs a tenth of that.
"""

import os
import sys

HEALTH = "health"
PROGRAMS = {
    HEALTH: "jieda.cli.health",
    "serve": "jieda.cli.serve",
    "search": "jieda.cli.search_commands",
    "read": "jieda.cli.search_commands",
    "index": "jieda.cli.search_commands",
    "diagnose": "jieda.cli.diagnose",
    "run": "jieda.cli.run_command",
    "mcp": "jieda.cli.mcp_command",
    "check": "jieda.cli.check_command",
    "init": "jieda.cli.init_command",
    "new": "jieda.cli.new_command",
    "sync": "jieda.cli.maintenance_commands",
    "mv": "jieda.cli.maintenance_commands",
    "fmt": "jieda.cli.maintenance_commands",
    "stats": "jieda.cli.maintenance_commands",
    "import": "jieda.cli.import_command",
    "export": "jieda.cli.export_command",
    "load": "jieda.cli.load_command",
    "eval": "jieda.cli.eval_command",
    "votes": "jieda.cli.feedback_commands",
    "gaps": "jieda.cli.feedback_commands",
}
"""The module that runs each command; `jieda.cli.main` runs any, and says which there are."""

RUN = "import runpy; runpy.run_module('{}', run_name='__main__')"
"""Not `-m`: the workers of a server, new processes all, would import that module before they do anything else, and with
it the whole application; whoever kills the server meanwhile would wait for it."""


def main() -> None:
    """Becomes the program, arguments and all."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    program = PROGRAMS.get(name, "jieda.cli.main")
    rest = sys.argv[2:] if name == HEALTH else sys.argv[1:]
    os.execv(sys.executable, [sys.executable, *_flags(), "-c", RUN.format(program), *rest])  # noqa: S606 - our own module


def _flags() -> list[str]:
    """Options of the next interpreter: those of this one that it must have, too, and nothing is imported from the
    current folder, which may be a clone of whose files nobody knows what they are."""
    return ["-P", *(f"-W{option}" for option in sys.warnoptions)]
