"""The runtime kubernetes against a real API server; kwok plays the kubelets."""

import contextlib
import json
import subprocess
import unittest
import urllib.error

from berth_cluster import (BUILD, CONTEXT, FOR_EVER, NAMESPACE, PODS,
                           BerthCluster, harness, job)


class TestRuntime(unittest.TestCase):
    """One control plane, one server and one executor for all."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.cluster = BerthCluster(stack)
        cls.plane, cls.berth = cls.cluster.plane, cls.cluster.berth
        cls.executor = cls.cluster.executor

    def setUp(self):
        self.set = self.id().rsplit(".", 1)[1]
        self.job, self.pods = self.cluster.job, self.cluster.pods
        self.wait_state = self.cluster.wait_state
        self.wait_no_pods = self.cluster.wait_no_pods

    def submit(self, *jobs):
        return self.cluster.submit(self.set, *jobs)

    def test_the_contract_of_runtimes(self):
        done = subprocess.run(
            [BUILD / "tests/contract/contract_runtime_kubernetes",
             self.cluster.config], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        pods = PODS.replace(NAMESPACE, "default")
        for pod in self.plane.ask("GET", pods)["items"]:
            name = pod["metadata"]["name"]
            try:
                self.plane.ask("DELETE", f"{pods}/{name}?gracePeriodSeconds=0")
            except urllib.error.HTTPError as error:
                # It was being deleted already.
                self.assertEqual(error.code, 404)

    def test_jobs_succeed_and_fail_with_their_exit_code(self):
        good, bad = self.submit(job(), job(exit_code=3))
        self.assertEqual(self.wait_state(good, "SUCCEEDED")["runCount"], 1)
        self.assertEqual(self.wait_state(bad, "FAILED")["exitCode"], 3)
        self.wait_no_pods()

    def test_a_pod_says_whose_it_is(self):
        job_id, = self.submit(job(FOR_EVER))
        self.wait_state(job_id, "RUNNING")
        pod = self.pods()[f"armada-{job_id}-0"]
        labels, spec = pod["metadata"]["labels"], pod["spec"]
        self.assertEqual(
            {key: labels[key] for key in (
                "armada_job_id", "armada_queue_id", "armada_pod_number",
                "berth.dev/executor")},
            {"armada_job_id": job_id, "armada_queue_id": "q",
             "armada_pod_number": "0", "berth.dev/executor": "k"})
        self.assertEqual(pod["metadata"]["annotations"]["armada_jobset_id"],
                         self.set)
        self.assertIn(spec["nodeName"], ("n1", "n2"))
        self.assertNotIn("nodeSelector", spec)
        env = {e["name"]: e.get("value") for e in spec["containers"][0]["env"]}
        self.assertEqual(env["ARMADA_JOB_ID"], job_id)
        # There is no kubelet that has a log, but the executor may ask for it.
        said = self.berth.ctl("logs", job_id, check=False).stderr
        self.assertIn("the API server answered", said)
        self.assertNotIn("forbidden", said)
        self.berth.ctl("cancel", "job", job_id)
        self.wait_no_pods()

    def test_services_and_ingresses_belong_to_the_pod(self):
        reached = job(3000)
        reached["services"] = [{"type": "NodePort", "ports": [8080]}]
        reached["ingress"] = [{"ports": [9090], "tlsEnabled": True}]
        reached["podSpec"]["containers"][0]["ports"] = [
            {"containerPort": 8080, "protocol": "TCP"},
            {"containerPort": 9090, "protocol": "TCP"}]
        job_id, = self.submit(reached)
        self.wait_state(job_id, "RUNNING")
        name = f"armada-{job_id}-0"
        pod = self.pods()[name]
        # One is for the service, and one that the ingress needs is headless.
        harness.wait_for("the services are made", lambda: sorted(
            self.names("/api/v1", "services", job_id)) == [
                f"{name}-service-0", f"{name}-service-1"])
        service = self.things("/api/v1", "services", job_id)[0]
        ingress, = harness.wait_for("the ingress is made", lambda: self.things(
            "/apis/networking.k8s.io/v1", "ingresses", job_id))
        for thing in (service, ingress):
            owner, = thing["metadata"]["ownerReferences"]
            self.assertEqual((owner["kind"], owner["name"], owner["uid"]),
                             ("Pod", name, pod["metadata"]["uid"]))
        self.assertEqual(service["spec"]["selector"], {
            "armada_job_id": job_id, "armada_queue_id": "q",
            "armada_pod_number": "0"})
        host = f"main-9090-{name}.{NAMESPACE}.svc"
        self.assertEqual(ingress["spec"]["rules"][0]["host"], host)
        self.assertEqual(ingress["spec"]["tls"], [{
            "hosts": [host],
            "secretName": f"{NAMESPACE}-ingress-tls-certificate"}])
        node_port = service["spec"]["ports"][0]["nodePort"]
        # An executor that starts anew finds them, and makes none twice.
        self.executor.kill()
        self.executor.start()
        self.assertEqual(self.wait_state(job_id, "SUCCEEDED")["runCount"], 1)
        told = [event["event"]["ingressAddresses"]
                for event in self.cluster.all_events(self.set)
                if event["type"] == "JobIngressInfoEvent"]
        self.assertIn({"8080": f"10.0.0.2:{node_port}", "9090": f"{host}/"},
                      told)
        self.wait_no_pods()

    def things(self, group, plural, job_id):
        return self.plane.ask(
            "GET", f"{group}/namespaces/{NAMESPACE}/{plural}"
            f"?labelSelector=armada_job_id%3D{job_id}")["items"]

    def names(self, group, plural, job_id):
        return [t["metadata"]["name"]
                for t in self.things(group, plural, job_id)]

    def test_a_cancelled_job_leaves_the_cluster(self):
        job_id, = self.submit(job(FOR_EVER))
        self.wait_state(job_id, "RUNNING")
        self.berth.ctl("cancel", "job", job_id)
        self.wait_state(job_id, "CANCELLED")
        self.wait_no_pods()

    def test_a_pod_that_somebody_deletes_fails_its_job(self):
        job_id, = self.submit(job(FOR_EVER))
        self.wait_state(job_id, "RUNNING")
        self.plane.ask("DELETE", f"{PODS}/armada-{job_id}-0")
        self.wait_state(job_id, "FAILED")
        self.wait_no_pods()

    def test_a_pod_that_cannot_start_fails(self):
        waiting = job()
        waiting["annotations"]["kwok.example/waiting"] = "InvalidImageName"
        job_id, = self.submit(waiting)
        told = json.dumps(self.wait_state(job_id, "FAILED"))
        self.assertIn("InvalidImageName: as the test wishes", told)
        self.assertNotIn("143", told)
        self.wait_no_pods()

    def test_what_the_cluster_refuses_fails_with_its_words(self):
        wrong = job()
        wrong["podSpec"]["hostAliases"] = [{"ip": "nowhere"}]
        hostile = job()
        hostile["podSpec"]["volumes"] = [
            {"name": "v", "hostPath": {"path": "/"}}]
        for refused, words in ((wrong, "422"), (hostile, "PodSecurity")):
            job_id, = self.submit(refused)
            told = self.wait_state(job_id, "FAILED")
            self.assertIn(words, json.dumps(told))

    def may(self, verb, resource, namespace=NAMESPACE):
        name, _, part = resource.partition("/")
        group = "networking.k8s.io" if name == "ingresses" else ""
        return self.plane.ask(
            "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            {"spec": {"user": CONTEXT, "resourceAttributes": {
                "verb": verb, "resource": name, "subresource": part,
                "group": group,
                "namespace": namespace}}})["status"]["allowed"]

    def test_the_account_may_do_what_it_must_and_no_more(self):
        everywhere = {("list", "pods"), ("watch", "pods"), ("list", "nodes"),
                      ("watch", "nodes")}
        in_its_own = everywhere | {("get", "pods"), ("create", "pods"),
                                   ("delete", "pods"), ("get", "pods/log")}
        in_its_own |= {(verb, resource) for verb in ("get", "create")
                       for resource in ("services", "configmaps", "ingresses")}
        verbs = ("get", "list", "watch", "create", "update", "patch", "delete",
                 "deletecollection")
        resources = ("pods", "pods/log", "pods/exec", "pods/binding", "nodes",
                     "secrets", "configmaps", "services", "ingresses",
                     "serviceaccounts")
        for namespace, granted in ((NAMESPACE, in_its_own),
                                   ("default", everywhere),
                                   ("kube-system", everywhere)):
            self.assertEqual(
                {(v, r) for v in verbs for r in resources
                 if self.may(v, r, namespace)}, granted, namespace)

    def test_nobody_notices_that_the_executor_was_killed(self):
        jobs = self.submit(*[job(FOR_EVER)] * 3, *[job(3000)] * 3)
        for job_id in jobs:
            self.wait_state(job_id, "RUNNING")
        uids = {p["metadata"]["uid"] for p in self.pods().values()}
        self.executor.kill()
        more = self.submit(*[job()] * 5)
        self.executor.start()
        for job_id in [*jobs[3:], *more]:
            self.assertEqual(self.wait_state(job_id, "SUCCEEDED")["runCount"],
                             1)
        kept = {p["metadata"]["uid"] for p in self.pods().values()}
        self.assertTrue(kept <= uids)
        self.assertEqual(len(kept), 3)
        for job_id in jobs[:3]:
            self.berth.ctl("cancel", "job", job_id)
        self.wait_no_pods()
        events = self.cluster.events(self.set)
        for event, count in events.items():
            self.assertEqual(count, 1, event)
        self.assertIn((jobs[0], "JobRunningEvent"), events)

    def test_berthd_may_have_the_executor_inside(self):
        config = {"executor": {"id": "inside", "runtime": "kubernetes",
                               "kubernetes": self.cluster.settings}}
        with harness.Berth(json.dumps(config)) as berth:
            berth.ctl("create", "queue", "q")
            berth.ctl("submit", "-", input_text=json.dumps(
                {"queue": "q", "jobSetId": "s", "jobs": [job(), job(1000)]}))
            berth.ctl("watch", "q", "s", "--exit-code")
        self.wait_no_pods()

    def test_a_node_gets_no_more_pods_than_it_takes(self):
        only = {"key": "few", "value": "true", "effect": "NoSchedule"}
        self.plane.add_nodes("few", pods="2", taints=[only])
        self.addCleanup(self.plane.ask, "DELETE", "/api/v1/nodes/few")
        small = job(FOR_EVER, cpu="10m")
        small["podSpec"]["tolerations"] = [only]
        small["podSpec"]["nodeSelector"] = {"kubernetes.io/hostname": "few"}
        resources = [{"name": name} for name in (
            "memory", "cpu", "ephemeral-storage", "nvidia.com/gpu", "pods")]
        config = {"executor": {"id": "inside", "runtime": "kubernetes",
                               "kubernetes": self.cluster.settings},
                  "scheduling": {"supportedResourceTypes": resources}}
        with harness.Berth(json.dumps(config)) as berth:
            berth.ctl("create", "queue", "q")
            berth.ctl("submit", "-", input_text=json.dumps(
                {"queue": "q", "jobSetId": "s", "jobs": [small] * 3}))

            def states():
                jobs = json.loads(berth.ctl("get", "jobs", "-o",
                                            "json").stdout)
                return sorted(j.get("state", "QUEUED") for j in jobs)

            harness.wait_for("two run", lambda: states() == [
                "QUEUED", "RUNNING", "RUNNING"])
            waiting, = json.loads(berth.ctl("get", "jobs", "--state", "QUEUED",
                                            "-o", "json").stdout)
            harness.wait_for("it says why", lambda: "pods" in berth.ctl(
                "explain", waiting["jobId"]).stdout)
            berth.ctl("cancel", "job-set", "q", "s")
            self.wait_no_pods()

    def test_the_api_server_may_crash(self):
        running, = self.submit(job(FOR_EVER))
        self.wait_state(running, "RUNNING")
        self.plane.restart_api()
        more, = self.submit(job())
        self.wait_state(more, "SUCCEEDED")
        self.assertEqual(self.job(running)["state"], "RUNNING")
        self.berth.ctl("cancel", "job", running)
        self.wait_no_pods()


if __name__ == "__main__":
    unittest.main()
