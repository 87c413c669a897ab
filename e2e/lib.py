"""What the end-to-end tests share: kubectl, waiting with a deadline, objects, and the manager as a process."""

import base64
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
_serial = (f"{os.getpid()}-{n}" for n in itertools.count())


def wait_for(what, condition, seconds=60):
    """Polls until `condition()` is true and returns its value; fails with `what` and the last value otherwise."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}; last seen: {value!r}")
        time.sleep(0.1)


def condition(obj, kind):
    for item in obj.get("status", {}).get("conditions", []) or []:
        if item["type"] == kind:
            return item
    return None


def is_true(obj, kind):
    found = condition(obj, kind)
    return found is not None and found["status"] == "True"


class Cluster:
    """One API server, through kubectl."""

    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig

    def run(self, *args, stdin=None, timeout=60):
        text = stdin if stdin is None or isinstance(stdin, str) else json.dumps(stdin)
        return subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, *args], input=text, capture_output=True,
                              text=True, timeout=timeout)

    def must(self, *args, stdin=None, timeout=60):
        done = self.run(*args, stdin=stdin, timeout=timeout)
        assert done.returncode == 0, f"kubectl {' '.join(args)}: {done.stderr}"
        return done.stdout

    def create(self, *objects):
        return self.must("create", "-f", "-", stdin={"apiVersion": "v1", "kind": "List", "items": list(objects)})

    def get(self, kind, name=None, namespace=None):
        args = ["get", kind] + ([name] if name else []) + (["-n", namespace] if namespace else []) + ["-o", "json"]
        done = self.run(*args)
        if done.returncode != 0:
            assert "NotFound" in done.stderr, done.stderr
            return None
        found = json.loads(done.stdout)
        return found if name else found["items"]

    @staticmethod
    def fresh(prefix):
        return f"{prefix}-{next(_serial)}"

    # ---- objects ----

    def queue(self, namespace, cpu, *, flavor=None, cohort=None, preemption=None, strategy=None, pods=None, name=None):
        """ResourceFlavor, ClusterQueue and LocalQueue `queue` of a namespace; returns the ClusterQueue's name."""
        name = name or self.fresh("cq")
        flavor = flavor or name
        resources = [{"name": "cpu", "nominalQuota": str(cpu)}]
        covered = ["cpu"]
        if pods is not None:
            covered.append("pods")
            resources.append({"name": "pods", "nominalQuota": str(pods)})
        spec = {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "resourceGroups": [{"coveredResources": covered, "flavors": [{"name": flavor, "resources": resources}]}],
        }
        if cohort:
            spec["cohortName"] = cohort
        if preemption:
            spec["preemption"] = preemption
        if strategy:
            spec["queueingStrategy"] = strategy
        if self.get("resourceflavor", flavor) is None:
            self.create(kueue("ResourceFlavor", flavor))
        self.create(kueue("ClusterQueue", name, spec=spec),
                    kueue("LocalQueue", "queue", namespace, spec={"clusterQueue": name}))
        return name

    def clean(self, namespace):
        queues = [q["spec"]["clusterQueue"] for q in self.get("localqueue", namespace=namespace) or []]
        self.run("delete", "namespace", namespace, "--wait=false")
        for queue in queues:
            self.run("delete", "clusterqueue", queue, "--wait=false")

    # ---- what happened ----

    def workload_of(self, job, namespace):
        for workload in self.get("workload", namespace=namespace) or []:
            for owner in workload["metadata"].get("ownerReferences", []):
                if owner["name"] == job:
                    return workload
        return None

    def wait_workload(self, job, namespace, kind, seconds=60, reason=None):
        def seen():
            workload = self.workload_of(job, namespace)
            found = workload and condition(workload, kind)
            if reason is not None:
                return workload if found and found["reason"] == reason else None
            return workload if found and found["status"] == "True" else None

        return wait_for(f"{kind}{'=' + reason if reason else ''} of the Workload of {namespace}/{job}", seen, seconds)

    def bound_pods(self, namespace, job=None):
        selector = ["-l", f"batch.kubernetes.io/job-name={job}"] if job else []
        pods = json.loads(self.must("get", "pods", "-n", namespace, *selector, "-o", "json"))["items"]
        return [p for p in pods if p["spec"].get("nodeName") and p["status"].get("phase") not in ("Succeeded", "Failed")]


def kueue(kind, name, namespace=None, **rest):
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, **rest}


def job(name, namespace, *, pods=1, cpu="1", queue="queue", run_time=None, gang=False, priority=None, labels=None,
        **template):
    """A Job whose simulated pods run for `run_time` (a Go duration; None: until they are deleted)."""
    all_labels = {**({"kueue.x-k8s.io/queue-name": queue} if queue else {}), **(labels or {})}
    if priority:
        all_labels["kueue.x-k8s.io/priority-class"] = priority
    spec = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": str(cpu)}}}],
        **template,
    }
    if gang:
        spec["schedulerName"] = "muster"
    meta = {"annotations": {"muster.x-k8s.io/run-time": run_time}} if run_time else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": all_labels},
        "spec": {"parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 100,
                 "template": {"metadata": meta, "spec": spec}},
    }


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Manager:
    """`muster manager` as a process outside the cluster. Its webhooks are reached by URL on the loopback address."""

    def __init__(self, binary, cluster, folder):
        self.binary = binary
        self.cluster = cluster
        self.folder = pathlib.Path(folder)
        self.process = None
        self.ports = {name: free_port() for name in ("webhook", "metrics", "health")}
        self.log = self.folder / "manager.log"
        self.namespace = "muster-system"
        self.extra = []  # more arguments

    def configuration(self):
        text = (ROOT / "manifests/manager/controller_manager_config.yaml").read_text()
        config = yaml.safe_load(text)
        config["namespace"] = self.namespace
        config["webhook"] = {"port": self.ports["webhook"], "host": "127.0.0.1"}
        config["metrics"] = {"bindAddress": f"127.0.0.1:{self.ports['metrics']}"}
        config["health"] = {"healthProbeBindAddress": f"127.0.0.1:{self.ports['health']}"}
        config["leaderElection"] = {"leaderElect": True, "leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}
        return config

    def install(self):
        """Namespace, Secret and webhook configurations of the manifests, with the webhooks at our loopback port."""
        self.cluster.run("create", "namespace", self.namespace)
        rendered = self.cluster.must("kustomize", str(ROOT / "manifests"))
        for obj in yaml.safe_load_all(rendered):
            if obj["kind"] in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
                for hook in obj["webhooks"]:
                    path = hook["clientConfig"].pop("service")["path"]
                    hook["clientConfig"]["url"] = f"https://127.0.0.1:{self.ports['webhook']}{path}"
            elif obj["kind"] != "Secret":
                continue
            self.cluster.must("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(obj))

    def start(self, wait=True):
        self.install()
        config = self.folder / "config.yaml"
        config.write_text(yaml.safe_dump(self.configuration()))
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([self.binary, "manager", "--config", str(config), "--log-level", "debug", *self.extra],
                                            env={**os.environ, "KUBECONFIG": self.cluster.kubeconfig}, stdout=log, stderr=log)
        if wait:
            self.wait_ready()

    def resume(self):
        """Starts the process again, nothing else."""
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([self.binary, "manager", "--config", str(self.folder / "config.yaml"),
                                             "--log-level", "debug", *self.extra],
                                            env={**os.environ, "KUBECONFIG": self.cluster.kubeconfig}, stdout=log, stderr=log)

    def http(self, path, port="health", scheme="http"):
        done = subprocess.run(["curl", "-ks", "-o", "/dev/stdout", "-w", "\n%{http_code}", "--max-time", "5",
                               f"{scheme}://127.0.0.1:{self.ports[port]}{path}"], capture_output=True, text=True)
        body, _, code = done.stdout.rpartition("\n")
        return int(code or 0), body

    def wait_ready(self):
        def ready():
            assert self.process.poll() is None, "the manager has ended: " + self.tail()
            hooks = self.cluster.get("mutatingwebhookconfiguration", "muster-mutating-webhook-configuration")
            return self.http("/readyz")[0] == 200 and all(h["clientConfig"].get("caBundle") for h in hooks["webhooks"])

        wait_for("the manager to be ready", ready, 60)

    def tail(self, lines=30):
        return "\n".join(self.log.read_text().splitlines()[-lines:])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        for kind in ("mutating", "validating"):
            self.cluster.run("delete", f"{kind}webhookconfiguration", f"muster-{kind}-webhook-configuration")
        keep = os.environ.get("MUSTER_E2E_LOGS")
        if keep and self.log.exists():
            pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
            shutil.copy(self.log, pathlib.Path(keep) / f"{self.folder.name}.log")


def secret_text(secret, key):
    return base64.b64decode(secret["data"][key]).decode()
