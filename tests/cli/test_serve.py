"""`jieda serve` and `jieda health` as processes: exit codes and what they say."""

import json
import os
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest
from click import ClickException
from fastapi.routing import iter_route_contexts
from jieda.cli import health
from jieda.cli.serve import check_port, command, share_with_group
from jieda.errors import SettingsError
from jieda.places import DATA
from jieda.setting_forms import RESERVED
from jieda.settings import TABLE, Settings, env_of, flag_of
from jieda.web.app import create_app

from tests.support.command import Done, jieda, process
from tests.support.inside import Inside
from tests.support.server import COMMAND, Server, environment, free_port, wait_until_ready
from tests.support.shipped import CONTENT
from tests.support.small_content import edition, write

ONE = {"en/roll/one.md": edition("One")}


def run(*arguments: str, **settings: str) -> Done:
    return process(*arguments, **variables(settings))


def variables(settings: dict[str, str]) -> dict[str, str]:
    return {f"JIEDA_{name.upper()}": value for name, value in settings.items()}


@pytest.mark.quick
def test_every_setting_is_an_option_named_with_its_variable() -> None:
    shown = jieda("serve", "--help").stdout
    for name in TABLE:
        assert flag_of(name) in shown
        assert env_of(name) in shown.replace("\n", "").replace(" " * 26, "")


@pytest.mark.quick
def test_all_wrong_settings_are_told_at_once_with_2() -> None:
    wrong = variables({"workers": "zero", "content": "/does/not/exist", "watch": "off", "prot": "80"})
    wrong |= variables({"data": "~nobody-here/data", "dictionary": f"/tmp/{'x' * 300}"})
    wrong |= variables({"allowed_hosts": "https://faq.example.com", "trusted_proxies": "10.0.0.7/8"})
    login = "https://user:s3cret@faq.example.com"
    wrong |= variables({"opensearch_url": login, "embeddings_url": login})
    ended = jieda("serve", "--port", "70000", "--base-url", login, **wrong)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.splitlines() == [
        "jieda: JIEDA_PROT is ignored, as there is no such setting: is JIEDA_PORT meant?",
        "jieda: JIEDA_PORT (--port): should be less than or equal to 65535; it is '70000'",
        "jieda: JIEDA_WORKERS (--workers): should be a valid integer; it is 'zero'",
        "jieda: JIEDA_CONTENT (--content): not a directory that can be read: /does/not/exist",
        "jieda: JIEDA_DATA (--data): Could not determine home directory; it is '~nobody-here/data'",
        "jieda: JIEDA_BASE_URL (--base-url): must be like https://faq.example.com, without login and path "
        "(the path is JIEDA_ROOT_PATH)",
        "jieda: JIEDA_ALLOWED_HOSTS (--allowed-hosts): must be host names such as faq.example.com or *.example.com, "
        "without scheme and port; it is 'https://faq.example.com'",
        "jieda: JIEDA_TRUSTED_PROXIES (--trusted-proxies): must be addresses such as 10.0.0.7, networks such as "
        "10.0.0.0/8, * or none, but 10.0.0.7/8 has host bits set; it is '10.0.0.7/8'",
        "jieda: JIEDA_WATCH (--watch): should be 'auto', 'events' or 'poll'; it is 'off'",
        "jieda: JIEDA_EMBEDDINGS_URL (--embeddings-url): must be like http://gpu1:8000/v1/embeddings, without a user",
        f"jieda: JIEDA_DICTIONARY (--dictionary): File name too long; it is '/tmp/{'x' * 300}'",
        "jieda: JIEDA_OPENSEARCH_URL (--opensearch-url): must be http(s) addresses such as "
        "https://os1.example.com:9200, without user or password",
    ]


@pytest.mark.quick
def test_a_switch_is_turned_on_and_off_by_its_option(tmp_path: Path) -> None:
    given = ["--semantic=0", "--limits", "0", "--workbench", "--gaps", "1", "--content", str(tmp_path)]
    settings = Settings.load({}, **command.make_context("serve", given).params)
    assert (settings.semantic, settings.limits, settings.workbench, settings.gaps) == (
        False,
        False,
        True,
        True,
    )
    assert "--semantic [0|1]" in jieda("serve", "--help").stdout


@pytest.mark.quick
@pytest.mark.parametrize("name", ["base_url", "cors_origins", "embeddings_url", "opensearch_url"])
@pytest.mark.parametrize("host", ["[::1", "gpu1:99999", "gpu1:x"])
def test_an_address_that_cannot_be_is_refused(name: str, host: str) -> None:
    path = "/v1/embeddings" if name == "embeddings_url" else ""
    with pytest.raises(SettingsError, match="must be"):
        Settings.load({env_of(name): f"http://{host}{path}"})


def test_only_a_data_directory_that_is_not_set_is_chosen_by_the_content(tmp_path: Path) -> None:
    content = str(write(tmp_path, ONE))
    chosen = Settings.load({}, content=[content]).data
    assert chosen.parent == DATA
    assert Settings.load({}, content=[content], data="").data == chosen
    assert Settings.load({"JIEDA_DATA": str(DATA)}, content=[content]).data == DATA


@pytest.mark.quick
def test_an_empty_host_does_not_open_the_port_to_everybody() -> None:
    ended = jieda("serve", "--host", "")
    assert (ended.returncode, ended.stderr) == (
        2,
        "jieda: JIEDA_HOST (--host): must be an address such as 0.0.0.0; it is ''\n",
    )


def test_settings_need_no_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert Settings.load({}).dictionary == ""


def test_an_option_wins_over_the_environment(tmp_path: Path) -> None:
    given = variables({"port": "8000", "content": str(write(tmp_path, ONE))})
    ended = jieda("serve", "--port", "x", **given)
    assert ended.returncode == 2
    assert "'x'" in ended.stderr


@pytest.mark.quick
@pytest.mark.parametrize(
    "name", ["*", "faq.example.com", "*.corp.example", "localhost", "[::1]", "10.0.0.7", "faq_1"]
)
def test_every_form_of_a_host_name_is_allowed(name: str, tmp_path: Path) -> None:
    given = {"JIEDA_CONTENT": str(write(tmp_path, ONE)), "JIEDA_ALLOWED_HOSTS": name}
    assert Settings.load(given).allowed_hosts == (name,)
    with pytest.raises(SettingsError, match="without scheme and port"):
        Settings.load(given | {"JIEDA_ALLOWED_HOSTS": f"{name}:8000"})


def test_directories_are_given_as_one_text_or_as_several(tmp_path: Path) -> None:
    both = [write(tmp_path / name, ONE) for name in "ab"]
    joined = os.pathsep.join(map(str, both))
    for directories in (joined, (joined,), both):
        assert Settings.load({}, content=directories).content == tuple(both)


def test_a_variable_set_to_nothing_is_not_set(tmp_path: Path) -> None:
    content = str(write(tmp_path, ONE))
    empty = dict.fromkeys(map(env_of, TABLE), "") | {"JIEDA_CONTENT": content}
    assert Settings.load(empty) == Settings.load({"JIEDA_CONTENT": content})


def test_what_kubernetes_says_of_a_service_named_jieda_is_no_port(tmp_path: Path) -> None:
    injected = {"JIEDA_PORT": "tcp://10.96.12.3:8000", "JIEDA_PORT_8000_TCP_PORT": "8000"}
    given = injected | {"JIEDA_CONTENT": str(write(tmp_path, ONE))}
    assert Settings.load(given).port == 8000
    assert "http://127.0.0.1:8000 is not ready" in run("health", port="tcp://10.96.12.3:1", host="").stderr
    with pytest.raises(SettingsError, match="JIEDA_PORT"):
        Settings.load(given | {"JIEDA_PORT": "udp://10.96.12.3:8000"})


def test_a_port_in_use_is_told_plainly_and_a_misspelled_variable_before_it(tmp_path: Path) -> None:
    """What Kubernetes sets is no misspelled variable."""
    content = str(write(tmp_path, ONE))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run(
            "serve",
            port=port,
            content=content,
            log_format="json",
            worker="2",
            port_8000_tcp_addr="10.96.12.3",
        )
    assert ended.returncode == 1
    ignored, refused = ended.stderr.splitlines()
    told = "JIEDA_WORKER is ignored, as there is no such setting: is JIEDA_WORKERS meant?"
    assert json.loads(ignored)["message"] == told
    assert refused.startswith("Error: ")
    assert f"port {port}" in ended.stderr
    assert "--port" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_broken_taxonomy_ends_the_start_with_file_and_line(tmp_path: Path) -> None:
    content = write(tmp_path / "content", ONE | {"taxonomy.yaml": "frameworks:\n  roll: [unclosed\n"})
    ended = run(
        "serve", port=str(free_port()), content=str(content), data=str(tmp_path / "data"), workers="2"
    )
    assert ended.returncode == 2
    assert "taxonomy.yaml:" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "serve" not in ended.stderr.replace("jieda serve", ""), "nothing was served before"


def test_a_server_that_is_stopped_while_it_builds_ends_quietly(tmp_path: Path) -> None:
    data = tmp_path / "data"
    environ = environment(variables({"port": str(free_port()), "data": str(data)}))
    started = subprocess.Popen([*COMMAND, "serve"], env=environ, stderr=subprocess.PIPE, encoding="utf-8")
    while not ((data / "builder.json").exists() and "building" in (data / "builder.json").read_text()):
        assert started.poll() is None
        time.sleep(0.01)
    started.terminate()
    _, printed = started.communicate()
    assert started.returncode == 0
    assert "Traceback" not in printed


def test_a_host_that_does_not_exist_is_told_as_such() -> None:
    with pytest.raises(ClickException, match="choose another host with --host") as error:
        check_port("nonsense.invalid", free_port())
    assert "Unknown error" not in str(error.value)


def test_content_directories_are_repeated_as_for_every_command(tmp_path: Path) -> None:
    """The shipped entries are served beside them where they are asked for, and the options win over the environment."""
    ours = [write(tmp_path / name, {f"en/roll/{name}.md": edition(name)}) for name in ("one", "two")]
    given = [word for path in ours for word in ("--content", str(path))]
    with_ours = Settings.load({"JIEDA_SHIPPED": "1"}, content=tuple(map(str, ours)), shipped="1").content
    assert with_ours == (CONTENT, *ours)
    port, data = free_port(), tmp_path / "data"
    environ = environment({"JIEDA_SHIPPED": "1", "JIEDA_DATA": str(data)})
    command = [*COMMAND, "serve", "--port", str(port), *given]
    with (
        (tmp_path / "output").open("ab") as sink,
        subprocess.Popen(command, env=environ, stderr=sink) as started,
    ):
        server = Server(started, f"http://127.0.0.1:{port}", tmp_path / "output", data)
        try:
            wait_until_ready(server)
            with server.client() as client:
                assert client.get("/readyz").json()["entries"] == len(ours)
        finally:
            server.stop()


def test_a_broken_second_directory_is_not_answered_with_an_index_of_other_content(
    inside: Callable[..., AbstractContextManager[Inside]], tmp_path: Path
) -> None:
    """What was built from the same directories is served, degraded; what was built from others, nobody asked for."""
    one = write(tmp_path / "one", ONE)
    two = write(tmp_path / "two", {"taxonomy.yaml": "frameworks:\n  roll: [unclosed\n"})
    data, both = str(tmp_path / "data"), f"{one}{os.pathsep}{two}"
    with inside(one, data=data):
        pass
    ended = run("serve", port=str(free_port()), content=both, data=data)
    assert (ended.returncode, "taxonomy.yaml:" in ended.stderr) == (2, True)
    (one / "taxonomy.yaml").write_text("frameworks: [unclosed\n", encoding="utf-8")
    with inside(one, data=data) as server, server.client() as client:
        assert client.get("/readyz").json()["status"] == "degraded"


def test_a_data_directory_that_cannot_be_used_is_said_and_done_without(
    start_server: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers use what their parent does; one that serves alone removes it as a search does."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    content = write(tmp_path / "content", ONE)
    server = start_server(content, data=str(tmp_path / "file" / "data"), workers="2")
    with server.client() as client:
        ready = client.get("/readyz").json()
    assert (ready["status"], ready["entries"]) == ("degraded", 1)
    assert "until a restart, a temporary directory is used" in ready["degraded"]
    assert str(tmp_path) in server.log()
    assert list((tmp_path / "tmp").iterdir())
    assert server.stop() == 0
    assert not list((tmp_path / "tmp").iterdir())
    assert "Traceback" not in server.log()


def test_a_search_that_cannot_use_the_data_directory_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    content = write(tmp_path / "content", ONE)
    ended = run("search", "One", content=str(content), data=str(tmp_path / "file" / "data"))
    assert (ended.returncode, "roll/one" in ended.stdout) == (0, True)
    assert not list((tmp_path / "tmp").iterdir())


def test_health_does_not_wait_for_a_server_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "SECONDS", 0.2)

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            for _ in range(40):
                connection.sendall(b"x")
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        dripping = threading.Thread(target=drip, args=(listening,), daemon=True)
        dripping.start()
        with pytest.raises(TimeoutError):
            health.ask(f"http://127.0.0.1:{listening.getsockname()[1]}")
        dripping.join()


def test_health_is_0_where_a_server_is_ready_and_1_where_none_is(
    inside: Callable[..., AbstractContextManager[Inside]], tmp_path: Path
) -> None:
    with inside(write(tmp_path, ONE), allowed_hosts="faq.example.com") as server:
        assert run("health", "--url", server.base).returncode == 0
        settings = {"port": server.base.rpartition(":")[2], "host": "0.0.0.0", "content": str(tmp_path)}
        proxy = {"HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1"}
        by_settings = process("health", **variables(settings), **proxy)
        assert by_settings.returncode == 0, by_settings.stderr
        wrong = run("health", "--url", f"{server.base}/en")
        assert (wrong.returncode, wrong.stdout) == (1, ""), "a web page is no answer"
    ended = run("health", "--url", f"{server.base}/x=y")
    assert ended.returncode == 1
    assert ended.stderr == f"jieda: {server.base}/x=y is not ready: Connection refused\n"
    for address in ("file:///etc/passwd", "http://faq.example.com:99999"):
        assert run("health", f"--url={address}").returncode == 2
    mistyped = run("health", "--ulr", server.base)
    assert (mistyped.returncode, mistyped.stderr[:30]) == (2, "jieda: health takes --url URL ")


def test_a_prefix_that_looks_like_an_address_of_ours_is_refused(tmp_path: Path) -> None:
    given = {
        "JIEDA_CONTENT": str(write(tmp_path, ONE)),
        "JIEDA_DATA": str(tmp_path / "data"),
        "JIEDA_CHAT": "1",
    }
    routes = create_app(Settings.load(given)).routes
    first = {context.path.split("/")[1] for context in iter_route_contexts(routes) if context.path}
    addresses = {segment for segment in first if segment and "{" not in segment and "." not in segment}
    assert addresses | {"en", "zh"} == RESERVED
    for segment in RESERVED:
        with pytest.raises(SettingsError, match="JIEDA_ROOT_PATH"):
            Settings.load({**given, "JIEDA_ROOT_PATH": f"/{segment}/x"})


def test_another_user_of_the_group_can_go_on_where_the_group_may_write(
    start_server: Callable[..., Server], tmp_path: Path
) -> None:
    """Some platforms give a container a user of their choosing, each time another, always in group 0."""
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o775)
    server = start_server(write(tmp_path / "content", ONE), data=str(data))
    vote(server)
    server.stop()
    for name, mode in modes(data).items():
        assert mode & stat.S_IWGRP, name
        assert not mode & stat.S_IRWXO, name


def test_the_group_can_write_nothing_where_it_may_not(
    inside: Callable[..., AbstractContextManager[Inside]], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    share_with_group(data)
    with inside(write(tmp_path / "content", ONE), data=str(data)) as server:
        vote(server)
    assert not [name for name, mode in modes(data).items() if mode & stat.S_IWGRP]


def vote(server: Server | Inside) -> None:
    """So that there are votes."""
    with server.client() as client:
        assert client.post("/en/entries/roll/one", data={"solved": "yes"}).status_code == 303


def modes(data: Path) -> dict[str, int]:
    """Of what a server makes in its data directory, by name."""
    names = ("build.lock", "facts-1.sqlite", "votes-1.sqlite", "generations", "images", "workers")
    return {name: (data / name).stat().st_mode for name in names}


def test_other_content_has_a_data_directory_of_its_own_by_default(tmp_path: Path) -> None:
    def data(*content: Path) -> Path:
        return Settings.load({"JIEDA_CONTENT": os.pathsep.join(map(str, content))}).data

    shipped = Settings.load({}).data
    assert data(tmp_path) not in {shipped, data(tmp_path, tmp_path)}
    assert data(tmp_path) == data(tmp_path)
    assert shipped in data(tmp_path).parents
    assert (
        Settings.load({"JIEDA_CONTENT": str(tmp_path), "JIEDA_DATA": str(tmp_path / "x")}).data
        == tmp_path / "x"
    )
