import Synchronization

/// How long one message may hold up its slice by trying objects, and the answers of the trials that were made for the message before.
///
/// A trial that goes on for longer than the slice waits for one is broken off, to be made elsewhere. Where all trials together have taken too
/// long, the message waits for its next turn. In either case the message is begun anew later, and what it tries again is answered from memory.
package final class EvaluationPatience: Sendable {
    /// The trial that the message has to wait for.
    package enum Wait: Sendable {
        /// The slice's next turn.
        case turn
        /// A trial that is to be made elsewhere, of an object that may take so many steps.
        case trial(LongTrial, perObject: Int)
    }

    private struct State {
        var answers: TrialAnswers
        /// Taken by trials since the message was begun, and by those of them whose answers are remembered.
        var taken = 0
        var learnt = 0
        var wait: Wait?
    }

    private let limits: EvaluationLimits
    private let state: Mutex<State>

    /// - Parameter answers: what was found out for the message before.
    package init(_ limits: EvaluationLimits, answers: TrialAnswers = TrialAnswers()) {
        self.limits = limits
        state = Mutex(State(answers: answers))
    }

    var stepsPerTrial: Int { limits.stepsPerTrialInSlice }

    /// Nil if the message can go on. Else nothing that was made of its trials counts.
    package var wait: Wait? { state.withLock(\.wait) }

    /// The answers that are known by now.
    package var answers: TrialAnswers { state.withLock(\.answers) }

    /// What becomes of a trial.
    enum Course {
        /// May take so many steps here.
        case here(Int)
        case known(LongTrial.Answer)
        /// The message waits: what is asked does not matter any more.
        case waits
    }

    /// - Parameter allowed: the steps that the trial may take in the end.
    func course(of trial: () -> LongTrial, _ allowed: Int) -> Course {
        state.withLock { state in
            guard state.wait == nil else { return .waits }
            if let known = state.answers.known(trial) { return .known(known) }
            // Nothing would be gained by waiting if there is no room to remember what comes of it.
            guard state.answers.hasRoom(for: trial) else { return .here(allowed) }
            // A message is gone through once more in each of its turns: with turns that grow that is not many times what it takes.
            let turn = max(limits.stepsInSlice, state.answers.steps / 8)
            // Without enough that is remembered the message would come no further in its next turn.
            if state.taken > turn - limits.stepsPerTrialInSlice, state.learnt > turn / 2 {
                state.wait = .turn
                return .waits
            }
            return .here(min(allowed, limits.stepsPerTrialInSlice))
        }
    }

    /// Notes what a trial has taken that has come to its end.
    func note(_ holds: Bool, steps: Int, of trial: () -> LongTrial) {
        state.withLock { state in
            state.taken &+= steps
            guard steps >= limits.stepsRemembered else { return }
            let answer = LongTrial.Answer(holds: holds, steps: steps)
            if state.answers.add(answer, of: trial()) { state.learnt &+= steps }
        }
    }

    /// Has the message wait for a trial.
    func wait(for trial: LongTrial, perObject: Int) {
        state.withLock { $0.wait = .trial(trial, perObject: perObject) }
    }
}

/// The answers of trials that take long.
package struct TrialAnswers: Sendable {
    /// The bytes that the objects may take that are held, about.
    package static let maxBytes = 64 << 20
    private static let bytesPerAnswer = 400
    /// Answers whose subjects only a comparison of all of their values can tell apart, which takes as long as these are large.
    private static let mostAlike = 8

    private var answers: [LongTrial.Subject: LongTrial.Answer] = [:]
    /// How many answers have subjects with the same hash.
    private var alike: [Int: Int] = [:]
    /// What was learnt since the message was begun, which nothing has been asked of yet.
    private var new: [(subject: LongTrial.Subject, answer: LongTrial.Answer)] = []
    /// The bytes that are held, about.
    package private(set) var bytes = 0
    /// The bytes that there is room for.
    package var room = Self.maxBytes
    /// What the trials have taken whose answers may be asked for.
    private(set) var steps = 0

    package init() {}

    package var isEmpty: Bool { answers.isEmpty && new.isEmpty }

    /// Whether what comes of a trial would be remembered.
    func hasRoom(for trial: () -> LongTrial) -> Bool {
        guard bytes < room else { return false }
        return alike.isEmpty || alike[trial().subject.hashValue, default: 0] < Self.mostAlike
    }

    /// - Parameter trial: is asked for only if there is anything known.
    func known(_ trial: () -> LongTrial) -> LongTrial.Answer? { answers.isEmpty ? nil : answers[trial().subject] }

    /// Learns what a trial has come to. A message that asks twice before it is begun anew makes the trial twice.
    ///
    /// - Returns: false if there is no room.
    @discardableResult
    package mutating func add(_ answer: LongTrial.Answer, of trial: LongTrial) -> Bool {
        guard hasRoom(for: { trial }) else { return false }
        bytes += Self.bytesPerAnswer + trial.bytes
        alike[trial.subject.hashValue, default: 0] += 1
        new.append((trial.subject, answer))
        return true
    }

    /// Makes ready for the message to be begun anew.
    package mutating func settle() {
        for (subject, answer) in new {
            if answers.updateValue(answer, forKey: subject) == nil { steps &+= answer.steps }
        }
        new = []
    }
}
