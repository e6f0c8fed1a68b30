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

    /// The bound that was passed.
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
    private let answered = Atomic(0)
    /// How long a slice waits for the trials; nil: as long as they take.
    private let patience: EvaluationPatience?

    package init(
        perObject: Int = EvaluationLimits().stepsPerObject, limit: Int = .max, patience: EvaluationPatience? = nil
    ) {
        objectLimit = Atomic(perObject)
        wholeLimit = Atomic(limit)
        self.patience = patience
    }

    /// The steps that one object may take, and all together.
    package var perObject: Int { objectLimit.load(ordering: .relaxed) }
    package var limit: Int { wholeLimit.load(ordering: .relaxed) }

    /// Begins anew, as if nothing had been tried.
    package func restart(perObject: Int, limit: Int) {
        objectLimit.store(perObject, ordering: .relaxed)
        wholeLimit.store(limit, ordering: .relaxed)
        taken.store(0, ordering: .relaxed)
        if overrun != nil { forgive() }
    }

    /// The steps that all trials so far have taken.
    package var steps: Int { taken.load(ordering: .relaxed) }

    /// The part of that which trials have taken whose answers were known.
    package var answeredSteps: Int { answered.load(ordering: .relaxed) }

    /// The steps that an explanation of a trial may take that is made here.
    package var explanationSteps: Int { min(perObject, patience?.stepsPerTrial ?? .max) }

    /// The bound that some trial has passed; nil if every trial came to its end.
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

    /// Tries one object, however long that takes.
    ///
    /// - Parameters:
    ///   - body: takes its steps from this meter; what it says does not count once they are used up.
    ///   - explain: says what takes so much; called once at most.
    /// - Returns: nil if the trial has not come to its end.
    package func trial(_ body: () -> Bool, explain: () -> String) -> Bool? {
        let before = taken.load(ordering: .relaxed)
        let allowed = min(perObject, limit - before)
        let (holds, steps) = made(body, allowed)
        return settle(holds, steps, of: allowed, after: before, explain)
    }

    /// Tries one object, for as long as the slice waits.
    ///
    /// - Parameter elsewhere: the same trial, to be made elsewhere.
    /// - Returns: nil also if the message has to wait, whose patience says so.
    package func trial(_ body: () -> Bool, explain: () -> String, elsewhere: () -> LongTrial) -> Bool? {
        guard let patience else { return trial(body, explain: explain) }
        let before = taken.load(ordering: .relaxed)
        let allowed = min(perObject, limit - before)
        switch patience.course(of: elsewhere, allowed) {
        case .waits: return nil
        case .known(let answer):
            answered.store(answeredSteps &+ max(min(answer.steps, allowed), 0), ordering: .relaxed)
            return settle(answer.holds, answer.steps, of: allowed, after: before) { answer.explanation ?? explain() }
        case .here(let here):
            let (holds, steps) = made(body, here)
            if steps >= here, here < allowed {
                // In vain, and taken all the same.
                taken.store(before &+ steps, ordering: .relaxed)
                patience.wait(for: elsewhere(), perObject: perObject)
                return nil
            }
            if steps < allowed { patience.note(holds, steps: steps, of: elsewhere) }
            return settle(holds, steps, of: allowed, after: before, explain)
        }
    }

    /// Makes a trial.
    ///
    /// - Returns: what it says, and its steps; the former does not count if the latter reach what was allowed.
    private func made(_ body: () -> Bool, _ allowed: Int) -> (holds: Bool, steps: Int) {
        left.store(allowed, ordering: .relaxed)
        let holds = allowed > 0 && body()
        return (holds, allowed &- left.load(ordering: .relaxed))
    }

    private func settle(
        _ holds: Bool, _ steps: Int, of allowed: Int, after before: Int, _ explain: () -> String
    ) -> Bool? {
        taken.store(before &+ steps, ordering: .relaxed)
        if steps < allowed { return holds }
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

    /// The steps that the object in hand may still take.
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
