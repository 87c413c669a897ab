"""Fixtures of the end-to-end tests: a real control plane, and Muster's manager on it.

The cluster is the one of KUBECONFIG when MUSTER_E2E_EXISTING=1 says that it may be used for tests, otherwise one that
hack/cluster starts for this run and takes down again. The manager is MUSTER_BINARY (hack/test sets it).
"""

import os
import pathlib
import subprocess
import tempfile

import pytest

from lib import ROOT, Cluster, Manager


def _binary():
    binary = os.environ.get("MUSTER_BINARY")
    if not binary or not pathlib.Path(binary).exists():
        pytest.skip("MUSTER_BINARY names no program; hack/test --e2e builds and sets it")
    return binary


@pytest.fixture(scope="session")
def cluster():
    """A control plane with kube-controller-manager and 6 simulated nodes of 8 cpu (node-0 … node-5)."""
    if os.environ.get("MUSTER_E2E_EXISTING") == "1":
        yield Cluster(os.environ["KUBECONFIG"])
        return
    with tempfile.TemporaryDirectory(prefix="m-") as state:
        try:
            subprocess.run([ROOT / "hack/cluster", "up", "--state", f"{state}/c", "--nodes", "6"], check=True, timeout=1800)
            os.environ["KUBECONFIG"] = f"{state}/c/admin.kubeconfig"
            yield Cluster(f"{state}/c/admin.kubeconfig")
        finally:
            subprocess.run([ROOT / "hack/cluster", "down", "--state", f"{state}/c"], check=False, timeout=120)


@pytest.fixture(scope="session")
def crds(cluster):
    cluster.must("apply", "--server-side", "-k", str(ROOT / "manifests/crd"))
    for crd in ("workloads", "clusterqueues", "localqueues", "resourceflavors", "cohorts", "workloadpriorityclasses"):
        cluster.must("wait", "--for=condition=Established", "--timeout=60s", f"crd/{crd}.kueue.x-k8s.io")
    return cluster


@pytest.fixture(scope="module")
def manager(crds, tmp_path_factory):
    """The manager outside the cluster, webhooks included, with admin rights; restarted by tests that kill it."""
    running = Manager(_binary(), crds, tmp_path_factory.mktemp("manager"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def namespace(crds):
    """A fresh namespace, deleted afterwards together with the queues that tests made through `crds.queue`."""
    name = crds.fresh("ns")
    crds.must("create", "namespace", name)
    yield name
    crds.clean(name)
