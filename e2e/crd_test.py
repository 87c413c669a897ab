"""What a real API server makes of manifests/crd: schema, defaults, pruning, CEL rules, printer columns.

Needs KUBECONFIG (for example of `hack/cluster up`) and kubectl:
    eval "$(hack/cluster env)" && /usr/bin/python3 -m pytest e2e/crd_test.py
The tests are about the schema alone, so they are skipped where Muster's webhooks are installed too.
"""

import copy
import itertools
import json
import os
import pathlib
import subprocess

import pytest
import yaml

CRDS = pathlib.Path(__file__).resolve().parent.parent / "manifests" / "crd"
SAMPLES = CRDS.parent / "samples"
NAMESPACE = "muster-crd-test"
ABSENT = None  # stands for "no field" in tables
names = (f"t-{os.getpid()}-{n}" for n in itertools.count())


# ---------------------------------------------------------------- kubectl


def kubectl(*args, stdin=None):
    """Runs kubectl; gives (accepted, output)."""
    text = json.dumps(stdin) if stdin is not None else None
    done = subprocess.run(["kubectl", *args], input=text, capture_output=True, text=True, timeout=60)
    return done.returncode == 0, done.stdout if done.returncode == 0 else done.stderr


def must(*args, stdin=None):
    accepted, output = kubectl(*args, stdin=stdin)
    assert accepted, output
    return output


def dry_create(obj):
    return kubectl("create", "--dry-run=server", "--validate=ignore", "-o", "json", "-f", "-", stdin=obj)


def expect(outcome, message):
    """message None: accepted. Otherwise rejected, with the text in the answer."""
    accepted, output = outcome
    if message is None:
        assert accepted, output
    else:
        assert not accepted, "accepted, but expected: " + message
        assert message in output


@pytest.fixture(scope="module", autouse=True)
def crds():
    if not os.environ.get("KUBECONFIG"):
        pytest.skip("KUBECONFIG is not set")
    for kind in ("mutating", "validating"):
        present, _ = kubectl("get", f"{kind}webhookconfiguration", f"muster-{kind}-webhook-configuration")
        if present:
            pytest.skip("Muster's webhooks are installed; these tests need the CRDs alone")
    must("apply", "-k", str(CRDS))
    must("wait", "--for=condition=Established", "--timeout=30s", *[f"crd/{p.stem}.kueue.x-k8s.io" for p in CRDS.glob("*s.yaml")])
    kubectl("create", "namespace", NAMESPACE)
    yield
    kubectl("delete", "namespace", NAMESPACE, "--wait=false")


@pytest.fixture
def stored():
    """Creates objects for a test, and removes them after it."""
    made = []

    def create(obj, status=None):
        must("create", "--validate=ignore", "-f", "-", stdin=obj)
        made.append(obj)
        if status is not None:
            must(*patch_args(obj, {"status": status}, status=True, dry=False))
        return obj

    yield create
    for obj in made:
        kubectl("delete", resource(obj), obj["metadata"]["name"], *where(obj), "--wait=false")


def resource(obj):
    return obj["kind"].lower() + ".kueue.x-k8s.io"


def where(obj):
    return ["-n", obj["metadata"]["namespace"]] if "namespace" in obj["metadata"] else []


def patch_args(obj, patch, status=False, dry=True):
    args = ["patch", resource(obj), obj["metadata"]["name"], *where(obj), "--type=merge", "-p", json.dumps(patch)]
    return args + (["--subresource=status"] if status else []) + (["--dry-run=server"] if dry else [])


# ---------------------------------------------------------------- objects


def make(kind, spec=ABSENT, namespace=ABSENT, **root):
    metadata = {"name": next(names)}
    if namespace:
        metadata["namespace"] = namespace
    obj = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, **root}
    if spec is not ABSENT:
        obj["spec"] = spec
    return obj


def flavor(**spec):
    return make("ResourceFlavor", spec)


def queue(**spec):
    return make("ClusterQueue", spec)


def cohort(**spec):
    return make("Cohort", spec)


def local_queue(**spec):
    return make("LocalQueue", spec, NAMESPACE)


def quota(name, nominal="1", **limits):
    return {"name": name, "nominalQuota": nominal, **limits}


def group(resources=("cpu",), flavors=("default",), **limits):
    return {
        "coveredResources": list(resources),
        "flavors": [{"name": f, "resources": [quota(r, **limits) for r in resources]} for f in flavors],
    }


def pod_set(name="main", **fields):
    return {"name": name, "template": {"spec": {"containers": [{"name": "c"}]}}, **fields}


def workload(pod_sets=None, **spec):
    return make("Workload", {"podSets": [pod_set()] if pod_sets is None else pod_sets, **spec}, NAMESPACE)


WHEN = "2026-01-02T03:04:05Z"


def condition(type_, status="True", **fields):
    return {"type": type_, "status": status, "reason": "R", "message": "", "lastTransitionTime": WHEN, **fields}


def admission(*sets):
    return {"clusterQueue": "cq", "podSetAssignments": [{"name": s} for s in sets or ("main",)]}


def reserved(*extra):
    return {"conditions": [condition("QuotaReserved"), *extra], "admission": admission()}


KUEUE_CLASS = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
POD_CLASS = {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}
LONG = "a" * 254

# ---------------------------------------------------------------- create

T1 = "operator must be Exists when 'key' is empty, which means 'match all values and all keys'"
T2 = "effect must be 'NoExecute' when 'tolerationSeconds' is set"
T3 = "supported toleration values: 'Equal'(default), 'Exists'"
T4 = "a value must be empty when 'operator' is 'Exists'"
T5 = "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'"

TOLERATIONS = {
    "exists without key": ({"operator": "Exists"}, None),
    "key alone": ({"key": "k"}, None),
    "all fields": ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute", "tolerationSeconds": 5}, None),
    "T1 nothing": ({}, T1),
    "T1 equal without key": ({"operator": "Equal", "value": "v"}, T1),
    "T2 seconds with NoSchedule": ({"key": "k", "effect": "NoSchedule", "tolerationSeconds": 5}, T2),
    "T2 seconds without effect": ({"key": "k", "tolerationSeconds": 5}, T2),
    "T3 Lt": ({"key": "k", "operator": "Lt", "value": "1"}, T3),
    "T3 unknown": ({"key": "k", "operator": "In"}, T3),
    "T4 exists with value": ({"key": "k", "operator": "Exists", "value": "v"}, T4),
    "T5 effect": ({"key": "k", "effect": "Never"}, T5),
    "T5 empty effect": ({"key": "k", "effect": ""}, T5),
}

SAME_SIZE = "flavors must have the same number of resources as the coveredResources"
NO_COHORT = "borrowingLimit must be nil when cohort is empty"
PREFERENCE = "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"
RECLAIM = "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"
MIN_COUNT = "minCount should be positive and less or equal to count"
NO_PRIORITY = "priority should not be nil when priorityClassRef is set"
PATTERN = "should match"


def label_selector(*expressions, **labels):
    return {"matchExpressions": list(expressions), "matchLabels": labels}


CREATE = {
    # ResourceFlavor
    "flavor without spec": (make("ResourceFlavor"), None),
    "flavor empty": (flavor(), None),
    "flavor 8 labels": (flavor(nodeLabels={f"k{i}": "v" for i in range(8)}), None),
    "flavor 9 labels": (flavor(nodeLabels={f"k{i}": "v" for i in range(9)}), "must have at most 8"),
    "flavor taint": (flavor(nodeTaints=[{"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": WHEN}]), None),
    "flavor taint effect": (flavor(nodeTaints=[{"key": "k", "effect": "Never"}]), T5),
    "flavor taint without key": (flavor(nodeTaints=[{"effect": "NoSchedule"}]), "key: Required value"),
    "flavor taint without effect": (flavor(nodeTaints=[{"key": "k"}]), "effect: Required value"),
    "flavor 9 taints": (flavor(nodeTaints=[{"key": f"k{i}", "effect": "NoSchedule"} for i in range(9)]), "Too many"),
    "flavor 9 tolerations": (flavor(tolerations=[{"key": f"k{i}"} for i in range(9)]), "Too many"),
    "flavor topology": (flavor(topologyName="t", nodeLabels={"a": "b"}), None),
    "flavor topology without label": (flavor(topologyName="t"), "at least one nodeLabel is required when topology is set"),
    "flavor topology with no label": (flavor(topologyName="t", nodeLabels={}), "at least one nodeLabel is required"),
    "flavor topology name": (flavor(topologyName="T_", nodeLabels={"a": "b"}), PATTERN),
    "flavor topology empty name": (flavor(topologyName="", nodeLabels={"a": "b"}), PATTERN),
    # ResourceGroup
    "queue without spec": (make("ClusterQueue"), None),
    "queue empty": (queue(), None),
    "queue groups": (queue(resourceGroups=[group(("cpu", "memory"), ("a", "b")), group(("gpu",), ("c",))]), None),
    "queue 17 groups": (queue(resourceGroups=[group((f"r{i}",), (f"f{i}",)) for i in range(17)]), "Too many"),
    "group no resources": (queue(resourceGroups=[group(())]), "coveredResources in body should have at least 1"),
    "group 64 resources": (queue(resourceGroups=[group([f"r{i}" for i in range(64)])]), None),
    "group 65 resources": (queue(resourceGroups=[group([f"r{i}" for i in range(65)])]), "Too many"),
    "group no flavors": (queue(resourceGroups=[group(flavors=())]), "flavors in body should have at least 1"),
    "group 64 flavors": (queue(resourceGroups=[group(flavors=[f"f{i}" for i in range(64)])]), None),
    "group 65 flavors": (queue(resourceGroups=[group(flavors=[f"f{i}" for i in range(65)])]), "Too many"),
    "group flavor twice": (queue(resourceGroups=[group(flavors=("a", "a"))]), "Duplicate value"),
    "group flavor name": (queue(resourceGroups=[group(flavors=("A",))]), PATTERN),
    "group flavor long name": (queue(resourceGroups=[group(flavors=(LONG,))]), "Too long"),
    "group without flavors": (queue(resourceGroups=[{"coveredResources": ["cpu"]}]), "flavors: Required value"),
    "group resource missing in flavor": (
        queue(resourceGroups=[{"coveredResources": ["cpu", "memory"], "flavors": [{"name": "a", "resources": [quota("cpu")]}]}]),
        SAME_SIZE,
    ),
    "group resource not covered": (
        queue(resourceGroups=[{"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": [quota("cpu"), quota("x")]}]}]),
        SAME_SIZE,
    ),
    "group resource twice": (
        queue(resourceGroups=[{"coveredResources": ["cpu", "x"], "flavors": [{"name": "a", "resources": [quota("cpu")] * 2}]}]),
        "Duplicate value",
    ),
    "quota integer": (queue(resourceGroups=[group(nominal=5)]), None),
    "quota milli": (queue(resourceGroups=[group(nominal="1500m")]), None),
    "quota exponent": (queue(resourceGroups=[group(nominal="1e3")]), None),
    "quota negative passes the schema": (queue(resourceGroups=[group(nominal="-1")]), None),
    "quota nonsense": (queue(resourceGroups=[group(nominal="five")]), PATTERN),
    "quota float": (queue(resourceGroups=[group(nominal=1.5)]), "nominalQuota"),
    "quota missing": (
        queue(resourceGroups=[{"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": [{"name": "cpu"}]}]}]),
        "nominalQuota: Required value",
    ),
    # ClusterQueue
    "borrowing in a cohort": (queue(cohortName="c", resourceGroups=[group(borrowingLimit="1", lendingLimit="1")]), None),
    "borrowing without cohort": (queue(resourceGroups=[group(borrowingLimit="1")]), NO_COHORT),
    "lending without cohort passes the schema": (queue(resourceGroups=[group(lendingLimit="1")]), None),
    "cohort name empty": (queue(cohortName=""), PATTERN),
    "cohort name long": (queue(cohortName=LONG), "Too long"),
    "strategy": (queue(queueingStrategy="StrictFIFO"), None),
    "strategy unknown": (queue(queueingStrategy="FIFO"), "Unsupported value"),
    "selector": (
        queue(namespaceSelector=label_selector({"key": "k", "operator": "In", "values": ["v"]}, a="b")),
        None,
    ),
    "selector without operator": (queue(namespaceSelector=label_selector({"key": "k"})), "operator: Required value"),
    "fungibility": (queue(flavorFungibility={"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "MayStopSearch"}), None),
    "fungibility of v1beta1": (queue(flavorFungibility={"whenCanBorrow": "Borrow"}), "Unsupported value"),
    "fungibility of v1beta1, preempt": (queue(flavorFungibility={"whenCanPreempt": "Preempt"}), "Unsupported value"),
    "preference": (
        queue(flavorFungibility={"whenCanBorrow": "TryNextFlavor", "preference": "PreemptionOverBorrowing"}),
        None,
    ),
    "preference with defaults": (queue(flavorFungibility={"preference": "BorrowingOverPreemption"}), PREFERENCE),
    "preference unknown": (
        queue(flavorFungibility={"whenCanBorrow": "TryNextFlavor", "preference": "None"}),
        "Unsupported value",
    ),
    "preemption": (
        queue(
            preemption={
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": -5},
                "withinClusterQueue": "LowerOrNewerEqualPriority",
            }
        ),
        None,
    ),
    "preemption borrow without reclaim": (queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}), RECLAIM),
    "preemption borrow never": (queue(preemption={"borrowWithinCohort": {"policy": "Never"}}), None),
    "preemption unknown": (queue(preemption={"withinClusterQueue": "Any"}), "Unsupported value"),
    "checks": (
        queue(admissionChecksStrategy={"admissionChecks": [{"name": "a", "onFlavors": ["x", "y"]}, {"name": "b"}]}),
        None,
    ),
    "checks none": (queue(admissionChecksStrategy={"admissionChecks": []}), "at least 1"),
    "checks absent": (queue(admissionChecksStrategy={}), "admissionChecks: Required value"),
    "checks twice": (queue(admissionChecksStrategy={"admissionChecks": [{"name": "a"}] * 2}), "Duplicate value"),
    "checks 65": (queue(admissionChecksStrategy={"admissionChecks": [{"name": f"c{i}"} for i in range(65)]}), "Too many"),
    "checks flavor twice": (
        queue(admissionChecksStrategy={"admissionChecks": [{"name": "a", "onFlavors": ["x", "x"]}]}),
        "Duplicate value",
    ),
    "stop": (queue(stopPolicy="HoldAndDrain"), None),
    "stop unknown": (queue(stopPolicy="Stop"), "Unsupported value"),
    "weight": (queue(fairSharing={"weight": "0.5"}), None),
    "weight nonsense": (queue(fairSharing={"weight": "much"}), PATTERN),
    "admission scope": (queue(admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"}), None),
    "admission scope empty": (queue(admissionScope={}), "admissionMode: Required value"),
    "admission scope unknown": (queue(admissionScope={"admissionMode": "x"}), "Unsupported value"),
    "concurrent admission": (
        queue(concurrentAdmissionPolicy={"migration": {"mode": "TryPreferredFlavors", "constraints": {"lastAcceptableFlavorName": "a"}}}),
        None,
    ),
    "concurrent admission without mode": (queue(concurrentAdmissionPolicy={"migration": {}}), "mode: Required value"),
    # Cohort
    "cohort without spec": (make("Cohort"), None),
    "cohort": (cohort(parentName="root", resourceGroups=[group(borrowingLimit="1")], fairSharing={"weight": 2}), None),
    "cohort without parent may limit, says the schema": (cohort(resourceGroups=[group(borrowingLimit="1")]), None),
    "cohort resource missing": (
        cohort(resourceGroups=[{"coveredResources": ["cpu", "x"], "flavors": [{"name": "a", "resources": [quota("cpu")]}]}]),
        SAME_SIZE,
    ),
    "cohort parent name": (cohort(parentName="-"), PATTERN),
    # LocalQueue
    "local queue without spec": (make("LocalQueue", namespace=NAMESPACE), None),
    "local queue": (local_queue(clusterQueue="cq", stopPolicy="Hold", fairSharing={}), None),
    "local queue name": (local_queue(clusterQueue="CQ"), PATTERN),
    "local queue stop": (local_queue(stopPolicy="Drain"), "Unsupported value"),
    # WorkloadPriorityClass
    "class": (make("WorkloadPriorityClass", value=-5, description="d"), None),
    "class without value": (make("WorkloadPriorityClass"), "value: Required value"),
    "class value text": (make("WorkloadPriorityClass", value="5"), "value: Invalid value"),
    "class long description": (make("WorkloadPriorityClass", value=1, description="d" * 2049), "Too long"),
    # Workload
    "workload": (workload(queueName="q", priority=5, maximumExecutionTimeSeconds=1), None),
    "workload without spec": (make("Workload", namespace=NAMESPACE), None),
    "no pod sets": (workload([]), "podSets in body should have at least 1"),
    "18 pod sets": (workload([pod_set(f"p{i}") for i in range(18)]), None),
    "19 pod sets": (workload([pod_set(f"p{i}") for i in range(19)]), "Too many"),
    "pod set twice": (workload([pod_set("a"), pod_set("a")]), "Duplicate value"),
    "pod set twice by default": (workload([pod_set(), {"template": {}}]), "Duplicate value"),
    "pod set name": (workload([pod_set("A")]), PATTERN),
    "pod set long name": (workload([pod_set("a" * 64)]), "Too long"),
    "pod set name with dot": (workload([pod_set("a.b")]), PATTERN),
    "pod set without template": (workload([{"name": "main"}]), "template: Required value"),
    "pod set no pods": (workload([pod_set(count=0)]), None),
    "pod set negative count": (workload([pod_set(count=-1)]), "greater than or equal to 0"),
    "template without containers": (workload([{"template": {"spec": {}}}]), "containers: Required value"),
    "template container without name": (workload([{"template": {"spec": {"containers": [{}]}}}]), "name: Required value"),
    "template without pod": (workload([{"template": {}}]), None),
    "template bad request": (
        workload([{"template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "x"}}}]}}}]),
        PATTERN,
    ),
    "template env twice": (
        workload([{"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "a"}, {"name": "a"}]}]}}}]),
        None,
    ),
    "W9 min count": (workload([pod_set(count=3, minCount=3)]), None),
    "W9 min count above count": (workload([pod_set(count=3, minCount=4)]), MIN_COUNT),
    "W9 min count above default count": (workload([pod_set(minCount=2)]), MIN_COUNT),
    "min count 0": (workload([pod_set(minCount=0)]), "greater than or equal to 1"),
    "topology request": (
        workload([pod_set(topologyRequest={"required": "rack", "podSetSliceRequiredTopology": "host", "podSetSliceSize": 2, "subGroupCount": 0})]),
        None,
    ),
    "topology long level": (workload([pod_set(topologyRequest={"required": "a" * 64})]), "Too long"),
    "topology slice size 0": (workload([pod_set(topologyRequest={"podSetSliceSize": 0})]), "greater than or equal to 1"),
    "topology sub group count": (workload([pod_set(topologyRequest={"subGroupCount": -1})]), "greater than or equal to 0"),
    "topology layers": (
        workload([pod_set(topologyRequest={"podsetSliceRequiredTopologyConstraints": [{"topology": "a", "size": 1}] * 3})]),
        None,
    ),
    "topology 4 layers": (
        workload([pod_set(topologyRequest={"podsetSliceRequiredTopologyConstraints": [{"topology": "a", "size": 1}] * 4})]),
        "Too many",
    ),
    "topology layer without size": (
        workload([pod_set(topologyRequest={"podsetSliceRequiredTopologyConstraints": [{"topology": "a"}]})]),
        "size: Required value",
    ),
    "queue name": (workload(queueName="Q"), PATTERN),
    "queue name empty": (workload(queueName=""), PATTERN),
    "class ref": (workload(priorityClassRef=KUEUE_CLASS, priority=1), None),
    "class ref of pods": (workload(priorityClassRef=POD_CLASS, priority=1), None),
    "W8 class ref without priority": (workload(priorityClassRef=KUEUE_CLASS), NO_PRIORITY),
    "W10 wrong kind of pods' class": (
        workload(priorityClassRef={**POD_CLASS, "kind": "WorkloadPriorityClass"}, priority=1),
        "only the PriorityClass kind is allowed for the scheduling.k8s.io group",
    ),
    "W11 wrong kind of Kueue's class": (
        workload(priorityClassRef={**KUEUE_CLASS, "kind": "PriorityClass"}, priority=1),
        "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group",
    ),
    "class ref group": (workload(priorityClassRef={**KUEUE_CLASS, "group": "x"}, priority=1), "Unsupported value"),
    "class ref without name": (
        workload(priorityClassRef={"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass"}, priority=1),
        "name: Required value",
    ),
    "execution time 0": (workload(maximumExecutionTimeSeconds=0), "greater than or equal to 1"),
    "gates": (workload(preemptionGates=[{"name": "a"}]), None),
    "gate without name": (workload(preemptionGates=[{}]), "name: Required value"),
    "gate twice": (workload(preemptionGates=[{"name": "a"}] * 2), "Duplicate value"),
    "9 gates": (workload(preemptionGates=[{"name": f"g{i}"} for i in range(9)]), "Too many"),
    "active text": (workload(active="yes"), "active in body must be of type boolean"),
}


@pytest.mark.parametrize("case", CREATE, ids=str)
def test_create(case):
    obj, message = CREATE[case]
    expect(dry_create(obj), message)


@pytest.mark.parametrize("case", TOLERATIONS, ids=str)
def test_tolerations_of_flavor(case):
    toleration, message = TOLERATIONS[case]
    expect(dry_create(flavor(tolerations=[{"key": "fine"}, toleration])), message)


# ---------------------------------------------------------------- defaults and pruning


def created(obj):
    accepted, output = dry_create(obj)
    assert accepted, output
    return json.loads(output)


def test_cluster_queue_defaults():
    assert created(queue())["spec"] == {
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {"reclaimWithinCohort": "Never", "withinClusterQueue": "Never", "borrowWithinCohort": {"policy": "Never"}},
    }


def test_weight_default_needs_fair_sharing():
    assert created(queue(fairSharing={}))["spec"]["fairSharing"] == {"weight": 1}
    assert created(cohort(fairSharing={}))["spec"]["fairSharing"] == {"weight": 1}
    assert "fairSharing" not in created(cohort())["spec"]


def test_local_queue_defaults():
    assert created(local_queue(clusterQueue="cq"))["spec"] == {"clusterQueue": "cq", "stopPolicy": "None"}


def test_workload_defaults():
    spec = created(workload([{"template": {"spec": {"containers": [{"name": "c", "ports": [{"containerPort": 1}]}]}}}]))["spec"]
    assert spec["active"] is True
    assert spec["podSets"][0]["name"] == "main"
    assert spec["podSets"][0]["count"] == 1
    assert spec["podSets"][0]["template"]["spec"]["containers"][0]["ports"] == [{"containerPort": 1, "protocol": "TCP"}]


def test_pod_template_keeps_what_it_does_not_describe():
    pod = {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                "resources": {"requests": {"cpu": "1", "example.com/gpu": 2}, "claims": [{"name": "d"}]},
                "ports": [{"containerPort": 1, "protocol": "UDP", "fieldOfTheFuture": 1}],
                "livenessProbe": {"exec": {"command": ["true"]}},
            }
        ],
        "initContainers": [{"name": "i", "image": "i", "restartPolicy": "Always"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]
                }
            },
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "h", "labelSelector": {"matchLabels": {"a": "b"}}}]
            },
        },
        "topologySpreadConstraints": [
            {"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"]}
        ],
        "tolerations": [{"key": "k", "operator": "Lt", "value": "5"}],
        "schedulingGates": [{"name": "g"}],
        "securityContext": {"runAsUser": 5},
        "fieldOfTheFuture": {"x": [1, None]},
    }
    kept = created(workload([{"name": "main", "template": {"spec": pod}}]))
    assert kept["spec"]["podSets"][0]["template"]["spec"] == pod


def test_workload_prunes_everything_else():
    obj = workload([pod_set(unknown=1, topologyRequest={"unknown": 1})], unknown=1)
    obj["unknown"] = 1
    template = obj["spec"]["podSets"][0]["template"]
    template["unknown"] = 1
    template["metadata"] = {"labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["e/f"], "name": "n",
                            "namespace": "o", "creationTimestamp": None, "generateName": "p", "ownerReferences": []}
    kept = created(obj)
    assert "unknown" not in json.dumps(kept)
    assert kept["spec"]["podSets"][0]["template"]["metadata"] == {
        "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["e/f"], "name": "n", "namespace": "o",
    }


@pytest.mark.parametrize("obj", [flavor(unknown=1), queue(unknown=1), cohort(unknown=1), local_queue(unknown=1)],
                         ids=lambda obj: obj["kind"])
def test_unknown_fields_are_pruned_or_refused(obj):
    assert "unknown" not in json.dumps(created(obj))
    strict = kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=obj)
    expect(strict, 'unknown field "spec.unknown"')


# ---------------------------------------------------------------- updates

TOPOLOGY_FIXED = "topologyName is immutable when topologyName is set"
LABELS = {"a": "b"}

# before, patch of the object, message
UPDATE = {
    "flavor topology changed": (flavor(topologyName="t", nodeLabels=LABELS), {"spec": {"topologyName": "u"}}, TOPOLOGY_FIXED),
    "flavor topology removed": (flavor(topologyName="t", nodeLabels=LABELS), {"spec": {"topologyName": None}}, TOPOLOGY_FIXED),
    "flavor topology added": (flavor(nodeLabels=LABELS), {"spec": {"topologyName": "u"}}, None),
    "flavor labels with topology": (flavor(topologyName="t", nodeLabels=LABELS), {"spec": {"nodeLabels": {"a": "c"}}}, None),
    "flavor tolerations with topology": (
        flavor(topologyName="t", nodeLabels=LABELS),
        {"spec": {"tolerations": [{"operator": "Exists"}]}},
        None,
    ),
    "local queue changed": (local_queue(clusterQueue="a"), {"spec": {"clusterQueue": "b"}}, "field is immutable"),
    "local queue set later": (local_queue(), {"spec": {"clusterQueue": "b"}}, None),
    "queue strategy": (queue(), {"spec": {"queueingStrategy": "StrictFIFO"}}, None),
    "queue leaves cohort with limit": (
        queue(cohortName="c", resourceGroups=[group(borrowingLimit="1")]),
        {"spec": {"cohortName": None}},
        NO_COHORT,
    ),
    "class value": (make("WorkloadPriorityClass", value=1), {"value": 2}, None),
    "workload queue while pending": (workload(queueName="a"), {"spec": {"queueName": "b"}}, None),
    "workload class while pending": (workload(), {"spec": {"priorityClassRef": KUEUE_CLASS, "priority": 1}}, None),
    "workload time while pending": (workload(maximumExecutionTimeSeconds=5), {"spec": {"maximumExecutionTimeSeconds": 6}}, None),
}


@pytest.mark.parametrize("case", UPDATE, ids=str)
def test_update(stored, case):
    before, patch, message = UPDATE[case]
    obj = stored(copy.deepcopy(before))
    expect(kubectl(*patch_args(obj, patch)), message)


W2 = "priorityClassRef is immutable while workload quota reserved"
W3 = "priorityClassRef.group is immutable while workload quota reserved"
W4 = "priorityClassRef.kind is immutable while workload quota reserved"
W5 = "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload quota reserved"
W6 = "queueName is immutable while workload quota reserved"
W7 = "maximumExecutionTimeSeconds is immutable while workload quota reserved"
WITH_CLASS = {"priorityClassRef": KUEUE_CLASS, "priority": 1}
WITH_POD_CLASS = {"priorityClassRef": POD_CLASS, "priority": 1}

# spec before, patch of the spec, message; the stored workload has reserved quota
RESERVED_UPDATE = {
    "priority": ({}, {"priority": 7}, None),
    "active": ({}, {"active": False}, None),
    "W2 class added": ({}, WITH_CLASS, W2),
    "W2 class removed": (WITH_CLASS, {"priorityClassRef": None}, W2),
    "W3 group": (WITH_CLASS, {"priorityClassRef": POD_CLASS}, W3),
    "W4 kind": (WITH_POD_CLASS, {"priorityClassRef": KUEUE_CLASS}, W4),
    "W5 name of the pods' class": (WITH_POD_CLASS, {"priorityClassRef": {"name": "low"}}, W5),
    "W5 name of Kueue's class": (WITH_CLASS, {"priorityClassRef": {"name": "low"}, "priority": 3}, None),
    "W6 queue changed": ({"queueName": "a"}, {"queueName": "b"}, W6),
    "W6 queue added": ({}, {"queueName": "b"}, W6),
    "W6 queue removed": ({"queueName": "a"}, {"queueName": None}, W6),
    "W6 queue kept": ({"queueName": "a"}, {"queueName": "a", "priority": 2}, None),
    "W7 time before admission": ({"maximumExecutionTimeSeconds": 5}, {"maximumExecutionTimeSeconds": 6}, None),
}


@pytest.mark.parametrize("case", RESERVED_UPDATE, ids=str)
def test_update_with_reserved_quota(stored, case):
    spec, patch, message = RESERVED_UPDATE[case]
    obj = stored(workload(**spec), reserved())
    expect(kubectl(*patch_args(obj, {"spec": patch})), message)


@pytest.mark.parametrize(
    "spec, patch, message",
    [
        pytest.param({"maximumExecutionTimeSeconds": 5}, {"maximumExecutionTimeSeconds": 6}, W7, id="W7 changed"),
        pytest.param({}, {"maximumExecutionTimeSeconds": 6}, W7, id="W7 added"),
        pytest.param({"maximumExecutionTimeSeconds": 5}, {"maximumExecutionTimeSeconds": None}, W7, id="W7 removed"),
        pytest.param({"maximumExecutionTimeSeconds": 5}, {"priority": 6}, None, id="W7 kept"),
    ],
)
def test_update_while_admitted(stored, spec, patch, message):
    obj = stored(workload(**spec), reserved(condition("Admitted")))
    expect(kubectl(*patch_args(obj, {"spec": patch})), message)


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_queue_name_is_free_again_without_reservation(stored, status):
    obj = stored(workload(queueName="a"), {"conditions": [condition("QuotaReserved", status)]})
    expect(kubectl(*patch_args(obj, {"spec": {"queueName": "b"}})), None)


# ---------------------------------------------------------------- status of a Workload

W1 = "podSetAssignments must have the same number of podSets as the spec"
W12 = "clusterName is immutable once set"
W13 = "clusterName and nominatedClusterNames are mutually exclusive"
W14 = "valuesPerLevel must have the same length as the number of levels in this TopologyAssignment"
W15 = "podCounts.individual must have length equal to domainCount"
W16 = "valuesPerLevel.individual, if set, must have roots of length equal to domainCount of this TopologyAssignmentSlice"
W17 = "exactly one of the fields in [universal individual] must be set"


def assignment(levels=("rack",), **slice_):
    one = {"domainCount": 2, "valuesPerLevel": [{"universal": "r1"}], "podCounts": {"universal": 1}, **slice_}
    return {"admission": {"clusterQueue": "cq", "podSetAssignments": [
        {"name": "main", "topologyAssignment": {"levels": list(levels), "slices": [one]}}]}}


def check(**fields):
    return {"admissionChecks": [{"name": "c", "state": "Ready", "lastTransitionTime": WHEN, "message": "", **fields}]}


def roots(*values):
    return {"individual": {"prefix": "r", "roots": list(values)}}


STATUS = {
    "conditions": ({"conditions": [condition("QuotaReserved", "False", observedGeneration=0)]}, None),
    "16 conditions": ({"conditions": [condition(f"T{i}") for i in range(16)]}, None),
    "17 conditions": ({"conditions": [condition(f"T{i}") for i in range(17)]}, "Too many"),
    "condition twice": ({"conditions": [condition("A"), condition("A")]}, "Duplicate value"),
    "condition status": ({"conditions": [condition("A", "Maybe")]}, "Unsupported value"),
    "condition type": ({"conditions": [condition("A B")]}, PATTERN),
    "condition reason empty": ({"conditions": [condition("A", reason="")]}, "reason in body should be at least 1"),
    "condition reason": ({"conditions": [condition("A", reason="a reason")]}, PATTERN),
    "condition message long": ({"conditions": [condition("A", message="m" * 32769)]}, "Too long"),
    "condition generation": ({"conditions": [condition("A", observedGeneration=-1)]}, "greater than or equal to 0"),
    "condition time": ({"conditions": [condition("A", lastTransitionTime="now")]}, "date-time"),
    "W1 same number": (reserved(), None),
    "W1 too many": ({**reserved(), "admission": admission("main", "other")}, W1),
    "W1 none": ({**reserved(), "admission": {"clusterQueue": "cq"}}, W1),
    "W1 not reserved": ({"conditions": [condition("QuotaReserved", "False")], "admission": admission("main", "other")}, None),
    "W1 no admission": ({"conditions": [condition("QuotaReserved")]}, None),
    "assignment": (
        {"admission": {"clusterQueue": "cq", "podSetAssignments": [
            {"flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "1500m", "gpu": 1}, "count": 0, "delayedTopologyRequest": "Pending"}]}},
        None,
    ),
    "assignment twice": ({"admission": admission("a", "a")}, "Duplicate value"),
    "assignment flavor name": ({"admission": {"podSetAssignments": [{"flavors": {"cpu": "F"}}]}}, PATTERN),
    "assignment count": ({"admission": {"podSetAssignments": [{"count": -1}]}}, "greater than or equal to 0"),
    "assignment delayed": ({"admission": {"podSetAssignments": [{"delayedTopologyRequest": "No"}]}}, "Unsupported value"),
    "assignment queue name": ({"admission": {"clusterQueue": "C"}}, PATTERN),
    "topology": (assignment(), None),
    "topology individual": (assignment(valuesPerLevel=[roots("1", "2")], podCounts={"individual": [1, 3]}), None),
    "W14 level missing": (assignment(levels=("rack", "host")), W14),
    "W15 counts": (assignment(podCounts={"individual": [1]}), W15),
    "W16 roots": (assignment(valuesPerLevel=[roots("1")]), W16),
    "W17 no count": (assignment(podCounts={}), W17),
    "W17 both counts": (assignment(podCounts={"universal": 1, "individual": [1, 1]}), W17),
    "W18 no value": (assignment(valuesPerLevel=[{}]), W17),
    "W18 both values": (assignment(valuesPerLevel=[{"universal": "a", **roots("1", "2")}]), W17),
    "topology count 0": (assignment(podCounts={"individual": [0, 1]}), "greater than or equal to 1"),
    "topology no domains": (assignment(domainCount=0), "greater than or equal to 1"),
    "topology no levels": (assignment(levels=()), "at least 1"),
    "topology 17 levels": (assignment(levels=["l"] * 17, valuesPerLevel=[{"universal": "a"}] * 17), "Too many"),
    "topology 2000 domains": (
        assignment(domainCount=2000, valuesPerLevel=[roots(*map(str, range(2000)))], podCounts={"individual": [1] * 2000}),
        None,
    ),
    "W13 nominated": ({"nominatedClusterNames": ["a", "b"]}, None),
    "W13 cluster": ({"clusterName": "a"}, None),
    "W13 cluster, nothing nominated": ({"clusterName": "a", "nominatedClusterNames": []}, None),
    "W13 both": ({"clusterName": "a", "nominatedClusterNames": ["a"]}, W13),
    "21 nominated": ({"nominatedClusterNames": [f"c{i}" for i in range(21)]}, "Too many"),
    "requeue": ({"requeueState": {"count": 0, "requeueAt": WHEN}}, None),
    "requeue count": ({"requeueState": {"count": -1}}, "greater than or equal to 0"),
    "reclaimable": ({"reclaimablePods": [{"name": "main", "count": 0}]}, None),
    "reclaimable without count": ({"reclaimablePods": [{"name": "main"}]}, "count: Required value"),
    "requests": ({"resourceRequests": [{"name": "main", "resources": {"cpu": "1"}}]}, None),
    "check": (check(requeueAfterSeconds=0, retryCount=0, podSetUpdates=[{"name": "main", "labels": {"a": "b"}}]), None),
    "check state": (check(state="Done"), "Unsupported value"),
    "check without message": ({"admissionChecks": [{"name": "c", "state": "Ready", "lastTransitionTime": WHEN}]}, "message: Required value"),
    "check retry": (check(retryCount=-1), "greater than or equal to 0"),
    "9 checks": ({"admissionChecks": [{**check()["admissionChecks"][0], "name": f"c{i}"} for i in range(9)]}, "Too many"),
    "evictions": (
        {"schedulingStats": {"evictions": [
            {"reason": "Preempted", "underlyingCause": "", "count": 1}, {"reason": "Preempted", "underlyingCause": "x", "count": 1}]}},
        None,
    ),
    "evictions twice": (
        {"schedulingStats": {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 1}] * 2}},
        "Duplicate value",
    ),
    "unhealthy nodes": ({"unhealthyNodes": [{"name": "n"}]}, None),
    "unhealthy node name": ({"unhealthyNodes": [{"name": "n" * 64}]}, "Too long"),
    "gate": ({"preemptionGates": [{"name": "g", "position": "Open", "lastTransitionTime": WHEN}]}, None),
    "gate position": ({"preemptionGates": [{"name": "g", "position": "Ajar", "lastTransitionTime": WHEN}]}, "Unsupported value"),
}


@pytest.fixture(scope="module")
def pending():
    obj = workload()
    must("create", "-f", "-", stdin=obj)
    return obj


@pytest.mark.parametrize("case", STATUS, ids=str)
def test_workload_status(pending, case):
    status, message = STATUS[case]
    expect(kubectl(*patch_args(pending, {"status": status}, status=True)), message)


@pytest.mark.parametrize("case", TOLERATIONS, ids=str)
def test_tolerations_of_check(pending, case):
    toleration, message = TOLERATIONS[case]
    status = check(podSetUpdates=[{"name": "main", "tolerations": [{"key": "fine"}, toleration]}])
    expect(kubectl(*patch_args(pending, {"status": status}, status=True)), message)


def test_cluster_name_can_be_cleared_but_not_changed(stored):
    obj = stored(workload(), {"clusterName": "a"})
    expect(kubectl(*patch_args(obj, {"status": {"clusterName": "b"}}, status=True)), W12)
    expect(kubectl(*patch_args(obj, {"status": {"clusterName": None}}, status=True)), None)


def test_reservation_can_be_dropped_in_one_write(stored):
    obj = stored(workload(queueName="q"), reserved())
    dropped = {"conditions": [condition("QuotaReserved", "False")], "admission": None}
    expect(kubectl(*patch_args(obj, {"status": dropped}, status=True)), None)


def test_spec_write_leaves_status_alone_and_the_reverse(stored):
    obj = stored(workload(queueName="q"), reserved())
    must(*patch_args(obj, {"status": {"clusterName": "x"}, "spec": {"priority": 4}}, dry=False))
    must(*patch_args(obj, {"status": {"accumulatedPastExecutionTimeSeconds": 3}, "spec": {"priority": 9}}, status=True, dry=False))
    now = json.loads(must("get", resource(obj), obj["metadata"]["name"], *where(obj), "-o", "json"))
    assert now["spec"]["priority"] == 4
    assert "clusterName" not in now["status"]
    assert now["status"]["accumulatedPastExecutionTimeSeconds"] == 3


# ---------------------------------------------------------------- status of queues

USAGE = [{"name": "f", "resources": [{"name": "cpu", "total": "0", "borrowed": "0"}]}]


@pytest.mark.parametrize(
    "obj, status, message",
    [
        (queue(), {"flavorsUsage": USAGE, "flavorsReservation": USAGE, "pendingWorkloads": 0}, None),
        (queue(), {"flavorsUsage": USAGE * 2}, "Duplicate value"),
        (queue(), {"flavorsUsage": [{"name": "f"}]}, "resources: Required value"),
        (queue(), {"fairSharing": {"weightedShare": 9223372036854775807}}, None),
        (queue(), {"fairSharing": {}}, "weightedShare: Required value"),
        (cohort(), {"fairSharing": {"weightedShare": 0}}, None),
        (local_queue(), {"fairSharing": {"weightedShare": 0, "admissionFairSharingStatus": {
            "consumedResources": {"cpu": "1"}, "lastUpdate": WHEN}}}, None),
        (local_queue(), {"fairSharing": {"weightedShare": 0, "admissionFairSharingStatus": {"lastUpdate": WHEN}}},
         "consumedResources: Required value"),
        (local_queue(), {"flavorsUsage": [{"name": f"f{i}", "resources": []} for i in range(64)]}, None),
        (local_queue(), {"flavorsUsage": [{"name": f"f{i}", "resources": []} for i in range(65)]}, "Too many"),
    ],
)
def test_queue_status(stored, obj, status, message):
    obj = stored(copy.deepcopy(obj))
    expect(kubectl(*patch_args(obj, {"status": status}, status=True)), message)


# ---------------------------------------------------------------- what kubectl shows


def table(*args):
    return must("get", *args).splitlines()[0].split("  ")


def header(*args):
    return [cell.strip() for cell in table(*args) if cell.strip()]


def test_printer_columns(stored):
    objs = [stored(o) for o in (workload(), queue(), local_queue(), make("WorkloadPriorityClass", value=1), flavor(), cohort())]
    one = {o["kind"]: [o["metadata"]["name"], *where(o)] for o in objs}
    assert header("workload", *one["Workload"]) == ["NAME", "QUEUE", "RESERVED IN", "ADMITTED", "FINISHED", "AGE"]
    assert header("clusterqueue", *one["ClusterQueue"]) == ["NAME", "COHORT", "PENDING WORKLOADS"]
    assert header("clusterqueue", *one["ClusterQueue"], "-o", "wide") == [
        "NAME", "COHORT", "STRATEGY", "PENDING WORKLOADS", "ADMITTED WORKLOADS"]
    assert header("localqueue", *one["LocalQueue"]) == ["NAME", "CLUSTERQUEUE", "PENDING WORKLOADS", "ADMITTED WORKLOADS"]
    assert header("workloadpriorityclass", *one["WorkloadPriorityClass"]) == ["NAME", "VALUE"]
    assert header("resourceflavor", *one["ResourceFlavor"]) == ["NAME", "AGE"]
    assert header("cohort", *one["Cohort"]) == ["NAME", "AGE"]


@pytest.mark.parametrize(
    "kind, short",
    [
        ("resourceflavors", "flavor flavors rf"), ("clusterqueues", "cq"), ("localqueues", "queue queues lq"), ("cohorts", "co"),
        ("workloads", "kwl kueueworkload kueueworkloads"), ("workloadpriorityclasses", "wpc"),
    ],
)
def test_short_names(kind, short):
    for name in short.split():
        must("get", name, "-n", NAMESPACE)
    lines = must("api-resources", "--api-group=kueue.x-k8s.io", "--no-headers").splitlines()
    row = next(line.split() for line in lines if line.startswith(kind + " "))
    assert row[1] == ",".join(short.split())


def test_field_selector(stored):
    obj = stored(workload(), reserved())
    found = must("get", "workloads", "-n", NAMESPACE, "--field-selector", "status.admission.clusterQueue=cq", "-o", "name")
    assert obj["metadata"]["name"] in found
    assert must("get", "workloads", "-n", NAMESPACE, "--field-selector", "status.admission.clusterQueue=other", "-o", "name") == ""


def test_class_and_flavor_have_no_status():
    lines = must("get", "--raw", "/apis/kueue.x-k8s.io/v1beta2")
    served = {r["name"] for r in json.loads(lines)["resources"]}
    assert {"clusterqueues/status", "localqueues/status", "cohorts/status", "workloads/status"} <= served
    assert not {"resourceflavors/status", "workloadpriorityclasses/status"} & served


def test_client_side_apply_fits():
    """kubectl apply keeps the whole object in an annotation, for which 256 KiB are allowed."""
    for path in CRDS.glob("*s.yaml"):
        assert path.stat().st_size < 256 * 1024, path.name


# ---------------------------------------------------------------- samples


def documents(path):
    return [doc for doc in yaml.safe_load_all(path.read_text()) if doc]


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.yaml")), ids=lambda p: str(p.relative_to(SAMPLES)))
def test_samples_are_valid(path):
    for obj in documents(path):
        if "namespace" in obj["metadata"]:
            obj["metadata"]["namespace"] = NAMESPACE
        if obj["kind"] != "Namespace":
            obj["metadata"].pop("name", None)
            obj["metadata"]["generateName"] = "sample-"
        outcome = kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=obj)
        assert outcome[0] or "already exists" in outcome[1], outcome[1]


def test_simulated_jobs_name_existing_queues_and_classes():
    queues = documents(SAMPLES / "simulate" / "queues.yaml")
    local = {(o["metadata"]["namespace"], o["metadata"]["name"]) for o in queues if o["kind"] == "LocalQueue"}
    classes = {o["metadata"]["name"] for o in queues if o["kind"] == "WorkloadPriorityClass"}
    for job in documents(SAMPLES / "simulate" / "jobs.yaml"):
        labels, annotations = job["metadata"]["labels"], job["metadata"]["annotations"]
        assert (job["metadata"]["namespace"], labels["kueue.x-k8s.io/queue-name"]) in local
        assert labels["kueue.x-k8s.io/priority-class"] in classes
        assert {"muster.x-k8s.io/run-time", "muster.x-k8s.io/submit-time"} == set(annotations)
