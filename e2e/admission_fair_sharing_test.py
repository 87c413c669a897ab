"""Admission fair sharing on a real control plane: who has used less goes first, and a restart keeps what was used."""

import pytest

from conftest import _binary
from lib import Manager, is_true, job, kueue, wait_for


class UsageManager(Manager):
    def configuration(self):
        config = super().configuration()
        config["admissionFairSharing"] = {"usageHalfLifeTime": "10m", "usageSamplingInterval": "2s"}
        return config


@pytest.fixture(scope="module")
def manager(crds, tmp_path_factory):
    running = UsageManager(_binary(), crds, tmp_path_factory.mktemp("usage-manager"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def queues(manager, crds, namespace):
    """LocalQueues `hungry` and `modest` of one ClusterQueue with 1 cpu."""
    queue = crds.queue(namespace, 1)
    crds.must("patch", "clusterqueue", queue, "--type=merge", "-p",
              '{"spec":{"admissionScope":{"admissionMode":"UsageBasedAdmissionFairSharing"}}}')
    crds.create(*[kueue("LocalQueue", name, namespace, spec={"clusterQueue": queue}) for name in ("hungry", "modest")])
    return namespace


def history(cluster, name, namespace):
    status = cluster.get("localqueue", name, namespace).get("status", {})
    return status.get("fairSharing", {}).get("admissionFairSharingStatus")


def cores(found):
    text = found["consumedResources"].get("cpu", "0")
    unit = {"n": 1e-9, "u": 1e-6, "m": 1e-3}
    return float(text[:-1]) * unit[text[-1]] if text[-1] in unit else float(text)


def finished(cluster, name, namespace):
    return is_true(cluster.get("job", name, namespace), "Complete")


def test_who_has_used_less_goes_first(queues, crds):
    namespace = queues
    assert wait_for("the first status", lambda: history(crds, "hungry", namespace))["consumedResources"] == {}
    crds.create(job("h0", namespace, queue="hungry", run_time="6s", nodeName="node-0"))
    crds.wait_workload("h0", namespace, "Admitted")
    crds.create(*[job(f"h{i}", namespace, queue="hungry", run_time="2s", nodeName="node-0") for i in (1, 2)])
    wait_for("the second one's Workload", lambda: crds.workload_of("h2", namespace))
    crds.create(job("m", namespace, queue="modest", run_time="2s", nodeName="node-0"))
    wait_for("the modest queue's job", lambda: finished(crds, "m", namespace))
    assert not finished(crds, "h2", namespace)
    wait_for("all jobs", lambda: finished(crds, "h1", namespace) and finished(crds, "h2", namespace))
    used = lambda name: cores(history(crds, name, namespace))
    wait_for("the histories", lambda: used("hungry") > used("modest") > 0)


def test_a_restart_keeps_what_was_used(queues, manager, crds):
    namespace = queues
    crds.create(job("h", namespace, queue="hungry", run_time="3s", nodeName="node-0"))
    wait_for("the job", lambda: finished(crds, "h", namespace))
    before = wait_for("its history", lambda: (h := history(crds, "hungry", namespace)) and cores(h) > 0 and h)
    manager.kill()
    manager.resume()
    manager.wait_ready()
    after = wait_for("a later history", lambda: (h := history(crds, "hungry", namespace))
                     and h["lastUpdate"] > before["lastUpdate"] and h)
    assert 0.8 * cores(before) < cores(after) <= cores(before) + 0.01
