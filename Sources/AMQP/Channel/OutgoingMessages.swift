import DequeModule
import Loops

/// The messages that are published on one channel: those that wait to be written, and those that were written and await
/// their confirm. Touches neither socket nor clock.
struct OutgoingMessages {
    private var waiting: Deque<PendingPublish> = []
    private var ledger = ConfirmLedger<PendingPublish>()

    /// Whether a message waits to be written.
    var hasWaiting: Bool { !waiting.isEmpty }

    /// How many written messages await their confirm.
    var unconfirmedCount: Int { ledger.count }

    mutating func add(_ publishes: some Sequence<PendingPublish>) { waiting.append(contentsOf: publishes) }

    /// Takes the oldest message that waits, to be written.
    mutating func takeNext() -> PendingPublish? { waiting.popFirst() }

    /// Records that a message was written to a channel with confirms.
    mutating func awaitConfirm(of publish: PendingPublish) { ledger.append(publish) }

    /// Resolves the messages that a confirm of the broker covers; `refused` when the broker did not take them.
    ///
    /// - Returns: how many messages the confirm covers.
    /// - Throws: `protocolError` for a number that was never published.
    mutating func confirm(_ tag: UInt64, multiple: Bool, refused: Bool) throws(AMQPError) -> Int {
        guard let covered = ledger.confirm(tag, multiple: multiple) else {
            throw AMQPError(.protocolError, "expected the confirm of something published, not of number \(tag)")
        }
        for publish in covered {
            publish.resolve(
                refused
                    ? AMQPError(.nacked, "the broker refused the message, as a full queue does") : publish.returned)
        }
        return covered.count
    }

    /// Marks a mandatory message as returned. Only its confirm, which follows, resolves it: confirms come in order.
    ///
    /// - Returns: whether a message with this id awaits its confirm.
    func markReturned(id: String?, exchange: String, _ error: AMQPError) -> Bool {
        let match = ledger.open.first {
            $0.returned == nil && $0.returnID != nil && $0.returnID == id && $0.exchange == exchange
        }
        match?.returned = error
        return match != nil
    }

    /// Fails the messages whose confirm cannot come any more. A returned message fails as unroutable.
    mutating func failUnconfirmed(_ error: (PendingPublish) -> AMQPError) {
        for publish in ledger.reset() { publish.resolve(publish.returned ?? error(publish)) }
    }

    /// Fails every message, because the channel ends.
    mutating func failAll(_ error: AMQPError) {
        for publish in waiting { publish.resolve(error) }
        waiting = []
        failUnconfirmed { _ in error }
    }

    /// Fails the messages whose deadline has passed.
    ///
    /// - Parameter blocked: the error for a broker that takes no publishes; nil when it takes them.
    /// - Returns: whether a message with a deadline is left.
    mutating func expire(_ now: Monotonic, blocked: AMQPError?) -> Bool {
        var left = false
        func isLate(_ publish: PendingPublish, _ message: String) -> Bool {
            guard publish.deadline <= now else {
                left = left || publish.deadline < .never
                return false
            }
            publish.resolve(blocked ?? AMQPError(.timeout, message))
            return true
        }
        waiting.removeAll { isLate($0, "the message could not be written in time") }
        // An unconfirmed message stays in the ledger: its confirm still counts.
        for publish in ledger.open where !publish.isResolved {
            _ = isLate(publish, "the broker did not confirm the message in time")
        }
        return left
    }
}
