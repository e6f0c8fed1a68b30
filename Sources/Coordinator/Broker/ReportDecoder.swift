import AMQP
import Messages
import Storage
import SyncModel

/// A message of the outcomes queue.
enum OutcomeQueueMessage: Sendable {
    case report(CampaignReport, type: String)
    /// How far a slice has come with a deleted app.
    case erased(SliceErasureProgress)
    /// The properties that clients in development mode have asked for subscriptions by.
    case queried(QueriedReport)
    /// A shell's report on what it has done with dead letters.
    case letters(LettersReport)
    /// A coordinator's own tick, which tells whom it reaches that it is active.
    case tick
    /// A report that only a newer version of Sluice can read, and how that shows.
    case newer(reason: String)
    /// Nothing that can be used, and why.
    case poison(reason: String)

    init(_ message: AMQPMessage) {
        do {
            let envelope = try Envelope(of: message)
            switch envelope.type {
            case FoundReport.type: self = .report(.found(try message.decode(FoundReport.self)), type: envelope.type)
            case NotifiedReport.type:
                self = .report(.notified(try message.decode(NotifiedReport.self)), type: envelope.type)
            case OutcomeReport.type:
                self = .report(.outcome(try message.decode(OutcomeReport.self)), type: envelope.type)
            case ErasedReport.type:
                let report = try message.decode(ErasedReport.self)
                self = .erased(
                    SliceErasureProgress(
                        app: report.app, slice: report.slice, erased: report.erased, left: report.left,
                        isDone: report.isDone))
            case QueriedReport.type: self = .queried(try message.decode(QueriedReport.self))
            case LettersReport.type: self = .letters(try message.decode(LettersReport.self))
            case TickMessage.type: self = .tick
            case let type:
                self = .poison(
                    reason:
                        "type \(type.prefix(64)): expected found, notified, outcome, erased, queried, letters or tick")
            }
        } catch {
            self = error.isNewer ? .newer(reason: "\(error)") : .poison(reason: "\(error)")
        }
    }
}
