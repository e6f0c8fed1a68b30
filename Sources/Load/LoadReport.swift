import SyncModel

/// How a run went.
package struct LoadReport: Codable, Sendable, Equatable {
    /// Milliseconds.
    package struct Latency: Codable, Sendable, Equatable {
        package var count: UInt64
        package var p50: Double?
        package var p90: Double?
        package var p99: Double?
        package var p999: Double?
        package var max: Double?

        package init(_ histogram: LatencyHistogram) {
            count = histogram.count
            func milliseconds(_ share: Double) -> Double? {
                histogram.percentile(share).map { Double($0) / 1000 }
            }
            p50 = milliseconds(0.5)
            p90 = milliseconds(0.9)
            p99 = milliseconds(0.99)
            p999 = milliseconds(0.999)
            max = milliseconds(1)
        }
    }

    package var app: String
    package var mode: String
    package var clients: Int
    package var sharing: Int
    /// Clients whose session was open once.
    package var opened: Int
    /// How long was measured.
    package var seconds: Double
    /// Changesets that were sent in that time; of those, how many were acknowledged, and how often one reached another client.
    package var sent: Int
    package var acknowledged: Int
    package var delivered: Int
    /// The changesets that are missing at the end of the whole run.
    package var notAcknowledged: Int
    package var notDelivered: Int
    /// Changesets that clients would have written, and did not because too many waited.
    package var heldBack: Int
    package var reconnects: Int
    /// How often each thing went wrong.
    package var failures: [String: Int]
    /// Times from the beginning of a connection to an open session, and from a write to its acknowledgement and to another client.
    package var opening: Latency
    package var acknowledging: Latency
    package var delivering: Latency?
    /// The demands that are not met; empty: the run has passed.
    package var shortfalls: [String] = []

    package init(
        app: String, mode: String, clients: Int, sharing: Int, opened: Int, seconds: Double, sent: Int,
        acknowledged: Int, delivered: Int, notAcknowledged: Int, notDelivered: Int, heldBack: Int, reconnects: Int,
        failures: [String: Int], opening: Latency, acknowledging: Latency, delivering: Latency?
    ) {
        self.app = app
        self.mode = mode
        self.clients = clients
        self.sharing = sharing
        self.opened = opened
        self.seconds = seconds
        self.sent = sent
        self.acknowledged = acknowledged
        self.delivered = delivered
        self.notAcknowledged = notAcknowledged
        self.notDelivered = notDelivered
        self.heldBack = heldBack
        self.reconnects = reconnects
        self.failures = failures
        self.opening = opening
        self.acknowledging = acknowledging
        self.delivering = delivering
    }

    /// The demands that an operator makes of a run beside that nothing is lost.
    package struct Demands: Sendable {
        /// Milliseconds.
        package var acknowledgedWithin: Double?
        package var deliveredWithin: Double?

        package init(acknowledgedWithin: Double? = nil, deliveredWithin: Double? = nil) {
            self.acknowledgedWithin = acknowledgedWithin
            self.deliveredWithin = deliveredWithin
        }
    }

    /// Notes what falls short of the demands.
    package mutating func judge(by demands: Demands) {
        shortfalls = []
        if opened < clients { shortfalls.append("\(clients - opened) of \(clients.counted("client")) had no session") }
        if notAcknowledged > 0 {
            shortfalls.append("\(notAcknowledged.counted("changeset was", "changesets were")) not acknowledged")
        }
        if notDelivered > 0 { shortfalls.append("\(notDelivered.counted("changeset")) did not reach another client") }
        if heldBack > 0 {
            shortfalls.append("\(heldBack.counted("changeset was", "changesets were")) not written: too many waited")
        }
        let wrong = failures.values.reduce(0, +)
        if wrong > 0 { shortfalls.append(wrong.counted("error")) }
        func check(_ latency: Latency?, _ wanted: Double?, _ what: String) {
            guard let wanted else { return }
            guard let found = latency?.p99 else {
                return shortfalls.append("nothing was \(what), expected 99 % within \(wanted) ms")
            }
            if found > wanted { shortfalls.append("99 % were \(what) within \(found) ms, expected \(wanted) ms") }
        }
        check(acknowledging, demands.acknowledgedWithin, "acknowledged")
        check(delivering, demands.deliveredWithin, "delivered")
    }
}
