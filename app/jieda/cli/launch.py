"""The `jieda` script: replaces itself with the program of a command, without importing it.

Health checks run every few seconds for years, and `jieda check` should start fast; neither needs the server's modules.
If it imported the whole application, a health check would take a second of CPU time, ten times as much.
"""

import os
import sys
from importlib import import_module

HEALTH = "health"
PROGRAMS: dict[str, tuple[str, str]] = {
    HEALTH: ("jieda.cli.health", "Check whether a running server is ready."),
    "serve": ("jieda.cli.serve", "Serve the web pages and the API."),
    "search": ("jieda.cli.search_commands", "Search the content."),
    "read": ("jieda.cli.search_commands", "Print an entry as Markdown."),
    "index": ("jieda.cli.search_commands", "Build the index in advance, so that a server starts at once."),
    "diagnose": ("jieda.cli.diagnose", "Find the entries that explain a log."),
    "run": ("jieda.cli.run_command", "Run a command and, if it fails, explain why."),
    "mcp": ("jieda.cli.mcp_command", "Serve coding agents over MCP on standard input and output."),
    "check": ("jieda.cli.check_command", "Report the problems in the content."),
    "init": ("jieda.cli.init_command", "Create a site of your own."),
    "new": ("jieda.cli.new_command", "Write the skeleton of a new entry."),
    "sync": ("jieda.cli.maintenance_commands", "Mark the two editions of an entry as saying the same."),
    "mv": ("jieda.cli.maintenance_commands", "Change the id of an entry."),
    "fmt": ("jieda.cli.maintenance_commands", "Put front matter into the standard order."),
    "stats": ("jieda.cli.maintenance_commands", "Count the entries."),
    "import": ("jieda.cli.import_command", "Turn question-and-answer pages into drafts."),
    "export": (
        "jieda.cli.export_command",
        "Export the site as static files that are searched in the browser.",
    ),
    "load": ("jieda.cli.load_command", "Load entries from JSON lines."),
    "eval": ("jieda.cli.eval_command", "Measure search and diagnosis on judged queries."),
    "votes": ("jieda.cli.feedback_commands", "Show how often entries solved a problem."),
    "gaps": ("jieda.cli.feedback_commands", "Show unanswered questions."),
}
"""Module and description of each command; `jieda.cli.main` runs and lists them."""

RUN = "import gc; gc.disable(); from jieda.cli.main import main; main(prog_name='jieda')"
"""Not `-m`, because spawned workers would first import that module, and stopping the server would have to wait. Modules
are not garbage: `jieda.cli.main` enables the collector once the command is imported."""
RUN_HEALTH = "from jieda.cli.health import main; main()"

ENVIRONMENT = {
    # One arena and a low threshold make glibc return freed memory; threads that build and open generations would
    # otherwise fragment an arena each.
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TRIM_THRESHOLD_": "131072",
    # The threads of BLAS wait for one another, and starting one per core takes a tenth of a second.
    "OPENBLAS_NUM_THREADS": "1",
}
"""Variables that libraries read when they are loaded; the user's own values take precedence."""

ALL = "jieda.cli.main"
"""Lists the commands and prints the version, which is not worth a second interpreter."""


def main() -> None:
    """Replace this process with the program, passing its arguments."""
    _open_standard_streams()
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in PROGRAMS:
        sys.exit(import_module(ALL).main(prog_name="jieda"))
    for variable, value in ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    program = [RUN_HEALTH, *sys.argv[2:]] if name == HEALTH else [RUN, *sys.argv[1:]]
    # -P: nothing is imported from the current directory, which may be an untrusted clone.
    flags = ["-P", *(f"-W{option}" for option in sys.warnoptions)]
    os.execv(sys.executable, [sys.executable, *flags, "-c", *program])  # noqa: S606 - our own module


def _open_standard_streams() -> None:
    """Open the standard streams that the caller has closed (`<&-`), so that no other file takes their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
