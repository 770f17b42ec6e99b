"""A log that has lost records: refused, and made good from the store where the
operator accepts the loss.
"""

import unittest

import bad_input
import harness
from bad_input import Client, field, item, number

CANCELLED = 9


class Salvage(unittest.TestCase):
    """Jobs that the log has, and such as it will lose."""

    def setUp(self):
        self.berth = harness.Berth(standalone=False)
        self.addCleanup(self.berth.close)
        self.berth.start()
        with Client(self.berth.grpc) as client:
            client.make_queue("q")
            client.make_queue("gone")
            self.cancelled, *self.kept = client.submit("q", "s", [item()] * 9)
            self.berth.stop()
            self.log = self.berth.data / "log.db"
            self.older = self.log.read_bytes()
        self.berth.start()
        with Client(self.berth.grpc) as client:
            client.make_queue("new")
            client.call("/api.Submit/DeleteQueue", field(1, "gone"))
            client.call("/api.RetryPolicyService/CreateRetryPolicy",
                        field(1, "often") + number(2, 3) + number(3, 1))
            self.lost = client.submit(
                "q", "s", [item(client_id="one")] + [item()] * 9)
            client.call("/api.Submit/CancelJobs", field(2, "s") +
                        field(3, "q") + field(1, self.cancelled))
            self.wait_states(client, self.lost, bad_input.QUEUED)
            self.wait_states(client, [self.cancelled], CANCELLED)
        self.berth.stop()

    def wait_states(self, client, jobs, state):
        harness.wait_for(f"the jobs have state {state}", lambda: set(
            client.states(jobs).values()) == {state}, 30)

    def assert_refused(self):
        with self.assertRaises(AssertionError):
            self.berth.start()
        self.assertEqual(self.berth.program.end(), 1)
        last = self.berth.program.log().strip().splitlines()[-1]
        self.assertRegex(last, "ends with record.*--accept-loss")

    def accept(self):
        """What it says of the loss."""
        self.berth.arguments = ["--accept-loss"]
        self.berth.start()
        self.berth.arguments = []
        said = self.berth.program.log()
        self.assertRegex(said, "log.note.* lost")
        return said

    def queues(self):
        """The names of all, as the server knows them."""
        with Client(self.berth.grpc) as client:
            return [name for name in ("gone", "new", "q") if client.outcome(
                "/api.Submit/GetQueue", field(1, name))[0] == "OK"]

    def assert_in_log(self, jobs):
        """A store that is made anew knows the jobs, and the one cancelled."""
        self.berth.stop()
        for path in self.berth.data.glob("store.db*"):
            path.unlink()
        self.berth.start()
        with Client(self.berth.grpc) as client:
            self.wait_states(client, jobs, bad_input.QUEUED)
            return client.states([self.cancelled])[self.cancelled]

    def test_what_the_store_knows_is_taken_up_again(self):
        self.log.write_bytes(self.older)
        self.assert_refused()
        self.assertRegex(self.accept(),
                         "log.salvaged jobs=10 ended=1 objects=3")
        self.assertEqual(self.queues(), ["new", "q"])
        with Client(self.berth.grpc) as client:
            client.call("/api.RetryPolicyService/GetRetryPolicy",
                        field(1, "often"))
        with Client(self.berth.grpc) as client:
            with self.subTest("a client id still means its job"):
                self.assertEqual(
                    client.submit("q", "s", [item(client_id="one")]),
                    self.lost[:1])
        self.assertEqual(self.assert_in_log(self.kept + self.lost), CANCELLED)

    def test_a_log_that_is_gone_leaves_the_jobs_that_had_not_ended(self):
        self.log.unlink()
        self.assert_refused()
        self.assertRegex(self.accept(),
                         "log.salvaged jobs=18 ended=0 objects=4")
        self.assertEqual(self.queues(), ["new", "q"])
        with Client(self.berth.grpc) as client:
            self.wait_states(client, [self.cancelled], CANCELLED)
            with self.subTest("and their queue is there again"):
                client.submit("q", "s", [item()])
        self.assertEqual(self.assert_in_log(self.kept + self.lost),
                         bad_input.UNKNOWN)

    def test_it_may_be_done_again(self):
        self.log.write_bytes(self.older)
        self.accept()
        self.berth.kill()
        self.berth.arguments = ["--accept-loss"]
        self.berth.start()
        self.assertEqual(self.assert_in_log(self.kept + self.lost), CANCELLED)


if __name__ == "__main__":
    bad_input.main()
