"""Pods that name our scheduler are bound by Muster: a gang whole or not at all."""

import json
import time

from lib import condition, is_true, job, kueue, wait_for


def test_a_gang_is_bound_whole(manager, crds, namespace):
    crds.queue(namespace, 100)
    crds.create(job("gang", namespace, pods=3, cpu=7, gang=True))
    crds.wait_workload("gang", namespace, "Admitted")
    bound = wait_for("3 bound pods", lambda: (p := crds.bound_pods(namespace, "gang")) and len(p) == 3 and p)
    assert len({p["spec"]["nodeName"] for p in bound}) == 3  # two do not fit on a node


def test_a_gang_waits_for_nodes_with_a_reason_and_starts_when_they_are_free(manager, crds, namespace):
    crds.queue(namespace, 1000)
    crds.create(job("first", namespace, pods=6, cpu=5, gang=True, run_time="4s"))
    wait_for("6 bound pods", lambda: len(crds.bound_pods(namespace, "first")) == 6)
    crds.create(job("second", namespace, pods=4, cpu=5, gang=True, run_time="1s"))
    waiting = crds.wait_workload("second", namespace, "QuotaReserved", reason="TopologyPlacementFailed")
    message = condition(waiting, "QuotaReserved")["message"]
    assert f'0/6 nodes are available for pod group "{namespace}/' in message
    assert "6 Insufficient cpu" in message
    crds.wait_workload("second", namespace, "Finished")


def test_two_gangs_that_need_all_nodes_are_never_both_partly_bound(manager, crds, namespace):
    crds.queue(namespace, 1000)
    gangs = ("left", "right")
    crds.create(*[job(g, namespace, pods=6, cpu=6, gang=True, run_time="3s") for g in gangs])
    seen_both_done = False
    deadline = time.monotonic() + 120
    while not seen_both_done:
        assert time.monotonic() < deadline, "the gangs did not finish"
        pods = json.loads(crds.must("get", "pods", "-n", namespace, "-o", "json"))["items"]
        holding = {g: sum(1 for p in pods if p["metadata"]["labels"].get("batch.kubernetes.io/job-name") == g
                          and p["spec"].get("nodeName") and p["status"].get("phase") in ("Pending", "Running"))
                   for g in gangs}
        assert not all(holding.values()), holding
        seen_both_done = all(is_true(j, "Complete") for j in crds.get("job", namespace=namespace))


def test_a_gang_that_can_never_fit_names_what_is_missing(manager, crds, namespace):
    crds.queue(namespace, 1000)
    crds.create(job("too-big", namespace, pods=1, cpu=20, gang=True))
    waiting = crds.wait_workload("too-big", namespace, "QuotaReserved", reason="TopologyPlacementFailed")
    assert "0 of 1 pods fit" in condition(waiting, "QuotaReserved")["message"]


def test_node_selector_of_the_template_is_respected(manager, crds, namespace):
    crds.queue(namespace, 1000)
    crds.create(job("picky", namespace, gang=True, nodeSelector={"kubernetes.io/hostname": "node-3"}))
    bound = wait_for("a bound pod", lambda: crds.bound_pods(namespace, "picky"))
    assert bound[0]["spec"]["nodeName"] == "node-3"


def test_a_constraint_that_muster_does_not_implement_is_refused_by_name(manager, crds, namespace):
    crds.queue(namespace, 1000)
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}]}}
    crds.create(job("spread", namespace, gang=True, affinity=anti))
    waiting = wait_for("a reason", lambda: (w := crds.workload_of("spread", namespace))
                       and (c := condition(w, "QuotaReserved")) and c["status"] == "False" and c)
    assert "podAntiAffinity" in waiting["message"]


def test_a_preempted_gang_leaves_whole_and_comes_back_whole(manager, crds, namespace):
    crds.queue(namespace, 12, preemption={"withinClusterQueue": "LowerPriority"})
    high = crds.fresh("high")
    crds.create(kueue("WorkloadPriorityClass", high, value=100))
    crds.create(job("victim", namespace, pods=2, cpu=6, gang=True))
    wait_for("2 bound pods", lambda: len(crds.bound_pods(namespace, "victim")) == 2)
    crds.create(job("urgent", namespace, pods=2, cpu=6, gang=True, priority=high, run_time="2s"))
    wait_for("the urgent gang to be bound", lambda: len(crds.bound_pods(namespace, "urgent")) == 2)
    assert not crds.bound_pods(namespace, "victim")
    crds.wait_workload("urgent", namespace, "Finished")
    wait_for("the victim to be bound again", lambda: len(crds.bound_pods(namespace, "victim")) == 2)
