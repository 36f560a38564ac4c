# SPDX-License-Identifier: BSD-3-Clause
"""Measures the shares and latencies of clients, and prints the times. The limits are relative to an unfair service on
the same machine, or far from usual times."""
import time

from load import Flood, buffered, percentiles, side_by_side
from service import NOBODY, SANITIZED, Case, main, needs_root
from wire import SLOW, envelope

KIB, MIB = 1 << 10, 1 << 20
SECONDS = 2
# Each transfer takes up to 4 ms on any machine, so that the clients compete for the channels, not for the processor.
PACED = ("--engine", "fault:threads,delay_us=4000")


class Latency(Case):
    def latencies(self, service, seconds, **more):
        """Runs small jobs one after another; returns the time of each."""
        connection = self.connect(service)
        params, self.kept = buffered(connection, 4 * KIB, **more)
        times, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.monotonic()
            connection.call("job.submit", params)
            times.append(time.monotonic() - begin)
        return times

    def against_a_flood(self, service, size):
        with Flood(service, size, 256) as flood:
            times = self.latencies(service, SECONDS)
            self.assertEqual({end.error for end in flood.stop()}, {None})
            seconds = flood.ends[-1].when - flood.begun
        text, half, most = percentiles(times)
        behind_all = 256 * seconds / len(flood.ends)
        print(f"\n  flood of {size // KIB} KiB: {text}; behind all of it {behind_all * 1e3:.1f} ms")
        self.assertGreater(len(times), 10)
        self.assertLess(half, max(behind_all / 4, 0.02))
        self.assertLess(most, max(behind_all, 0.05 * SLOW))

    def test_a_flood_of_large_moves(self):
        self.against_a_flood(self.service(), 4 * MIB)

    def test_a_flood_of_medium_moves(self):
        self.against_a_flood(self.service(*PACED), 64 * KIB)

    def test_high_priority(self):
        """A job of high priority passes all queued jobs, also those of its own connection."""
        service = self.service(*PACED, config={"channels": 1})
        with self.connect(service) as connection:
            params, memory = buffered(connection, 4 * KIB)
            slow = [connection.request("job.submit", params) for _ in range(100)]
            fast = connection.request("job.submit", dict(params, priority=1))
            late = connection.request("job.submit", dict(params, priority=-1))
            serial = {id: connection.reply(id).serial for id in [*slow, fast, late]}
            memory.close()
        self.assertEqual(sorted(slow, key=serial.get), slow, "not in the order of arrival")
        self.assertLess(serial[fast], serial[slow[50]])


class Shares(Case):
    def shares(self, sizes, depths, tolerance):
        service = self.service(*PACED)
        floods = [Flood(service, size, depth) for size, depth in zip(sizes, depths)]
        ends = side_by_side(floods, SECONDS)
        self.assertEqual({end.error for flood in floods for end in flood.ends}, {None})
        moved = [sum(end.bytes for end in part) for part in ends]
        print("\n  " + ", ".join(f"{len(part)} jobs of {size // KIB} KiB: {all_of_it / MIB:.1f} MiB"
                                 for size, part, all_of_it in zip(sizes, ends, moved)))
        self.assertGreater(min(moved), max(moved) * (1 - tolerance))

    def test_equal_clients(self):
        self.shares([64 * KIB] * 2, [64] * 2, 0.1)

    def test_equal_clients_of_different_depths(self):
        self.shares([64 * KIB] * 2, [32, 256], 0.1)

    def test_small_jobs_and_large_jobs(self):
        self.shares([32 * KIB, MIB], [256, 64], 0.25)

    def test_five_clients(self):
        self.shares([64 * KIB] * 4 + [256 * KIB], [64] * 5, 0.25)


@needs_root
class Users(Case):
    """Measures which percentage of the bytes a user gets while another user floods the service."""
    ONE, OTHER = NOBODY, 4711

    def part(self, floods):
        service = self.service(*PACED, config={"socket_mode": "0666"})
        ends = side_by_side([Flood(service, 64 * KIB, 64, uid=self.ONE)] +
                            [Flood(service, 64 * KIB, 32, uid=self.OTHER, **more)
                             for more in floods], SECONDS)
        moved = [sum(end.bytes for end in part) for part in ends]
        print(f"\n  {moved[0] / MIB:.1f} MiB beside {sum(moved[1:]) / MIB:.1f} MiB")
        return 100 * moved[0] / sum(moved)

    def test_a_user_with_many_connections(self):
        self.assertGreater(self.part([{}] * 8), 35)

    def test_a_user_with_high_priority(self):
        self.assertGreater(self.part([{"priority": 1}]), 35)


class Starving(Case):
    def test_low_priority(self):
        """A waiting job moves up after 100 ms, and again after another 100 ms; then it starts, not before."""
        service = self.service(*PACED, config={"channels": 1, "scheduling": {"ageing_ms": 100}})
        connection = self.connect(service)
        params, _memory = buffered(connection, 4 * KIB, priority=-1)
        with Flood(service, 64 * KIB, 64, priority=1) as flood:
            times = []
            for _ in range(5):
                begin = time.monotonic()
                connection.call("job.submit", params)
                times.append(time.monotonic() - begin)
            ended = time.monotonic()
            time.sleep(0.2)
            flood.stop()
        self.assertTrue(flood.within(ended, ended + 10 * SLOW), "the flood was over before")
        print("\n  low under high: " + percentiles(times)[0])
        self.assertGreater(min(times), 0.1)
        self.assertLess(max(times), 1.5 * SLOW)

    def test_low_priority_of_the_same_connection(self):
        service = self.service(*PACED, config={"channels": 1, "scheduling": {"ageing_ms": 50}})
        connection = self.connect(service)
        params, _memory = buffered(connection, 4 * KIB)
        low = connection.request("job.submit", dict(params, priority=-1))
        high = [connection.request("job.submit", dict(params, priority=1)) for _ in range(250)]
        at = connection.reply(low).serial
        for id in high:
            connection.result(id)
        print(f"\n  low was {at} of {len(high) + 1}")
        self.assertLess(at, len(high) + 1)

    def test_wide_among_narrow(self):
        """A job gets four adjacent channels, although other clients request single channels all the time."""
        service = self.service(*PACED)
        connection = self.connect(service)
        params, _memory = buffered(connection, MIB, channels=4)
        with Flood(service, 64 * KIB, 128) as flood:
            begin, times = time.monotonic(), []
            while time.monotonic() < begin + SECONDS:
                one = time.monotonic()
                self.assertEqual(connection.call("job.submit", params)["cost"]["channels"], 4)
                times.append(time.monotonic() - one)
            flood.stop()
        narrow = len(flood.within(begin, begin + SECONDS))
        print(f"\n  wide: {percentiles(times)[0]}; meanwhile {narrow} narrow ones")
        self.assertLess(max(times), 1 * SLOW)
        self.assertGreater(narrow, 100 / SLOW)

    def test_narrow_among_wide(self):
        service = self.service(*PACED)
        connection = self.connect(service)
        params, _memory = buffered(connection, 4 * KIB)
        with Flood(service, MIB, 128, channels=4) as flood:
            begin, times = time.monotonic(), []
            while time.monotonic() < begin + SECONDS:
                one = time.monotonic()
                connection.call("job.submit", params)
                times.append(time.monotonic() - one)
            flood.stop()
        wide = len(flood.within(begin, begin + SECONDS))
        print(f"\n  narrow: {percentiles(times)[0]}; meanwhile {wide} wide ones")
        self.assertLess(max(times), 1 * SLOW)
        self.assertGreater(wide, 20 / SLOW)


class BackPressure(Case):
    COUNT = 5000

    def push(self, connection, left):
        """Sends without reading replies, until the service has read nothing for a second."""
        idle = time.monotonic() + 1
        while left and time.monotonic() < idle:
            try:
                left = left[connection.sock.send(left):]
                idle = time.monotonic() + 1
            except BlockingIOError:
                time.sleep(0.01)
        return left

    def test_a_client_that_does_not_read(self):
        """The service stops reading from a client that does not read, keeps the client's replies, and uses little
        processor time for the client. A line of which the service has read only a part, because it stopped reading,
        does not time out."""
        service = self.service(config={"limits": {"line_timeout_ms": 300}})
        connection, other = self.connect(service), self.connect(service)
        params, memory = buffered(connection, 64)
        before = service.memory()
        # Blanks do not count toward the limit of waiting bytes, but take room in the socket.
        lines = b"".join(envelope("job.submit", params, f"job {i}") + b" " * 300 + b"\n"
                         for i in range(self.COUNT))
        left = self.push(connection, memoryview(lines))
        grown = service.memory() - before
        print(f"\n  {len(lines) - len(left)} of {len(lines)} bytes taken, {grown // KIB} KiB grown")
        self.assertTrue(left, "all was taken from a client that does not read")
        other.ping()
        self.assertLess(grown, (64 if SANITIZED else 8) * MIB)
        connection.send_raw(left)
        for i in range(self.COUNT):
            connection.result(f"job {i}")
        connection.ping()
        memory.close()

    def test_more_jobs_than_the_limit(self):
        """Further requests wait in the socket, even a cancel; other connections are served."""
        service = self.service("--engine", "fault:threads,stick=1",
                               config={"channels": 1, "limits": {"jobs_per_client": 4}})
        connection, other = self.connect(service), self.connect(service)
        params, _memory = buffered(connection, 64)
        ids = [connection.request("job.submit", params) for _ in range(10)]
        ping = connection.request("daemon.ping")
        self.assertFalse(connection.wait(lambda: ping in connection.replies, 0.3))
        counts = other.call("daemon.info")
        self.assertEqual((counts["jobs_queued"], counts["jobs_running"]), (3, 1))
        other.call("job.cancel", {"job": 1})
        self.assertEqual(connection.error(ids[0]).name, "CANCELLED")
        for id in ids[1:]:
            connection.result(id)
        connection.result(ping)


if __name__ == "__main__":
    main()
