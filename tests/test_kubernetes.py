"""The manifest for Kubernetes agrees with the image, the settings and the addresses that there are."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jieda.presentation import paths
from jieda.settings import TABLE, Settings, env_of
from jieda.version import VERSION

ROOT = Path(__file__).resolve().parent.parent
LONGEST_STOP = 10
"""Seconds."""


@cache
def manifest() -> dict[str, dict[str, Any]]:
    """Each object by its kind; there is one of each."""
    text = (ROOT / "deploy" / "kubernetes.yaml").read_text(encoding="utf-8")
    objects = list(yaml.safe_load_all(text))
    found = {each["kind"]: each for each in objects}
    assert len(found) == len(objects)
    return found


def pod() -> dict[str, Any]:
    whole: dict[str, Any] = manifest()["Deployment"]["spec"]["template"]["spec"]
    return whole


def container() -> dict[str, Any]:
    (only,) = pod()["containers"]
    return dict(only)


def dockerfile(pattern: str) -> str:
    found = re.findall(pattern, (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    return str(found[-1])


def test_every_variable_is_a_setting_and_every_value_makes_sense(tmp_path: Path) -> None:
    given = manifest()["ConfigMap"]["data"]
    named = set(given) | {each["name"] for each in container()["env"]}
    assert named <= set(map(env_of, TABLE))
    assert all(isinstance(value, str) for value in given.values()), "Kubernetes takes no other"
    settings = Settings.load(given | {"JIEDA_DATA": str(tmp_path)})
    assert settings.workers > 1
    assert settings.log_format == "json"


def test_its_objects_belong_together() -> None:
    assert set(manifest()) == {"PersistentVolumeClaim", "ConfigMap", "Deployment", "Service"}
    names = {each["metadata"]["name"] for each in manifest().values()}
    assert names == {"jieda"}
    labels = manifest()["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert manifest()["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert manifest()["Service"]["spec"]["selector"].items() <= labels.items()
    assert container()["envFrom"] == [{"configMapRef": {"name": "jieda"}}]
    assert pod()["volumes"][0]["persistentVolumeClaim"]["claimName"] == "jieda"
    assert container()["image"] == f"jieda:{VERSION}"


def test_it_asks_addresses_that_there_are_at_the_port_of_the_image() -> None:
    (port,) = container()["ports"]
    assert str(port["containerPort"]) == dockerfile(r"^EXPOSE (\d+)")
    assert manifest()["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    probes = {name: container()[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startup": paths.READYZ,
        "readiness": paths.READYZ,
        "liveness": paths.HEALTHZ,
    }
    assert {probe["port"] for probe in probes.values()} == {port["name"]}
    notes = manifest()["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert notes["prometheus.io/path"] == paths.METRICS
    assert notes["prometheus.io/port"] == str(port["containerPort"])


def test_it_takes_every_privilege_away_and_mounts_what_the_image_writes() -> None:
    security = pod()["securityContext"]
    assert f"{security['runAsUser']}:{security['runAsGroup']}" == dockerfile(r"^USER (\S+)")
    assert security["runAsNonRoot"] is True
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert [mount["mountPath"] for mount in container()["volumeMounts"]] == [dockerfile(r"JIEDA_DATA=(\S+)")]
    assert pod()["automountServiceAccountToken"] is False
    assert pod()["enableServiceLinks"] is False
    assert pod()["terminationGracePeriodSeconds"] > LONGEST_STOP
    assert set(container()["resources"]) == {"requests", "limits"}
