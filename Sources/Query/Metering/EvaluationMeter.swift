import Synchronization

/// Counts what trying objects on queries and roles takes, and ends the trial of an object that takes too much.
///
/// Counted is work and not time: the same query takes the same number of steps on the same object everywhere and whenever. A step is as
/// long as one of merging (`MergeMeter`), about three nanoseconds. Whoever uses one meter on several threads at once only loses
/// count of some steps.
package final class EvaluationMeter: Sendable {
    /// The steps to look at one value of an object.
    package static let stepsPerTest = 8
    /// The steps for each element of a collection that is compared, or handed from one part of a query to another.
    static let stepsPerElement = 8
    /// The steps for each object on a query's way, embedded ones included, and for each list that a side of a comparison offers.
    static let stepsPerNode = 64
    /// Bytes that are compared, copied or hashed as a whole in one step.
    static let bytesPerStep = 16

    /// What went beyond the bounds.
    package enum Overrun: Hashable, Sendable {
        /// One object alone.
        case object
        /// All objects together.
        case all
    }

    private let objectLimit: Atomic<Int>
    private let wholeLimit: Atomic<Int>
    /// What the objects before the one in hand have taken.
    private let taken = Atomic(0)
    /// What is left for the object in hand; below 0, it has taken too much.
    private let left = Atomic(Int.max)
    private let spent = Atomic(0)
    private let reason = Mutex<String?>(nil)

    package init(perObject: Int = EvaluationLimits().stepsPerObject, limit: Int = .max) {
        objectLimit = Atomic(perObject)
        wholeLimit = Atomic(limit)
    }

    /// What one object may take, and all together.
    package var perObject: Int { objectLimit.load(ordering: .relaxed) }
    package var limit: Int { wholeLimit.load(ordering: .relaxed) }

    /// Begins anew, as if nothing had been tried.
    package func restart(perObject: Int, limit: Int) {
        objectLimit.store(perObject, ordering: .relaxed)
        wholeLimit.store(limit, ordering: .relaxed)
        taken.store(0, ordering: .relaxed)
        if overrun != nil { forgive() }
    }

    /// What all trials so far have taken.
    package var steps: Int { taken.load(ordering: .relaxed) }

    /// What some trial has gone beyond; nil if every trial came to its end.
    package var overrun: Overrun? {
        switch spent.load(ordering: .relaxed) {
        case 0: nil
        case 1: .object
        default: .all
        }
    }

    /// The text that says which part of what took too much, as the first trial that did not come to its end was told.
    package var explanation: String? { reason.withLock(\.self) }

    /// Forgets what went beyond the bounds, but not what was taken.
    package func forgive() {
        spent.store(0, ordering: .relaxed)
        reason.withLock { $0 = nil }
    }

    /// Tries one object.
    ///
    /// - Parameters:
    ///   - body: takes its steps from this meter; what it says does not count once they are used up.
    ///   - explain: says what takes so much; called once at most.
    /// - Returns: nil if the trial has not come to its end.
    package func trial(_ body: () -> Bool, explain: () -> String) -> Bool? {
        let before = taken.load(ordering: .relaxed)
        let allowed = min(perObject, limit - before)
        left.store(allowed, ordering: .relaxed)
        let result = allowed > 0 && body()
        let rest = left.load(ordering: .relaxed)
        taken.store(before &+ (allowed &- rest), ordering: .relaxed)
        if rest > 0 { return result }
        overran(allowed < perObject ? .all : .object, explain)
        return nil
    }

    private func overran(_ what: Overrun, _ explain: () -> String) {
        let isKnown = overrun != nil
        spent.store(what == .all || overrun == .all ? 2 : 1, ordering: .relaxed)
        guard !isKnown else { return }
        let text = explain()
        reason.withLock { $0 = text }
    }

    // MARK: Within a trial

    /// Whether the object in hand has taken too much: whoever goes over something long stops.
    package var isSpent: Bool { left.load(ordering: .relaxed) <= 0 }

    /// What the object in hand may still take.
    package var rest: Int { left.load(ordering: .relaxed) }

    package func take(_ steps: Int) {
        left.store(left.load(ordering: .relaxed) &- steps, ordering: .relaxed)
    }

    /// Takes for some bytes that are gone over as a whole.
    func take(bytes: Int) { take(bytes / Self.bytesPerStep) }

    /// Takes for the elements of a collection.
    ///
    /// - Returns: whether there is enough left to go on.
    func goOn(elements: Int) -> Bool {
        take(elements &* Self.stepsPerElement)
        return !isSpent
    }
}
