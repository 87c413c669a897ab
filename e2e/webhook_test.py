"""The admission webhooks on a real API server: what they hold, what they refuse, and whom they leave alone."""

import json
import subprocess

from lib import job, kueue, secret_text, wait_for


def suspend(cluster, name, namespace):
    return cluster.get("job", name, namespace)["spec"].get("suspend", False)


def test_a_queued_job_is_suspended_at_creation(manager, crds, namespace):
    crds.create(job("held", namespace, queue="no-such-queue"))
    assert suspend(crds, "held", namespace)


def test_a_job_without_the_label_is_created_unchanged_while_the_manager_is_down(manager, crds, namespace):
    manager.kill()
    try:
        crds.create(job("free", namespace, queue=None))
        assert not suspend(crds, "free", namespace)
        refused = crds.run("create", "-f", "-", stdin=job("queued", namespace))
        assert refused.returncode != 0 and "mjob.kb.io" in refused.stderr
    finally:
        manager.resume()
        manager.wait_ready()


def test_a_job_in_an_unselected_namespace_is_created_unchanged_while_the_manager_is_down(manager, crds):
    manager.kill()
    name = crds.fresh("unselected")
    try:
        crds.create(job(name, "kube-system"))
        assert not suspend(crds, name, "kube-system")
    finally:
        crds.run("delete", "job", name, "-n", "kube-system")
        manager.resume()
        manager.wait_ready()


def test_the_queue_name_is_immutable_while_running(manager, crds, namespace):
    crds.queue(namespace, 4)
    crds.create(job("running", namespace))
    crds.wait_workload("running", namespace, "Admitted")
    wait_for("the Job to start", lambda: not suspend(crds, "running", namespace))
    change = '{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"other"}}}'
    refused = crds.run("patch", "job", "running", "-n", namespace, "--type=merge", "-p", change)
    assert refused.returncode != 0
    assert "metadata.labels[kueue.x-k8s.io/queue-name]" in refused.stderr and "field is immutable" in refused.stderr


def test_the_queue_name_may_change_while_suspended(manager, crds, namespace):
    crds.create(job("waiting", namespace, queue="nowhere"))
    change = '{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"queue"}}}'
    crds.must("patch", "job", "waiting", "-n", namespace, "--type=merge", "-p", change)
    crds.queue(namespace, 4)
    crds.wait_workload("waiting", namespace, "Admitted")


def test_a_plain_pod_is_gated_and_released(manager, crds, namespace):
    crds.queue(namespace, 1)
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "plain", "namespace": namespace, "labels": {"kueue.x-k8s.io/queue-name": "queue"}},
           "spec": {"containers": [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]}}
    crds.create(pod)
    gated = crds.get("pod", "plain", namespace)
    assert gated["metadata"]["labels"]["kueue.x-k8s.io/managed"] == "true"
    wait_for("the gate to be removed", lambda: not crds.get("pod", "plain", namespace)["spec"].get("schedulingGates"))


def test_two_flavors_of_one_name_are_refused_with_the_path(manager, crds):
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "same", "resources": [{"name": "cpu", "nominalQuota": 1}]}]}
    other = {"coveredResources": ["memory"], "flavors": [{"name": "same", "resources": [{"name": "memory", "nominalQuota": 1}]}]}
    refused = crds.run("create", "-f", "-", stdin=kueue("ClusterQueue", crds.fresh("cq"), spec={"resourceGroups": [group, other]}))
    assert refused.returncode != 0
    assert "spec.resourceGroups[1].flavors[0].name" in refused.stderr


def test_a_negative_quota_is_refused_with_the_path(manager, crds):
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}]}
    refused = crds.run("create", "-f", "-", stdin=kueue("ClusterQueue", crds.fresh("cq"), spec={"resourceGroups": [group]}))
    assert refused.returncode != 0
    assert "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota" in refused.stderr


def test_selectors_are_restored_when_somebody_overwrites_them(manager, crds):
    name = "muster-mutating-webhook-configuration"
    hooks = crds.get("mutatingwebhookconfiguration", name)["webhooks"]
    index = next(i for i, h in enumerate(hooks) if h["name"] == "mjob.kb.io")
    before = hooks[index]["objectSelector"]
    crds.must("patch", "mutatingwebhookconfiguration", name, "--type=json", "-p",
              json.dumps([{"op": "replace", "path": f"/webhooks/{index}/objectSelector", "value": {}}]))
    wait_for("the selector to be restored",
             lambda: crds.get("mutatingwebhookconfiguration", name)["webhooks"][index].get("objectSelector") == before, 60)


def test_a_lost_certificate_is_made_anew_and_served(manager, crds, namespace):
    secret = crds.get("secret", "muster-webhook-server-cert", manager.namespace)
    old = secret_text(secret, "ca.crt")
    crds.must("patch", "secret", "muster-webhook-server-cert", "-n", manager.namespace, "--type=merge", "-p", '{"data":null}')
    def renewed():
        now = crds.get("secret", "muster-webhook-server-cert", manager.namespace)
        return (now.get("data") or {}).get("ca.crt") and secret_text(now, "ca.crt") != old
    wait_for("a new certificate", renewed, 90)
    wait_for("the new certificate to be served and trusted",
             lambda: crds.run("create", "-f", "-", stdin=job(crds.fresh("after"), namespace, queue="q")).returncode == 0, 60)


# ---- hostile input, straight to the port ----


def post(manager, body, path="/mutate-batch-v1-job", content_type="application/json"):
    done = subprocess.run(["curl", "-ks", "-o", "-", "-w", "\n%{http_code}", "--max-time", "20", "-H", f"Content-Type: {content_type}",
                           "--data-binary", "@-", f"https://127.0.0.1:{manager.ports['webhook']}{path}"],
                          input=body, capture_output=True)
    text, _, code = done.stdout.decode(errors="replace").rpartition("\n")
    return int(code or 0), text


def test_malformed_reviews_get_an_error_and_the_manager_lives(manager, crds, namespace):
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    cases = {
        "not json": b"{",
        "no request": json.dumps(review).encode(),
        "request is a string": json.dumps({**review, "request": "x"}).encode(),
        "deep": b"[" * 100_000 + b"]" * 100_000,
        "yaml": b"a: &a [*a]",
    }
    for name, body in cases.items():
        code, text = post(manager, body)
        assert code in (400, 413) and text, (name, code, text)
    code, _ = post(manager, b"x" * (10 << 20))
    assert code == 413
    assert post(manager, b"{}", path="/nothing-here")[0] == 404
    assert manager.process.poll() is None
    crds.create(job("after", namespace, queue="q"))
    assert suspend(crds, "after", namespace)


def test_kinds_not_built_yet_are_allowed_without_a_patch(manager):
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
              "request": {"uid": "u1", "operation": "CREATE", "kind": {"group": "ray.io", "version": "v1", "kind": "RayJob"},
                          "resource": {"group": "ray.io", "version": "v1", "resource": "rayjobs"}, "namespace": "default", "name": "x",
                          "object": {"metadata": {"name": "x"}}}}
    code, text = post(manager, json.dumps(review).encode(), path="/mutate-ray-io-v1-rayjob")
    assert code == 200
    assert json.loads(text)["response"] == {"uid": "u1", "allowed": True}
