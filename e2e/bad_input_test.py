"""Wrong files and flags end the manager at once, with the file and the field's path."""

import os
import subprocess

import pytest

HEADER = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
PROFILE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))

CASES = {
    "unknown_key": ("--config", HEADER + "webhook: {prot: 1}\n", "webhook.prot"),
    "wrong_kind": ("--config", "apiVersion: v1\nkind: ConfigMap\n", "apiVersion"),
    "bad_duration": ("--config", HEADER + "waitForPodsReady: {timeout: soon}\n", "waitForPodsReady.timeout"),
    "negative": ("--config", HEADER + "waitForPodsReady: {timeout: -5m}\n", "waitForPodsReady.timeout"),
    "yaml_bomb": ("--config", HEADER + BOMB, "node"),
    "not_yaml": ("--config", "a: [b", "line"),
    "duplicate_key": ("--config", HEADER + "webhook: {port: 1}\nwebhook: {port: 2}\n", "webhook"),
    "profile_unknown_plugin": ("--profile", PROFILE + "profiles: [{schedulerName: muster, plugins: {filter: {enabled: [{name: Nope}]}}}]\n",
                               'unknown plugin "Nope"'),
    "profile_bad_argument": ("--profile", PROFILE + "profiles: [{schedulerName: muster, pluginConfig: [{name: Gang, args: {placement: 7}}]}]\n",
                             "profiles[0].pluginConfig[Gang].args.placement"),
    "profile_malformed": ("--profile", "profiles: {", "line"),
}


@pytest.mark.parametrize("name", CASES)
def test_wrong_file(name, crds, tmp_path):
    flag, text, expected = CASES[name]
    file = tmp_path / "file.yaml"
    file.write_text(text)
    done = subprocess.run([os.environ["MUSTER_BINARY"], "manager", flag, str(file)], capture_output=True, text=True, timeout=20,
                          env={**os.environ, "KUBECONFIG": crds.kubeconfig})
    assert done.returncode == 1, done.stderr
    assert expected in done.stderr and "file.yaml" in done.stderr, done.stderr


def test_no_cluster_is_a_clear_error(tmp_path):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KUBE")}
    done = subprocess.run([os.environ["MUSTER_BINARY"], "manager"], capture_output=True, text=True, timeout=20,
                          env={**env, "HOME": str(tmp_path)})
    assert done.returncode == 1
    assert "kubeconfig" in done.stderr.lower()
