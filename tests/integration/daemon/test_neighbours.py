# SPDX-License-Identifier: BSD-3-Clause
"""What users learn of each other, and what they can do to the log."""
from service import NOBODY, Case, as_user, main, needs_root

OTHER = NOBODY - 1
BAD = {"op": "mov", "src": {}, "dst": {}}


class Neighbours(Case):
    def setUp(self):
        super().setUp()
        self.mlid = self.service(config={"socket_mode": "0666"})

    def as_other(self, uid):
        self.connect(self.mlid)  # it listens
        with as_user(uid):
            return self.connect(self.mlid)

    @needs_root
    def test_stats(self):
        """Rows of others are for root and mlid's own user; totals are for all."""
        root = self.connect(self.mlid)
        links = {uid: self.as_other(uid) for uid in (NOBODY, OTHER)}
        now = root.call("daemon.stats")["clients"]["now"]
        for uid, link in links.items():
            stats = link.call("daemon.stats")
            self.assertEqual([user["uid"] for user in stats["users"]], [uid])
            self.assertEqual([row["uid"] for row in stats["connections"]], [uid])
            self.assertEqual(stats["clients"]["now"], now)
        stats = root.call("daemon.stats")
        self.assertEqual({user["uid"] for user in stats["users"]}, {0, NOBODY, OTHER})
        self.assertEqual(len(stats["connections"]), now)

    def test_refusals_in_the_log(self):
        """However many there are: some lines, and how many were left out."""
        link = self.connect(self.mlid)
        for _ in range(500):
            link.fault("job.submit", BAD)
        self.assertLess(self.mlid.text().count("job refused"), 100)
        self.assertGreater(self.mlid.text().count("job refused"), 5)

    @needs_root
    def test_refusals_of_others(self):
        """One user's flood takes no line from another user."""
        flood, quiet = self.as_other(NOBODY), self.as_other(OTHER)
        for _ in range(500):
            flood.fault("job.submit", BAD)
        quiet.fault("job.submit", BAD)
        lines = [line for line in self.mlid.text().splitlines() if "job refused" in line]
        self.assertIn(f"uid={OTHER} ", lines[-1])


if __name__ == "__main__":
    main()
