import Changesets
import Documents
import Query
import Synchronization

/// What one search may take, and has taken: of one realm, or of several one after the other.
package final class SearchBudget: Sendable {
    package let limits: SearchLimits
    let meter: EvaluationMeter
    private let deadline: ContinuousClock.Instant
    private let examined = Atomic(0)
    private let wholeClass = Atomic(false)

    package init(_ limits: SearchLimits = SearchLimits()) {
        self.limits = limits
        meter = EvaluationMeter(limit: limits.steps)
        deadline = .now + limits.patience
    }

    /// - Throws: `limit` once the search's time is over; `CancellationError` where nobody waits for it any more.
    package func requireTime() throws {
        try Task.checkCancellation()
        guard ContinuousClock.now < deadline else {
            throw DocumentError(
                .limit, "the search takes longer than \(limits.patience): ask for less, or by what has an index")
        }
    }

    /// - Throws: `limit` once trying objects has taken too much: then no answer of a query counts any more.
    func requireSteps() throws(DocumentError) {
        guard meter.overrun == nil else {
            throw DocumentError(
                .limit, "the queries take too long: \(meter.explanation ?? "there is too much to look at")")
        }
    }

    /// How many objects were looked at.
    package var objects: Int { examined.load(ordering: .relaxed) }
    /// Whether a class was looked through from its beginning, for want of a key or an index.
    package var looksThroughClass: Bool { wholeClass.load(ordering: .relaxed) }

    func lookThroughClass() { wholeClass.store(true, ordering: .relaxed) }

    /// Counts objects that were looked at.
    ///
    /// - Throws: `limit` if those are too many.
    func looked(at objects: Int, of className: ByteString) throws(DocumentError) {
        guard examined.add(objects, ordering: .relaxed).newValue <= limits.examined else {
            throw DocumentError(
                .limit, "expected at most \(limits.examined) objects of \(className) to look through")
        }
    }
}
