"""The metrics endpoint: TLS, a token that the API server allows, Kueue's names, series that die with their queue."""

import subprocess

from lib import job, wait_for


def scrape(manager, token=None):
    headers = ["-H", f"Authorization: Bearer {token}"] if token else []
    done = subprocess.run(["curl", "-ks", "-w", "\n%{http_code}", "--max-time", "5", *headers,
                           f"https://127.0.0.1:{manager.ports['metrics']}/metrics"], capture_output=True, text=True)
    body, _, code = done.stdout.rpartition("\n")
    return int(code or 0), body


def reader(cluster, namespace):
    cluster.must("create", "serviceaccount", "reader", "-n", namespace)
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": f"metrics-{namespace}"},
            "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}
    cluster.create(role)
    cluster.must("create", "clusterrolebinding", f"metrics-{namespace}", f"--clusterrole=metrics-{namespace}",
                 f"--serviceaccount={namespace}:reader")
    return cluster.must("create", "token", "reader", "-n", namespace).strip()


def test_only_who_may_read_does(manager, crds, namespace):
    assert scrape(manager)[0] == 401
    assert scrape(manager, "nonsense")[0] == 401
    crds.must("create", "serviceaccount", "nobody", "-n", namespace)
    assert scrape(manager, crds.must("create", "token", "nobody", "-n", namespace).strip())[0] == 403


def test_series_of_a_queue_live_and_die_with_it(manager, crds, namespace):
    token = reader(crds, namespace)
    queue = crds.queue(namespace, 1)
    crds.create(job("runs", namespace), job("waits", namespace))
    crds.wait_workload("runs", namespace, "Admitted")

    def line(name, *labels):
        code, text = scrape(manager, token)
        assert code == 200, text
        return [l for l in text.splitlines() if l.startswith(name + "{") and all(x in l for x in labels)]

    mine = f'cluster_queue="{queue}"'
    wait_for("the pending gauge", lambda: any(l.endswith(" 1") for l in line("kueue_pending_workloads", mine, 'status="inadmissible"')))
    wait_for("the admitted counter", lambda: any(l.endswith(" 1") for l in line("kueue_admitted_workloads_total", mine)))
    crds.must("delete", "jobs", "--all", "-n", namespace)
    wait_for("the Workloads to go", lambda: not crds.get("workload", namespace=namespace))
    crds.must("delete", "clusterqueue", queue)
    wait_for("the series to end", lambda: not line("kueue_pending_workloads", mine))


def test_the_ledger_has_no_drift(manager, crds, namespace):
    token = reader(crds, namespace)
    _, text = scrape(manager, token)
    drift = [l for l in text.splitlines() if l.startswith("muster_ledger_drift")]
    assert drift and all(float(l.rsplit(" ", 1)[1]) == 0 for l in drift), drift
