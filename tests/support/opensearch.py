"""Runs the cluster tests against a real OpenSearch cluster of three nodes, assembled from Maven Central's jars.

    python -m tests.support.opensearch

Needs mvn and Java 17 or later; without them it says so and exits with 0. Downloads are kept in `.opensearch/` beside
the sources; the nodes listen on localhost only, with their data in a temporary directory.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

from tests.support.server import ROOT, free_port

HOME = ROOT / ".opensearch"
POM = Path(__file__).with_name("opensearch.pom.xml")
VERSION = "2.19.4"
MODULES = ("transport-netty4", "mapper-extras")
NODES = 3
PATIENCE = 180.0
POLICY = """grant {
  permission java.io.FilePermission "/proc/sys/net/core/somaxconn", "read";
  permission java.net.SocketPermission "*", "accept,connect";
  permission java.lang.RuntimePermission "*", "setContextClassLoader";
  permission java.lang.RuntimePermission "getClassLoader";
  permission java.util.PropertyPermission "sun.nio.ch.bugLevel", "write";
};
"""
LOGGING = "status = error\nrootLogger.level = warn\n"
OPTIONS = (
    "-Xms512m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.security.manager=allow -Dfile.encoding=UTF-8 "
    "-Dio.netty.noUnsafe=true -Dio.netty.noKeySetOptimization=true -Dio.netty.allocator.type=unpooled "
    # As root a server refuses to start; without JNA's native part it cannot tell who runs it.
    "-Djna.nosys=true -Djna.nounpack=true -Dlog4j2.disable.jmx=true -Dopensearch.distribution.type=tar "
    "-Dopensearch.bundled_jdk=false --add-opens=java.base/java.io=ALL-UNNAMED"
).split()


def prepare() -> None:
    """Fetch the parts of a node, once. Raises CalledProcessError."""
    if (HOME / "version").is_file() and (HOME / "version").read_text() == VERSION:
        return
    shutil.rmtree(HOME, ignore_errors=True)
    for part in ("server", *MODULES):
        into = HOME / ("lib" if part == "server" else f"modules/{part}")
        copy = ["dependency:copy-dependencies", f"-Dpart={part}", f"-DoutputDirectory={into}"]
        subprocess.run(["mvn", "-B", "-q", "-f", str(POM), *copy, "-DincludeScope=runtime"], check=True)
    served = {without_version(jar) for jar in (HOME / "lib").glob("*.jar")}
    for name in MODULES:
        furnish(HOME / "modules" / name, served)
    (HOME / "plugins").mkdir()
    (HOME / "version").write_text(VERSION)


def without_version(jar: Path) -> str:
    return re.sub(r"-\d.*", "", jar.name)


def furnish(module: Path, served: set[str]) -> None:
    """Remove from a module the jars that the server provides, and write its descriptor."""
    for jar in module.glob("*.jar"):
        if without_version(jar) in served:
            jar.unlink()
    main = next(module.glob(f"{module.name}*-{VERSION}.jar"))
    classes = "\n".join(zipfile.ZipFile(main).namelist())
    found = re.findall(r"^(org/opensearch/[^$\s]*Plugin)\.class$", classes, re.MULTILINE)
    plugin = min(found, key=lambda name: (name.count("/"), len(name))).replace("/", ".")
    about = {
        "description": module.name,
        "name": module.name,
        "version": VERSION,
        "opensearch.version": VERSION,
        "java.version": "11",
        "classname": plugin,
        "has.native.controller": "false",
    }
    (module / "plugin-descriptor.properties").write_text(
        "".join(f"{key}={value}\n" for key, value in about.items())
    )
    if module.name == "transport-netty4":
        (module / "plugin-security.policy").write_text(POLICY)


def start(root: Path, ports: list[int], transports: list[int], number: int) -> "subprocess.Popen[bytes]":
    """Start one node."""
    node = root / f"n{number}"
    for part in ("config", "data", "tmp"):
        (node / part).mkdir(parents=True)
    settings = {
        "cluster.name": "jieda-test",
        "node.name": f"n{number}",
        "path.data": node / "data",
        "path.logs": node,
        "network.host": "127.0.0.1",
        "http.port": ports[number],
        "transport.port": transports[number],
        "discovery.seed_hosts": json.dumps([f"127.0.0.1:{port}" for port in transports]),
        "cluster.initial_cluster_manager_nodes": json.dumps([f"n{each}" for each in range(NODES)]),
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        "action.auto_create_index": "false",
    }
    (node / "config/opensearch.yml").write_text(
        "".join(f"{key}: {value}\n" for key, value in settings.items())
    )
    (node / "config/log4j2.properties").write_text(LOGGING)
    (node / "config/jvm.options").write_text("")
    paths = {
        "java.io.tmpdir": node / "tmp",
        "opensearch.path.home": HOME,
        "opensearch.path.conf": node / "config",
    }
    given = [f"-D{key}={value}" for key, value in paths.items()]
    command = ["java", *OPTIONS, *given, "-cp", f"{HOME / 'lib'}/*", "org.opensearch.bootstrap.OpenSearch"]
    with (node / "out.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=node)


def wait_for(url: str) -> bool:
    """Return whether all nodes have joined the cluster before the timeout."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_cluster/health", timeout=5) as answer:
                if json.load(answer)["number_of_nodes"] == NODES:
                    return True
        except OSError:
            pass
        time.sleep(0.5)
    return False


def main() -> int:
    """Run the tests against a new cluster; return their exit code."""
    if missing := [name for name in ("mvn", "java") if shutil.which(name) is None]:
        print(f"Skipped: the tests with OpenSearch need {' and '.join(missing)}.")
        return 0
    prepare()
    root = Path(tempfile.mkdtemp(prefix="jieda-opensearch-"))
    ports, transports = ([free_port() for _ in range(NODES)] for _ in range(2))
    nodes = [start(root, ports, transports, number) for number in range(NODES)]
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    try:
        if not wait_for(urls[0]):
            print(*((root / f"n{n}/out.log").read_text()[-2000:] for n in range(NODES)), sep="\n")
            return 1
        given = {"JIEDA_TEST_OPENSEARCH_URL": " ".join(urls), "JIEDA_TEST_OPENSEARCH_PID": str(nodes[2].pid)}
        tests = sorted(str(path) for path in (ROOT / "tests").rglob("test_cluster*.py"))
        # The test that kills a node runs last.
        tests.sort(key=lambda path: path.endswith("test_cluster_nodes.py"))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *tests, *sys.argv[1:]]
        return subprocess.run(command, env=os.environ | given, cwd=ROOT, check=False).returncode
    finally:
        for node in nodes:
            node.kill()
            node.wait()
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
