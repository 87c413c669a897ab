"""Fair sharing on a real control plane: three ClusterQueues share a cohort by weight, and who borrows too much gives back."""

import pytest

from conftest import _binary
from lib import Manager, condition, is_true, job, kueue, wait_for


class FairManager(Manager):
    def configuration(self):
        config = super().configuration()
        config["fairSharing"] = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
        return config


@pytest.fixture(scope="module")
def manager(crds, tmp_path_factory):
    running = FairManager(_binary(), crds, tmp_path_factory.mktemp("fair-manager"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def sharing(manager, crds):
    """The cohort's name, and the namespaces of its queues: greedy and light (weight 1) and heavy (weight 2) have 1 cpu
    each and may borrow 5."""
    cohort, flavor = crds.fresh("cohort"), crds.fresh("flavor")
    crds.create(kueue("Cohort", cohort, spec={"resourceGroups": [
        {"coveredResources": ["cpu"], "flavors": [{"name": flavor, "resources": [{"name": "cpu", "nominalQuota": 5}]}]}]}))
    queues = {}
    for name, weight in (("greedy", 1), ("heavy", 2), ("light", 1)):
        namespace = crds.fresh(name)
        crds.must("create", "namespace", namespace)
        queue = crds.queue(namespace, 1, cohort=cohort, flavor=flavor, preemption={"reclaimWithinCohort": "Any"})
        crds.must("patch", "clusterqueue", queue, "--type=merge", "-p", f'{{"spec":{{"fairSharing":{{"weight":{weight}}}}}}}')
        queues[name] = (namespace, queue)
    yield cohort, queues
    for namespace, _ in queues.values():
        crds.clean(namespace)
    crds.run("delete", "cohort", cohort, "--wait=false")


def admitted(crds, namespace):
    return [w for w in crds.get("workload", namespace=namespace) if is_true(w, "Admitted") and not is_true(w, "Evicted")]


def share(crds, kind, name):
    return crds.get(kind, name).get("status", {}).get("fairSharing", {}).get("weightedShare")


def test_three_queues_share_by_weight(crds, sharing):
    cohort, queues = sharing
    (greedy, greedy_queue), (heavy, heavy_queue), (light, light_queue) = (queues[n] for n in ("greedy", "heavy", "light"))

    crds.create(*[job(f"g{i}", greedy, nodeName="node-0") for i in range(8)])
    wait_for("greedy to take everything", lambda: len(admitted(crds, greedy)) == 8)
    wait_for("its share to be shown", lambda: share(crds, "clusterqueue", greedy_queue) == 875)  # 7 of 8
    wait_for("the root's share, which is none", lambda: share(crds, "cohort", cohort) == 0)

    # Of 8 lendable: heavy borrows 3 by weight 2, greedy keeps 3.
    crds.create(*[job(f"h{i}", heavy, nodeName="node-1") for i in range(4)])
    wait_for("heavy to get all it wants", lambda: len(admitted(crds, heavy)) == 4)
    reasons = {(condition(w, "Preempted") or {}).get("reason") for w in crds.get("workload", namespace=greedy)}
    assert {"InCohortReclamation", "InCohortFairSharing"} <= reasons
    wait_for("shares by weight", lambda: (share(crds, "clusterqueue", greedy_queue),
                                          share(crds, "clusterqueue", heavy_queue)) == (375, 188))

    # light takes from the largest share until one more would make its own the largest.
    crds.create(*[job(f"l{i}", light, nodeName="node-2") for i in range(3)])
    wait_for("a fair end", lambda: [len(admitted(crds, n)) for n in (greedy, heavy, light)] == [2, 4, 2])
    wait_for("shares at the end", lambda: [share(crds, "clusterqueue", q) for q in (greedy_queue, heavy_queue, light_queue)]
             == [125, 188, 125])
    assert not any(is_true(w, "Evicted") for w in crds.get("workload", namespace=heavy))
