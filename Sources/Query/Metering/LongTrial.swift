package import Changesets
package import RealmState

/// A trial of an object that may be made elsewhere: what is tried, and how.
package struct LongTrial: Sendable {
    /// Tells a trial from others. Equal ones take the same steps and come to the same end.
    package struct Subject: Hashable, Sendable {
        /// Larger values count by their size alone: hashing them would take longer than comparing the few that there are.
        private static let largeValue = 64 << 10

        package var className: ByteString
        /// The query's text, and the roles'.
        package var query: ByteString
        package var roles: String
        /// The version of the schema that the query is of, and the state of the realm's schema.
        package var version: UInt64?
        package var schema: Int
        /// The hash of query and roles, which whoever asks again has at hand: the texts may be long.
        package var viewHash: Int
        package var key: ObjectKey
        package var object: StoredObject

        package init(
            className: ByteString, query: ByteString, roles: String, version: UInt64?, schema: Int,
            viewHash: Int, key: ObjectKey, object: StoredObject
        ) {
            self.className = className
            self.query = query
            self.roles = roles
            self.version = version
            self.schema = schema
            self.viewHash = viewHash
            self.key = key
            self.object = object
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(viewHash)
            hasher.combine(key)
            for entry in object.entries {
                hasher.combine(entry.column)
                if case .string(let text) = entry.value, text.count > Self.largeValue {
                    hasher.combine(text.count)
                } else {
                    hasher.combine(entry.value)
                }
            }
        }
    }

    /// The answer of a trial.
    package struct Answer: Sendable {
        /// Counts for nothing if the steps are more than one object may take.
        package var holds: Bool
        package var steps: Int
        /// The part that takes so much, if that was more than one object may take.
        package var explanation: String?
    }

    package let subject: Subject
    /// What the object takes in memory, about.
    let bytes: Int
    private let body: @Sendable (EvaluationMeter) -> Bool
    private let explain: @Sendable (EvaluationMeter) -> String

    /// - Parameters:
    ///   - bytes: what the object takes in memory, about.
    ///   - body: tries the object, and takes its steps from the meter.
    ///   - explain: says what takes so much.
    package init(
        _ subject: Subject, bytes: Int, _ body: @escaping @Sendable (EvaluationMeter) -> Bool,
        explain: @escaping @Sendable (EvaluationMeter) -> String
    ) {
        self.subject = subject
        self.bytes = bytes
        self.body = body
        self.explain = explain
    }

    /// Makes the trial.
    ///
    /// - Parameter perObject: the steps that it may take.
    package func made(perObject: Int) -> Answer {
        let meter = EvaluationMeter(perObject: perObject)
        let holds = meter.trial({ body(meter) }, explain: { explain(meter) })
        return Answer(holds: holds ?? false, steps: meter.steps, explanation: meter.explanation)
    }
}
