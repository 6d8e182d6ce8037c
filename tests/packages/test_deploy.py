"""The files in deploy/ and compose.yaml against the tools and schemas of the systems that read them."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from tests.peers.compose import read_compose
from tests.peers.containers import ROOT

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd/postern.service"
KUBERNETES = DEPLOY / "kubernetes"
KUBERNETES_SCHEMAS = ROOT / "tests/peers/kubernetes_schemas/packages/kubernetes_validate/kubernetes-json-schema"
COMPOSE_SCHEMA = ROOT / "tests/peers/compose_schema/packages/compose/config/compose_spec.json"
KUBERNETES_VERSIONS = ("1.29", "1.37")
"""The oldest supported version of Kubernetes, and the newest whose schemas are known."""
MAXIMUM_EXPOSURE = 2.0
"""Of ten, as `systemd-analyze security` counts; a service without any restriction has 9.6."""


def needs(program: str, install: str) -> list[pytest.MarkDecorator]:
    missing = shutil.which(program) is None
    return [
        pytest.mark.needs_tool(program, install),
        pytest.mark.skipif(missing, reason=f"{program} is missing: {install}"),
    ]


def needs_file(path: Path) -> list[pytest.MarkDecorator]:
    folder = next(parent for parent in path.parents if parent.name == "packages")
    requirements = (folder.parent / "requirements.txt").relative_to(ROOT)
    install = f"python3 -m pip install --no-deps --target {folder.relative_to(ROOT)} -r {requirements}"
    return [
        pytest.mark.needs_tool(folder.parent.name, install),
        pytest.mark.skipif(not path.exists(), reason=f"missing: {install}"),
    ]


class TestSystemd:
    pytestmark = needs("systemd-analyze", "apt-get install systemd")

    def test_the_unit_is_valid(self, tmp_path):
        """`systemd-analyze verify` on a copy whose program exists on this machine."""
        unit = tmp_path / UNIT.name
        unit.write_text(
            UNIT.read_text().replace("/opt/postern/bin/postern", str(Path(sys.executable).parent / "postern"))
        )
        verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
        assert (verified.returncode, [line for line in verified.stderr.splitlines() if UNIT.name in line]) == (0, [])

    def test_the_unit_restricts_the_service(self):
        analyzed = subprocess.run(
            ["systemd-analyze", "security", "--offline=yes", UNIT], capture_output=True, text=True, check=False
        )
        level = re.search(r"Overall exposure level for postern.service: ([\d.]+)", analyzed.stdout)
        assert level, analyzed.stdout + analyzed.stderr
        assert float(level.group(1)) <= MAXIMUM_EXPOSURE


@pytest.fixture(scope="module")
def manifests() -> list[dict[str, Any]]:
    """What `kubectl apply -k` of the example applies."""
    rendered = subprocess.run(
        ["kubectl", "kustomize", KUBERNETES / "overlays/example"], capture_output=True, text=True, check=False
    )
    assert rendered.returncode == 0, rendered.stderr
    return list(yaml.safe_load_all(rendered.stdout))


class TestKubernetes:
    pytestmark = [
        *needs("kubectl", "https://kubernetes.io/docs/tasks/tools/"),
        *needs_file(KUBERNETES_SCHEMAS),
    ]

    @pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
    def test_the_manifests_fit_the_schema_of_the_api(self, manifests, version):
        text = (KUBERNETES_SCHEMAS / f"v{version}.0-local-strict/_definitions.json").read_text()
        definitions = json.loads(text.replace("/api/_definitions.json#", "#"))["$defs"]
        assert len(manifests) == 11
        for manifest in manifests:
            assert kubernetes_errors(manifest, definitions) == [], manifest["kind"]
        # The check is strict: a misspelt field is an error.
        deployment = next(each for each in manifests if each["kind"] == "Deployment")
        assert kubernetes_errors({**deployment, "spec": {**deployment["spec"], "replica": 1}}, definitions)

    def test_every_pod_is_restricted_and_uses_one_image(self, manifests):
        """What the Pod Security Standard `restricted` asks for, and a read-only root file system."""
        pods = [each["spec"]["template"]["spec"] for each in manifests if "template" in each.get("spec", {})]
        assert len(pods) == 3
        for pod in pods:
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            assert pod["automountServiceAccountToken"] is False
            [container] = pod["containers"]
            assert container["image"] == "registry.example.com/postern:0.1.0"
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            [settings, secret] = container["envFrom"]
            names = {each["metadata"]["name"] for each in manifests if each["kind"] == "ConfigMap"}
            assert {settings["configMapRef"]["name"]} == names
            assert secret == {"secretRef": {"name": "postern"}}

    def test_services_budgets_and_policies_select_pods_that_exist(self, manifests):
        labels = [
            each["spec"]["template"]["metadata"]["labels"] for each in manifests if "template" in each.get("spec", {})
        ]
        selectors = [
            spec.get("podSelector", spec.get("selector", {})).get("matchLabels", spec.get("selector"))
            for each in manifests
            if each["kind"] in ("Service", "PodDisruptionBudget", "NetworkPolicy") and (spec := each["spec"])
        ]
        assert len(selectors) == 5
        for selector in selectors:
            assert any(selector.items() <= pod.items() for pod in labels), selector

    def test_the_probes_ask_paths_that_the_server_has(self, manifests):
        [api] = [
            each for each in manifests if each["metadata"]["name"] == "postern-api" and each["kind"] == "Deployment"
        ]
        [container] = api["spec"]["template"]["spec"]["containers"]
        paths = {name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}
        assert paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}


class TestComposeFile:
    pytestmark = needs_file(COMPOSE_SCHEMA)

    def test_compose_yaml_fits_the_schema(self):
        schema = json.loads(COMPOSE_SCHEMA.read_text())
        file = read_compose(ROOT / "compose.yaml", {"POSTGRES_PASSWORD": "p", "POSTERN_SECRET": "s"})
        validator = jsonschema_rs.validator_for(schema)
        assert [error.message for error in validator.iter_errors(file)] == []
        assert not validator.is_valid({**file, "services": {"api": {"imagee": "postern"}}})


def kubernetes_errors(manifest: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    """The errors of a manifest against the definitions of one version of Kubernetes."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    [name] = [
        name
        for name in definitions
        if name.startswith("io.k8s.api.")
        and name.endswith(f".{group.split('.')[0] or 'core'}.{version}.{manifest['kind']}")
    ]
    validator = jsonschema_rs.validator_for({"$ref": f"#/$defs/{name}", "$defs": definitions})
    return [error.message for error in validator.iter_errors(manifest)]
