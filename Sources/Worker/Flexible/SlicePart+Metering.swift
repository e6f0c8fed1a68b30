import Query
import RealmState
import Storage
import SyncModel
import Views

extension SlicePart {
    /// Deals with what a message asks of a flexible realm's views, with a meter for all of it.
    ///
    /// - Parameter limit: in steps.
    func metering<Result>(
        _ context: RealmContext, limit: Int, _ body: (EvaluationMeter) async throws -> Result
    ) async throws -> Result {
        let meter = meter(context, limit: limit)
        context.flexible.meter = meter
        defer {
            context.flexible.meter = nil
            note(meter)
        }
        do {
            let result = try await body(meter)
            try waitIfDue(context)
            return result
        } catch {
            // Whatever was made of trials that did not come to their end does not count.
            try waitIfDue(context)
            throw error
        }
    }

    /// A meter for a part of what the message in hand asks of views.
    func meter(_ context: RealmContext, limit: Int) -> EvaluationMeter {
        EvaluationMeter(
            perObject: limits.evaluation.stepsPerObject, limit: limit, patience: context.flexible.patience)
    }

    /// Notes what was taken of the slice, which the realm and its app owe the others. What was taken beside it is noted as it is taken up.
    func note(_ meter: EvaluationMeter) { work.cost += UInt64(max(meter.steps - meter.answeredSteps, 0)) }

    /// Notes what is done beside the slice.
    func noteAside(_ steps: UInt64) {
        work.cost += steps
        work.costAside += steps
    }

    /// Makes sure that all trials so far have come to their end, before something is done on the strength of them that is not undone.
    ///
    /// - Throws: `LookPause` if trials have to be made elsewhere, or in the next batch.
    func waitIfDue(_ context: RealmContext) throws {
        guard let patience = context.flexible.patience, let wait = patience.wait else { return }
        let look: AsideLook? =
            switch wait {
            case .turn: nil
            case .trial(let trial, let perObject): .trial(trial, perObject: perObject)
            }
        throw LookPause(look: look, answers: patience.answers)
    }

    /// Makes sure that views are read before they are asked for, beside the slice if that takes long.
    ///
    /// - Parameter findsObjects: whether they are asked for the ways to their objects.
    /// - Throws: `LookPause`.
    func read(
        _ definitions: [ViewDefinition], of views: ClientViews, in context: RealmContext, findsObjects: Bool = false
    ) throws {
        guard let patience = context.flexible.patience else { return }
        let reading = context.flexible.views.reading(
            of: definitions, schema: context.state.schema, version: context.schemaVersion(of: views),
            findsObjects: findsObjects)
        let bytes = reading.bytes
        guard bytes.toRead + bytes.toFind > limits.evaluation.bytesReadInSlice else {
            // Reading is counted as it is done.
            work.cost += UInt64(bytes.toFind) * ViewCache.stepsToFindByte
            return
        }
        noteAside(
            UInt64(bytes.toRead) * ViewCache.stepsPerByte + UInt64(bytes.toFind) * ViewCache.stepsToFindByte)
        throw LookPause(look: .reading(reading), answers: patience.answers)
    }
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
