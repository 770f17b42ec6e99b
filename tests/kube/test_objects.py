"""What jobs bring beside their pods, on a real API server: secrets, claims, and
objects of kinds that only this cluster has."""

import base64
import contextlib
import json
import unittest
import urllib.error

from berth_cluster import (CONTEXT, FOR_EVER, KINDS, NAMESPACE, ROOT,
                           BerthCluster, harness, job)

CORE = f"/api/v1/namespaces/{NAMESPACE}"
POLICIES = f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies"
WIDGETS = f"/apis/example.com/v1/namespaces/{NAMESPACE}/widgets"
SECRET = "nobody may read this"
RBAC = "rbac.authorization.k8s.io"


def thing(api_version, kind, name, **rest):
    return {"apiVersion": api_version, "kind": kind,
            "metadata": {"name": name}, **rest}


def definition(plural, kind, scope):
    schema = {"type": "object", "properties": {"spec": {
        "type": "object", "properties": {"size": {"type": "integer"}}}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {"group": "example.com", "scope": scope,
                 "names": {"plural": plural, "kind": kind,
                           "singular": kind.lower()},
                 "versions": [{"name": "v1", "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": schema}}]}}


class TestObjects(unittest.TestCase):
    """One control plane, one server and one executor for all."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.cluster = BerthCluster(stack)
        cls.plane, cls.berth = cls.cluster.plane, cls.cluster.berth
        cls.cluster.apply(ROOT / "deploy" / "kubernetes" / "jobs-objects.yaml")
        for plural, kind, scope in (("widgets", "Widget", "Namespaced"),
                                    ("gadgets", "Gadget", "Cluster")):
            cls.plane.ask(
                "POST",
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                definition(plural, kind, scope))
        # As the guide says of each further kind.
        roles = f"/apis/{RBAC}/v1/namespaces/{NAMESPACE}"
        cls.plane.ask("POST", f"{roles}/roles", {
            "metadata": {"name": "more"},
            "rules": [{"apiGroups": ["networking.k8s.io"],
                       "resources": ["networkpolicies"],
                       "verbs": ["get", "create"]},
                      {"apiGroups": ["example.com"], "resources": ["widgets"],
                       "verbs": ["get", "create"]}]})
        cls.plane.ask("POST", f"{roles}/rolebindings", {
            "metadata": {"name": "more"},
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "more"},
            "subjects": [{"kind": "User", "name": CONTEXT,
                          "apiGroup": RBAC}]})
        harness.wait_for("widgets are served", cls.serves_widgets)

    @classmethod
    def serves_widgets(cls):
        try:
            return cls.plane.ask("GET", WIDGETS)
        except urllib.error.HTTPError:
            return False

    def setUp(self):
        self.set = self.id().rsplit(".", 1)[1]
        self.wait_state = self.cluster.wait_state
        self.addCleanup(self.berth.ctl, "cancel", "job-set", "q", self.set,
                        check=False)

    def submit(self, objects, **changes):
        wanted = job(FOR_EVER)
        wanted["objects"] = objects
        wanted["podSpec"].update(changes)
        job_id, = self.cluster.submit(self.set, wanted)
        return job_id

    def rows(self, job_id):
        return json.loads(self.berth.ctl("get", "objects", job_id, "-o",
                                         "json").stdout)["objects"]

    def get(self, path):
        return self.plane.ask("GET", path)

    def test_objects_of_all_kinds_belong_to_the_pod(self):
        job_id = self.submit(
            [thing("v1", "ConfigMap", "settings", data={"a": "b"}),
             thing("v1", "Secret", "key", stringData={"text": SECRET}),
             thing("v1", "PersistentVolumeClaim", "scratch", spec={
                 "accessModes": ["ReadWriteOnce"],
                 "resources": {"requests": {"storage": "1Gi"}}}),
             thing("networking.k8s.io/v1", "NetworkPolicy", "alone", spec={
                 "podSelector": {}}),
             thing("example.com/v1", "Widget", "w", spec={"size": 3})],
            imagePullSecrets=[{"name": "key"}, {"name": "of-others"}],
            volumes=[{"name": "s", "secret": {"secretName": "key"}},
                     {"name": "m", "configMap": {"name": "settings"}},
                     {"name": "c", "persistentVolumeClaim": {
                         "claimName": "scratch"}}])
        self.wait_state(job_id, "RUNNING")
        pod_name = f"armada-{job_id}-0"
        paths = [f"{CORE}/configmaps/{pod_name}-settings",
                 f"{CORE}/secrets/{pod_name}-key",
                 f"{CORE}/persistentvolumeclaims/{pod_name}-scratch",
                 f"{POLICIES}/{pod_name}-alone", f"{WIDGETS}/{pod_name}-w"]
        harness.wait_for("the last is made", lambda: [
            w["metadata"]["name"] for w in self.get(WIDGETS)["items"]] == [
                f"{pod_name}-w"])
        pod = self.cluster.pods()[pod_name]
        found = [self.get(path) for path in paths]
        for made in found:
            owner, = made["metadata"]["ownerReferences"]
            self.assertEqual((owner["kind"], owner["name"], owner["uid"]),
                             ("Pod", pod_name, pod["metadata"]["uid"]))
            self.assertEqual(made["metadata"]["labels"]["armada_job_id"],
                             job_id)
        self.assertEqual(found[0]["data"], {"a": "b"})
        self.assertIn("text", found[1]["data"])
        self.assertEqual(
            found[2]["metadata"]["annotations"][
                "volume.kubernetes.io/selected-node"], pod["spec"]["nodeName"])
        self.assertEqual(found[4]["spec"], {"size": 3})
        spec = pod["spec"]
        self.assertEqual([s["name"] for s in spec["imagePullSecrets"]],
                         [f"{pod_name}-key", "of-others"])
        self.assertEqual(
            [spec["volumes"][0]["secret"]["secretName"],
             spec["volumes"][1]["configMap"]["name"],
             spec["volumes"][2]["persistentVolumeClaim"]["claimName"]],
            [f"{pod_name}-key", f"{pod_name}-settings", f"{pod_name}-scratch"])
        rows = harness.wait_for("rows of all", lambda: self.rows(job_id)
                                if self.rows(job_id)[-1]["state"] == "PRESENT"
                                else None)
        self.assertEqual(
            [(r["kind"], r["name"], r["state"]) for r in rows],
            [("Pod", pod_name, "RUNNING"),
             *[(made["kind"], made["metadata"]["name"], "PRESENT")
               for made in found]])
        self.assertEqual([r["uid"] for r in rows[1:]],
                         [made["metadata"]["uid"] for made in found])
        self.assertEqual({(r["namespace"], r["attempt"], r["executor"])
                          for r in rows}, {(NAMESPACE, 1, "k")})
        self.assert_secret_stays(
            json.dumps(pod), json.dumps(rows),
            self.berth.ctl("get", "jobs", job_id, "-o", "json").stdout,
            self.berth.ctl("get", "jobs", job_id, "-o", "yaml").stdout,
            self.berth.ctl("explain", job_id, "-o", "json").stdout)
        # An executor that starts anew finds them all.
        self.cluster.executor.kill()
        self.cluster.executor.start()
        other = self.submit([thing("v1", "Secret", "key",
                                   stringData={"text": SECRET})])
        self.wait_state(other, "RUNNING")
        self.assertEqual(self.cluster.job(job_id)["state"], "RUNNING")
        for one in (job_id, other):
            self.berth.ctl("cancel", "job", one)
        self.cluster.wait_no_pods()
        self.assertEqual({r["state"] for r in self.rows(job_id)[1:]},
                         {"UNWANTED"})
        self.assert_secret_stays(json.dumps(
            self.cluster.all_events(self.set)))

    def assert_secret_stays(self, *shown):
        """Nobody but the API server, and who has the files, is told."""
        encoded = base64.b64encode(SECRET.encode()).decode()
        for text in [*shown, self.berth.program.log(),
                     self.cluster.executor.program.log()]:
            self.assertNotIn(SECRET, text)
            self.assertNotIn(encoded, text)

    def assert_fails(self, objects, *words):
        job_id = self.submit(objects)
        told = json.dumps(self.wait_state(job_id, "FAILED"))
        for word in words:
            self.assertIn(word, told)
        self.assertNotIn(SECRET, told)
        self.cluster.wait_no_pods()
        return self.rows(job_id)

    def test_what_the_cluster_refuses_fails_the_job(self):
        rows = self.assert_fails([thing("example.com/v1", "Widget", "w",
                                        spec={"size": SECRET[:3]})],
                                 "Widget", "422")
        self.assertEqual(rows[1]["state"], "REJECTED")
        self.assertIn("422", rows[1]["message"])
        self.assert_fails([thing("v1", "Secret", "k", stringData={"a": SECRET},
                                 type="kubernetes.io/tls")],
                          "Secret", "422", "not shown")
        self.assert_fails([thing("example.com/v1", "Gadget", "g")],
                          "in no namespace")
        self.assert_fails([thing("batch/v1", "Job", "j", spec={})],
                          "batch/v1/Job", "objectKinds")
        self.assertNotIn("batch/v1/Job", KINDS)


if __name__ == "__main__":
    unittest.main()
