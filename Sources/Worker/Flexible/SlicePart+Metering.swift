import Query
import Storage
import SyncModel

extension SlicePart {
    /// Deals with what a message asks of a flexible realm's views, with a meter for all of it.
    ///
    /// - Parameter limit: in steps.
    func metering<Result>(
        _ context: RealmContext, limit: Int, _ body: (EvaluationMeter) async throws -> Result
    ) async throws -> Result {
        let meter = EvaluationMeter(perObject: limits.evaluation.stepsPerObject, limit: limit)
        context.flexible.meter = meter
        defer {
            context.flexible.meter = nil
            note(meter)
        }
        return try await body(meter)
    }

    /// Notes what was taken, which the realm and its app owe the others of the slice.
    func note(_ meter: EvaluationMeter) { work.steps += UInt64(max(meter.steps, 0)) }
}

extension EvaluationMeter {
    /// Why a client is refused what takes too much.
    var refusal: String {
        let what = explanation ?? "the subscriptions"
        return switch overrun {
        case .object, nil:
            "\(what), takes more than the \(perObject) steps that one object may take: ask for less, or for shorter texts and lists (docs/queries.md, \"What a subscription may take\")"
        case .all:
            "\(what), and what was looked at before, take more than the \(limit) steps that one request may take: ask for less (docs/queries.md, \"What a subscription may take\")"
        }
    }
}
