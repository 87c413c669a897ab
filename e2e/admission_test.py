"""A Job in a queue: held by the webhook, admitted by quota, started, finished; statuses and reasons on the way."""

import pytest

from lib import condition, is_true, job, kueue, wait_for


def suspended(cluster, name, namespace):
    return cluster.get("job", name, namespace)["spec"].get("suspend", False)


def test_a_job_runs_from_the_queue_to_its_end(manager, crds, namespace):
    queue = crds.queue(namespace, 4)
    crds.create(job("one", namespace, pods=2, run_time="1s", nodeName="node-0"))
    workload = crds.wait_workload("one", namespace, "Admitted")
    assert workload["status"]["admission"]["clusterQueue"] == queue
    assert workload["status"]["admission"]["podSetAssignments"][0]["resourceUsage"] == {"cpu": "2"}
    assert condition(workload, "QuotaReserved")["message"] == f"Quota reserved in ClusterQueue {queue}"
    wait_for("the Job to complete", lambda: is_true(crds.get("job", "one", namespace), "Complete"))
    crds.wait_workload("one", namespace, "Finished")
    wait_for("usage to be released", lambda: crds.get("clusterqueue", queue)["status"]["reservingWorkloads"] == 0)


def test_a_second_job_waits_with_a_reason_and_starts_when_the_first_ends(manager, crds, namespace):
    crds.queue(namespace, 2)
    crds.create(job("first", namespace, cpu=2, run_time="5s", nodeName="node-0"))
    crds.wait_workload("first", namespace, "Admitted")
    crds.create(job("second", namespace, cpu=2, run_time="1s", nodeName="node-0"))
    waiting = crds.wait_workload("second", namespace, "QuotaReserved", reason="WaitingForQuota")
    assert "insufficient unused quota for cpu in flavor" in condition(waiting, "QuotaReserved")["message"]
    assert suspended(crds, "second", namespace)
    crds.wait_workload("second", namespace, "Admitted")
    crds.wait_workload("second", namespace, "Finished")


def test_a_request_above_the_quota_says_so(manager, crds, namespace):
    crds.queue(namespace, 2)
    crds.create(job("huge", namespace, cpu=100))
    crds.wait_workload("huge", namespace, "QuotaReserved", reason="ExceedsMaxQuota")


def test_higher_priority_preempts_and_the_victim_returns(manager, crds, namespace):
    crds.queue(namespace, 2, preemption={"withinClusterQueue": "LowerPriority"})
    low, high = crds.fresh("low"), crds.fresh("high")
    crds.create(kueue("WorkloadPriorityClass", low, value=1), kueue("WorkloadPriorityClass", high, value=100))
    crds.create(job("victim", namespace, cpu=2, priority=low, nodeName="node-0"))
    crds.wait_workload("victim", namespace, "Admitted")
    crds.create(job("preemptor", namespace, cpu=2, priority=high, run_time="2s", nodeName="node-0"))
    evicted = crds.wait_workload("victim", namespace, "Preempted")
    assert condition(evicted, "Evicted")["reason"] == "Preempted"
    assert condition(evicted, "Preempted")["reason"] == "InClusterQueue"
    crds.wait_workload("preemptor", namespace, "Finished")
    crds.wait_workload("victim", namespace, "Admitted")
    assert not suspended(crds, "victim", namespace)


def test_a_cohort_lends_and_reclaims(manager, crds):
    ours, theirs = crds.fresh("ns"), crds.fresh("ns")
    cohort, flavor = crds.fresh("cohort"), crds.fresh("flavor")
    for name in (ours, theirs):
        crds.must("create", "namespace", name)
        crds.queue(name, 2, cohort=cohort, flavor=flavor, preemption={"reclaimWithinCohort": "Any"})
    try:
        crds.create(job("borrower", theirs, pods=2, cpu=2, nodeName="node-0"))
        crds.wait_workload("borrower", theirs, "Admitted")
        crds.create(job("owner", ours, cpu=2, run_time="1s", nodeName="node-0"))
        evicted = crds.wait_workload("borrower", theirs, "Preempted")
        assert condition(evicted, "Preempted")["reason"] == "InCohortReclamation"
        crds.wait_workload("owner", ours, "Finished")
        crds.wait_workload("borrower", theirs, "Admitted")
    finally:
        crds.clean(ours)
        crds.clean(theirs)


def test_flavors_put_their_labels_and_tolerations_on_the_pods(manager, crds, namespace):
    flavor = crds.fresh("flavor")
    crds.create(kueue("ResourceFlavor", flavor, spec={
        "nodeLabels": {"type": "kwok"}, "tolerations": [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}]}))
    crds.queue(namespace, 2, flavor=flavor)
    crds.create(job("labelled", namespace))
    crds.wait_workload("labelled", namespace, "Admitted")
    wait_for("the Job to start", lambda: not suspended(crds, "labelled", namespace))
    spec = crds.get("job", "labelled", namespace)["spec"]["template"]["spec"]
    assert spec["nodeSelector"]["type"] == "kwok"
    assert {"key": "spot", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]


@pytest.mark.parametrize("workload_first", [True, False])
def test_a_prebuilt_workload_is_adopted_and_used(manager, crds, namespace, workload_first):
    queue = crds.queue(namespace, 2)
    one = job("prebuilt", namespace, run_time="1s", nodeName="node-0", labels={"kueue.x-k8s.io/prebuilt-workload-name": "mine"})
    one["spec"]["template"]["spec"]["containers"][0] |= {  # the API server's defaults: equivalence is literal
        "imagePullPolicy": "Always", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    template = one["spec"]["template"]
    prebuilt = kueue("Workload", "mine", namespace, spec={
        "queueName": "queue", "podSets": [{"name": "main", "count": 1, "template": template}]})
    for each in [prebuilt, one] if workload_first else [one, prebuilt]:
        crds.create(each)
    wait_for("the Job to complete", lambda: is_true(crds.get("job", "prebuilt", namespace), "Complete"))
    workload = crds.get("workload", "mine", namespace)
    assert workload["status"]["admission"]["clusterQueue"] == queue
    owner = workload["metadata"]["ownerReferences"][0]
    assert (owner["name"], owner["controller"]) == ("prebuilt", True)
    assert len(crds.get("workload", namespace=namespace)) == 1


def test_a_workload_that_may_not_be_created_is_told_and_not_hammered(manager, crds, namespace):
    crds.queue(namespace, 2)
    none = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none", "namespace": namespace},
            "spec": {"hard": {"count/workloads.kueue.x-k8s.io": "0"}}}
    crds.create(none)
    wait_for("the quota to count", lambda: "hard" in crds.get("resourcequota", "none", namespace).get("status", {}))
    crds.create(job("refused", namespace, run_time="1s", nodeName="node-0"))

    def told():
        return [e for e in crds.get("events.events.k8s.io", namespace=namespace) if e["reason"] == "ErrWorkloadCompose"]

    wait_for("an event that says why", lambda: any("is forbidden" in e["note"] for e in told()))
    crds.must("delete", "resourcequota", "none", "-n", namespace)
    wait_for("the Job to complete", lambda: is_true(crds.get("job", "refused", namespace), "Complete"), 120)
    assert len({e["note"] for e in told()}) == len(told()), "each reason once"


def test_deactivating_stops_and_reactivating_starts_again(manager, crds, namespace):
    crds.queue(namespace, 2)
    crds.create(job("switched", namespace, nodeName="node-0"))
    workload = crds.wait_workload("switched", namespace, "Admitted")
    name = workload["metadata"]["name"]
    crds.must("patch", "workload", name, "-n", namespace, "--type=merge", "-p", '{"spec":{"active":false}}')
    wait_for("the Job to be suspended", lambda: suspended(crds, "switched", namespace))
    wait_for("quota to be released", lambda: not is_true(crds.get("workload", name, namespace), "QuotaReserved"))
    crds.must("patch", "workload", name, "-n", namespace, "--type=merge", "-p", '{"spec":{"active":true}}')
    crds.wait_workload("switched", namespace, "Admitted")


def test_an_unsuspended_job_without_admission_is_suspended_again(manager, crds, namespace):
    crds.queue(namespace, 1)
    crds.create(job("patient", namespace, cpu=5))
    crds.wait_workload("patient", namespace, "QuotaReserved", reason="ExceedsMaxQuota")
    crds.must("patch", "job", "patient", "-n", namespace, "--type=merge", "-p", '{"spec":{"suspend":false}}')
    wait_for("the Job to be suspended again", lambda: suspended(crds, "patient", namespace))


def test_queue_statuses_count_what_waits_and_runs(manager, crds, namespace):
    queue = crds.queue(namespace, 2)
    for name in ("a", "b", "c"):
        crds.create(job(name, namespace, cpu=2))
    status = wait_for("counts", lambda: (s := crds.get("clusterqueue", queue)["status"])
                      and s.get("pendingWorkloads") == 2 and s.get("admittedWorkloads") == 1 and s)
    assert status["flavorsUsage"][0]["resources"] == [{"name": "cpu", "total": "2", "borrowed": "0"}]
    assert is_true({"status": status}, "Active")
    local = crds.get("localqueue", "queue", namespace)["status"]
    assert (local["pendingWorkloads"], local["admittedWorkloads"]) == (2, 1)


def test_a_missing_flavor_makes_the_queue_inactive_until_it_comes(manager, crds, namespace):
    flavor = crds.fresh("late")
    queue = crds.fresh("cq")
    crds.create(kueue("ClusterQueue", queue, spec={"namespaceSelector": {}, "resourceGroups": [
        {"coveredResources": ["cpu"], "flavors": [{"name": flavor, "resources": [{"name": "cpu", "nominalQuota": 2}]}]}]}),
        kueue("LocalQueue", "queue", namespace, spec={"clusterQueue": queue}))
    inactive = wait_for("Active=False", lambda: (c := condition(crds.get("clusterqueue", queue), "Active")) and c["status"] == "False" and c)
    assert inactive["reason"] == "FlavorNotFound"
    assert inactive["message"] == f"Can't admit new workloads: references missing ResourceFlavor(s): {flavor}."
    crds.create(job("waits", namespace))
    crds.create(kueue("ResourceFlavor", flavor))
    crds.wait_workload("waits", namespace, "Admitted")


@pytest.mark.parametrize("pods", [50])
def test_many_jobs_all_finish(manager, crds, namespace, pods):
    crds.queue(namespace, 8)
    crds.create(*[job(f"j{i}", namespace, run_time="1s", nodeName=f"node-{i % 6}") for i in range(pods)])
    wait_for("all Jobs to complete",
             lambda: all(is_true(j, "Complete") for j in crds.get("job", namespace=namespace)), 180)
