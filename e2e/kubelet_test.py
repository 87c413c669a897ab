"""On a real kubelet and containerd: Muster runs as a container image under its own ServiceAccount, with no rights but
those of manifests/, and the API server reaches its webhook through the Service."""

import os
import pathlib
import subprocess
import tempfile

import pytest

from lib import ROOT, Cluster, condition, is_true, job, wait_for

pytestmark = pytest.mark.kubelet
IMAGE = "busybox:dev"  # imported by hack/cluster


@pytest.fixture(scope="module")
def deployed():
    binary = os.environ.get("MUSTER_BINARY")
    if not binary or not pathlib.Path(binary).exists():
        pytest.skip("MUSTER_BINARY names no program; hack/test --kubelet builds and sets it")
    with tempfile.TemporaryDirectory(prefix="m-") as folder:
        state = f"{folder}/c"
        try:
            subprocess.run([ROOT / "hack/cluster", "up", "--state", state, "--kubelet", "--scheduler"], check=True, timeout=1800)
            subprocess.run([ROOT / "hack/image", binary, f"{folder}/muster.tar", "--name", "muster:dev"], check=True, timeout=300)
            subprocess.run([ROOT / "hack/cluster", "load-image", f"{folder}/muster.tar", "--state", state], check=True, timeout=300)
            cluster = Cluster(f"{state}/admin.kubeconfig")
            cluster.must("apply", "-k", str(ROOT / "manifests"))
            try:
                cluster.must("wait", "-n", "muster-system", "--for=condition=Available", "--timeout=180s",
                             "deployment/muster-controller-manager", timeout=200)
            except AssertionError as error:
                logs = cluster.run("logs", "-n", "muster-system", "deployment/muster-controller-manager", "--tail=40")
                pods = cluster.run("describe", "pods", "-n", "muster-system")
                raise AssertionError(f"{error}\n{logs.stdout}{logs.stderr}\n{pods.stdout[-3000:]}") from None
            wait_for("the webhooks to answer through the Service", lambda: cluster.run(
                "create", "--dry-run=server", "-f", "-", stdin=real_job("probe", "default")).returncode == 0, 60)
            yield cluster
        finally:
            subprocess.run([ROOT / "hack/cluster", "down", "--state", state], check=False, timeout=180)


@pytest.fixture
def namespace(deployed):
    name = deployed.fresh("ns")
    deployed.must("create", "namespace", name)
    yield name
    deployed.clean(name)


def real_job(name, namespace, seconds=1, **options):
    made = job(name, namespace, **options)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container.update(image=IMAGE, imagePullPolicy="Never", command=["sleep", str(seconds)])
    return made


def manager_log(cluster):
    return cluster.must("logs", "-n", "muster-system", "deployment/muster-controller-manager", "--tail=-1")


def test_a_gang_runs_real_containers_to_the_end(deployed, namespace):
    deployed.queue(namespace, 100)
    deployed.create(real_job("gang", namespace, pods=3, cpu="100m", gang=True))
    bound = wait_for("3 bound pods", lambda: (p := deployed.bound_pods(namespace, "gang")) and len(p) == 3 and p)
    assert {p["spec"]["nodeName"] for p in bound} == {"real-0"}
    wait_for("the Job to complete", lambda: is_true(deployed.get("job", "gang", namespace), "Complete"), 90)
    deployed.wait_workload("gang", namespace, "Finished")


def test_a_second_job_waits_and_starts_when_the_first_ends(deployed, namespace):
    deployed.queue(namespace, "100m")
    deployed.create(real_job("first", namespace, seconds=4, cpu="100m", gang=True))
    deployed.wait_workload("first", namespace, "Admitted")
    deployed.create(real_job("second", namespace, cpu="100m", gang=True))
    waiting = deployed.wait_workload("second", namespace, "QuotaReserved", reason="WaitingForQuota")
    assert "insufficient unused quota" in condition(waiting, "QuotaReserved")["message"]
    wait_for("the second to complete", lambda: is_true(deployed.get("job", "second", namespace), "Complete"), 90)


def test_the_manager_is_denied_nothing(deployed, namespace):
    deployed.queue(namespace, 1)
    deployed.create(real_job("plain", namespace, cpu="100m", gang=True))
    wait_for("the Job to complete", lambda: is_true(deployed.get("job", "plain", namespace), "Complete"), 90)
    log = manager_log(deployed)
    refused = [line for line in log.splitlines() if "forbidden" in line.lower() or " error " in line]
    assert not refused, "\n".join(refused[:10])


def test_it_runs_without_root_and_on_a_read_only_file_system(deployed):
    pod = deployed.get("pod", namespace="muster-system")[0]
    context = pod["spec"]["containers"][0]["securityContext"]
    assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
    assert pod["spec"]["securityContext"]["runAsNonRoot"]


def test_a_restarted_pod_goes_on(deployed, namespace):
    deployed.queue(namespace, 1)
    deployed.must("delete", "pod", "-n", "muster-system", "--all", "--wait=true", timeout=120)
    deployed.must("wait", "-n", "muster-system", "--for=condition=Available", "--timeout=120s",
                  "deployment/muster-controller-manager", timeout=130)
    wait_for("the webhook to answer again", lambda: deployed.run(
        "create", "-f", "-", stdin=real_job("after", namespace, cpu="100m", gang=True)).returncode == 0, 60)
    wait_for("the Job to complete", lambda: is_true(deployed.get("job", "after", namespace), "Complete"), 90)
