"""SIGKILL at random moments of a run of many Jobs: nothing is lost, nothing runs over quota, the ledger is exact."""

import os
import random
import threading
import time

from lib import is_true, job, wait_for

JOBS = 200
QUOTA = 20


def quantity(text):
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def check_ledger(cluster, queue, namespace):
    """The published usage equals the sum over the Workloads that hold quota."""
    workloads = cluster.get("workload", namespace=namespace)
    held = [w for w in workloads if is_true(w, "QuotaReserved") and not is_true(w, "Finished")]
    expected = sum(quantity(a["resourceUsage"]["cpu"]) for w in held for a in w["status"]["admission"]["podSetAssignments"])
    status = cluster.get("clusterqueue", queue)["status"]
    usage = quantity(status["flavorsReservation"][0]["resources"][0]["total"])
    return usage == expected and status["reservingWorkloads"] == len(held)


def test_sigkill_at_random_moments(manager, crds, namespace):
    seed = int(os.environ.get("MUSTER_SEED", random.randrange(1 << 30)))
    print(f"seed {seed}")
    rng = random.Random(seed)
    queue = crds.queue(namespace, QUOTA)
    jobs = [job(f"j{i}", namespace, cpu=rng.randint(1, 4), run_time=f"{rng.randint(1, 2)}s", nodeName=f"node-{i % 6}")
            for i in range(JOBS)]
    over, stop = [], threading.Event()

    def watch_quota():
        while not stop.is_set():
            held = 0
            for w in crds.get("workload", namespace=namespace) or []:
                if is_true(w, "QuotaReserved") and not is_true(w, "Finished"):
                    held += sum(quantity(a["resourceUsage"]["cpu"]) for a in w["status"]["admission"]["podSetAssignments"])
            if held > QUOTA * 1000:
                over.append(held)
            time.sleep(0.3)

    watcher = threading.Thread(target=watch_quota)
    watcher.start()
    try:
        for start in range(0, JOBS, 50):
            crds.create(*jobs[start:start + 50])
            for _ in range(2):
                time.sleep(rng.uniform(0.2, 3))
                manager.kill()
                manager.resume()
            manager.wait_ready()
        wait_for("all Jobs to complete",
                 lambda: all(is_true(j, "Complete") for j in crds.get("job", namespace=namespace)), 400)
    finally:
        stop.set()
        watcher.join()
    assert not over, f"seed {seed}: more than {QUOTA} cpu were held: {over}"
    finished = crds.get("job", namespace=namespace)
    assert len(finished) == JOBS
    wait_for("every Workload to be finished",
             lambda: all(is_true(w, "Finished") for w in crds.get("workload", namespace=namespace)))
    assert len(crds.get("workload", namespace=namespace)) == JOBS  # one each, none twice
    wait_for("the ledger to agree with the objects", lambda: check_ledger(crds, queue, namespace))
    assert "ledger drift" not in manager.log.read_text()


def test_a_gang_survives_a_kill_between_admission_and_binding(manager, crds, namespace):
    rng = random.Random(int(os.environ.get("MUSTER_SEED", random.randrange(1 << 30))))
    crds.queue(namespace, 1000)
    for i in range(5):
        name = f"gang-{i}"
        crds.create(job(name, namespace, pods=6, cpu=5, gang=True, run_time="1s"))
        time.sleep(rng.uniform(0, 0.6))
        manager.kill()
        manager.resume()
        manager.wait_ready()
        wait_for(f"{name} to finish", lambda: is_true(crds.get("job", name, namespace), "Complete"), 90)
