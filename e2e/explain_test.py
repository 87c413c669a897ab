"""`muster explain` with a user who may only read, and a recorded manager that replays to the same decisions."""

import json
import os
import subprocess

import pytest
import yaml

from lib import Manager, job, wait_for


@pytest.fixture(scope="module")
def recorded(crds, tmp_path_factory):
    """A manager that records."""
    binary = os.environ.get("MUSTER_BINARY")
    if not binary:
        pytest.skip("MUSTER_BINARY names no program; hack/test --e2e builds and sets it")
    folder = tmp_path_factory.mktemp("recorded")
    running = Manager(binary, crds, folder)
    running.extra = ["--record", str(folder / "decisions.log")]
    running.start()
    yield running
    running.stop()


def reader(cluster, namespace, rules):
    """A service account `reader`, and a ClusterRole with these rules to bind to it; returns its name."""
    name = f"reader-{namespace}"
    cluster.must("create", "serviceaccount", "reader", "-n", namespace)
    cluster.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules})
    return name


def kubeconfig_of(cluster, namespace, tmp_path):
    token = cluster.must("create", "token", "reader", "-n", namespace).strip()
    config = yaml.safe_load(open(cluster.kubeconfig))
    context = next(c for c in config["contexts"] if c["name"] == config["current-context"])
    context["context"]["user"] = "reader"
    context["context"]["namespace"] = namespace
    config["users"] = [{"name": "reader", "user": {"token": token}}]
    path = tmp_path / "reader.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return str(path)


def explain(binary, kubeconfig, *args):
    return subprocess.run([binary, "explain", "--kubeconfig", kubeconfig, *args], capture_output=True, text=True, timeout=60)


READ_ALL = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]


def test_a_pending_job_is_explained_to_a_reader(recorded, crds, namespace, tmp_path):
    queue = crds.queue(namespace, 4)
    crds.create(job("first", namespace, cpu=3))
    crds.wait_workload("first", namespace, "Admitted")
    crds.create(job("second", namespace, cpu=2))
    waiting = crds.wait_workload("second", namespace, "QuotaReserved", reason="WaitingForQuota")
    holder = crds.workload_of("first", namespace)["metadata"]["name"]

    role = reader(crds, namespace, READ_ALL)
    crds.must("create", "clusterrolebinding", role, f"--clusterrole={role}", f"--serviceaccount={namespace}:reader")
    config = kubeconfig_of(crds, namespace, tmp_path)

    done = explain(recorded.binary, config, "job/second", "-o", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["workload"] == f"{namespace}/{waiting['metadata']['name']}"
    assert answer["state"] == "Pending" and answer["reason"] == "WaitingForQuota"
    assert answer["notes"] == []
    [flavor] = answer["flavors"]
    assert (flavor["requested"], flavor["available"], flavor["missing"], flavor["atMost"]) == ("2", "1", "1", "4")
    assert [h["workload"] for h in flavor["holders"]] == [f"{namespace}/{holder}"]
    assert answer["positionInClusterQueue"] == {"index": 0, "of": 1}
    assert {"event": "Quota", "name": f"cq/{queue}"}.items() <= answer["cures"][0].items()

    text = explain(recorded.binary, config, f"workload/{waiting['metadata']['name']}")
    assert text.returncode == 0 and "1 more needed" in text.stdout, text.stderr
    admitted = explain(recorded.binary, config, "job/first")
    assert admitted.returncode == 0 and ": Admitted" in admitted.stdout, admitted.stderr
    nobody = explain(recorded.binary, config, "job/nobody")
    assert nobody.returncode == 1 and f"there is no Job {namespace}/nobody" in nobody.stderr


def test_a_gang_without_nodes_is_explained(recorded, crds, namespace):
    crds.queue(namespace, 1000)
    crds.create(job("wide", namespace, pods=7, cpu=7, gang=True))
    crds.wait_workload("wide", namespace, "QuotaReserved", reason="TopologyPlacementFailed")
    done = explain(recorded.binary, crds.kubeconfig, "job/wide", "-n", namespace, "-o", "json")
    assert done.returncode == 0, done.stderr
    [nodes] = json.loads(done.stdout)["nodes"]
    assert nodes["wanted"] == 7 and nodes["placed"] < 7
    assert "nodes are available" in nodes["message"]


def test_a_reader_of_one_namespace_gets_the_managers_words(recorded, crds, namespace, tmp_path):
    crds.queue(namespace, 1)
    crds.create(job("big", namespace, cpu=2))
    crds.wait_workload("big", namespace, "QuotaReserved", reason="ExceedsMaxQuota")
    role = reader(crds, namespace, READ_ALL)
    crds.must("create", "rolebinding", role, "-n", namespace, f"--clusterrole={role}", f"--serviceaccount={namespace}:reader")
    done = explain(recorded.binary, kubeconfig_of(crds, namespace, tmp_path), "job/big", "-o", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["reason"] == "ExceedsMaxQuota" and "maximum capacity (1)" in answer["message"]
    assert any("ClusterQueues are not seen" in note for note in answer["notes"])
    assert answer["flavors"] == []


def test_the_recorded_manager_replays_identically(recorded, crds, namespace):
    log = recorded.folder / "decisions.log"
    crds.queue(namespace, 4, preemption={"withinClusterQueue": "LowerPriority"})
    crds.create(job("one", namespace, pods=2, cpu=1, gang=True, run_time="1s"), job("two", namespace, cpu=3, gang=True, run_time="1s"))
    crds.wait_workload("one", namespace, "Finished")
    crds.wait_workload("two", namespace, "Finished")
    recorded.kill()  # half a line may be left
    recorded.resume()
    wait_for("the manager to be ready again", lambda: recorded.http("/readyz")[0] == 200)
    crds.create(job("three", namespace, gang=True, run_time="1s"))
    crds.wait_workload("three", namespace, "Finished")
    recorded.process.terminate()
    recorded.process.wait(20)

    done = subprocess.run([recorded.binary, "replay", str(log), "-o", "json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["same"] and answer["processes"] == 2
    assert answer["effects"] > 5 and answer["cycles"] >= 1

    shown = subprocess.run([recorded.binary, "replay", str(log), "--show-cycle", "1"], capture_output=True, text=True, timeout=120)
    assert "cycle 1  Admitted" in shown.stdout, shown.stdout
