"""Which flavors, how many pods, and of which resources: fungibility, partial admission and resource transformations on a
real control plane."""

import pytest

from lib import Manager, condition, is_true, job, kueue, wait_for


class TransformingManager(Manager):
    """Counts `example.com/credits` for every cpu, and no cpu."""

    def configuration(self):
        config = super().configuration()
        config["resources"] = {"transformations": [
            {"input": "cpu", "strategy": "Replace", "outputs": {"example.com/credits": "2.5"}}]}
        return config


@pytest.fixture
def stopped_manager(manager):
    """Other managers may run during the test; the module's one comes back afterwards."""
    manager.stop()
    yield manager
    manager.start()


def queue_with_flavors(cluster, namespace, quotas, *, resource="cpu", **spec):
    """One ClusterQueue over fresh flavors, `quotas` each; LocalQueue `queue`. Returns the flavors' names."""
    flavors = [cluster.fresh("flavor") for _ in quotas]
    cluster.create(*[kueue("ResourceFlavor", f) for f in flavors])
    name = cluster.fresh("cq")
    cluster.create(
        kueue("ClusterQueue", name, spec={
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "resourceGroups": [{"coveredResources": [resource], "flavors": [
                {"name": f, "resources": [{"name": resource, "nominalQuota": str(q)}]} for f, q in zip(flavors, quotas)]}],
            **spec}),
        kueue("LocalQueue", "queue", namespace, spec={"clusterQueue": name}))
    return flavors


def assignment(workload):
    return workload["status"]["admission"]["podSetAssignments"][0]


def notes(cluster, namespace, reason):
    return [e.get("note") or e.get("message", "") for e in cluster.get("events.events.k8s.io", namespace=namespace) or []
            if e["reason"] == reason]


def test_the_second_flavor_is_taken_when_the_first_is_full(manager, crds, namespace):
    first, second = queue_with_flavors(crds, namespace, [2, 4])
    crds.create(job("one", namespace, cpu=2, nodeName="node-0"))
    assert assignment(crds.wait_workload("one", namespace, "Admitted"))["flavors"] == {"cpu": first}
    crds.create(job("two", namespace, cpu=2, nodeName="node-0"))
    assert assignment(crds.wait_workload("two", namespace, "Admitted"))["flavors"] == {"cpu": second}
    told = f"; Flavors considered: main: {first}(preemptionMode=NoCandidates;insufficient unused quota for cpu in flavor {first}, 2 more needed)"
    wait_for("the event to name the flavor passed over", lambda: [n for n in notes(crds, namespace, "QuotaReserved") if told in n])


def test_a_job_starts_with_as_many_pods_as_there_is_quota_for(manager, crds, namespace):
    queue_with_flavors(crds, namespace, [3])
    shrinking = job("shrinking", namespace, pods=5, cpu=1, run_time="2s", nodeName="node-0")
    shrinking["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    crds.create(shrinking)
    workload = crds.wait_workload("shrinking", namespace, "Admitted")
    assert assignment(workload)["count"] == 3
    assert assignment(workload)["resourceUsage"] == {"cpu": "3"}
    started = wait_for("the Job to start", lambda: (lambda j: j if not j["spec"].get("suspend") else None)(
        crds.get("job", "shrinking", namespace)))
    assert started["spec"]["parallelism"] == 3
    assert started["spec"]["completions"] == 5
    wait_for("the Job to complete", lambda: is_true(crds.get("job", "shrinking", namespace), "Complete"), 90)
    crds.wait_workload("shrinking", namespace, "Finished")


def test_a_stopped_job_gets_its_parallelism_back(manager, crds, namespace):
    queue_with_flavors(crds, namespace, [3])
    shrinking = job("shrinking", namespace, pods=5, cpu=1, nodeName="node-0")
    shrinking["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    crds.create(shrinking)
    workload = crds.wait_workload("shrinking", namespace, "Admitted")
    crds.must("patch", "workload", workload["metadata"]["name"], "-n", namespace, "--type=merge", "-p",
              '{"spec":{"active":false}}')
    wait_for("the Job to be as it was", lambda: (lambda s: s.get("suspend") and s["parallelism"] == 5)(
        crds.get("job", "shrinking", namespace)["spec"]))


def test_transformed_resources_are_what_quota_counts(stopped_manager, crds, namespace, tmp_path):
    queue_with_flavors(crds, namespace, [10], resource="example.com/credits")
    running = TransformingManager(stopped_manager.binary, crds, tmp_path)
    running.start()
    try:
        crds.create(job("paid", namespace, pods=2, cpu=2, nodeName="node-0"))
        usage = assignment(crds.wait_workload("paid", namespace, "Admitted"))["resourceUsage"]
        assert usage == {"example.com/credits": "10"}
        crds.create(job("broke", namespace, cpu=1))
        waiting = crds.wait_workload("broke", namespace, "QuotaReserved", reason="WaitingForQuota")
        assert "insufficient unused quota for example.com/credits" in condition(waiting, "QuotaReserved")["message"]
        assert waiting["status"]["resourceRequests"][0]["resources"] == {"example.com/credits": "3"}
    finally:
        running.stop()
