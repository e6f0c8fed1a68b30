import AMQP
import Foundation
import HTTPTypes
import Logging
import Messages
import ServiceLifecycle
import SyncModel
import Synchronization

/// Has events written by the owners of their realms, and hears what became of them, through a queue of the coordinator's own.
final class EventAnswers: Sendable {
    private let link: BrokerLink
    private let logger: Logger
    private let inbox = Mutex<AnswerInbox?>(nil)

    /// How long an owner may take: longer than a slice takes to change hands.
    static let patience: Duration = .seconds(20)

    init(link: BrokerLink, logger: Logger) {
        self.link = link
        self.logger = logger
    }

    /// Keeps the queue open until the process stops.
    func run() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            do {
                try await cancelWhenGracefulShutdown { [self] in
                    let opened = try await AnswerInbox.open(on: link.consumer)
                    inbox.withLock { $0 = opened }
                    try await opened.run()
                }
            } catch {
                guard !Task.isCancelled && !Task.isShuttingDownGracefully else { break }
                logger.warning("listening to answers ended, starts again", metadata: ["error": "\(error)"])
            }
            inbox.withLock { $0 = nil }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(500)) }
        }
    }

    /// Publishes a write and waits until its realm's owner has dealt with it.
    ///
    /// - Parameter id: tells a repetition.
    /// - Throws: `AdminError`: `conflict` or the owner's reason if nothing was written, `unanswered` if that is not known.
    func write(_ message: WriteMessage, id: String) async throws -> WrittenAnswer {
        guard let inbox = inbox.withLock({ $0 }) else {
            throw CoordinatorError(.brokerUnavailable, "there is no connection to the broker yet")
        }
        let slice = message.realm.slice(of: link.slices)
        // An id of its own: two may wait for repetitions of one event.
        let correlation = UUID().uuidString.lowercased()
        let amqp = try AMQPMessage(message, id: id, correlationID: correlation, replyTo: inbox.queue)
        do {
            let answer = try await inbox.ask(correlation, within: Self.patience) { [link] in
                try await link.publish(
                    amqp, exchange: link.topology.slices, routingKey: String(slice.value), mandatory: true)
            }
            switch answer {
            case .written(let written): return written
            case .refused(let refusal): throw AdminError(refusal)
            }
        } catch let failure as AnswerInbox.Failure {
            let consumers = try? await link.inspect(link.topology.slice(slice)).consumerCount
            let why = consumers == 0 ? "no worker owns slice \(slice)" : "\(failure)"
            throw AdminError.unavailable(
                "unanswered",
                "whether the write to \(message.realm) is done is not known: \(why); sent again with the id \(id) it is done once"
            )
        }
    }
}

extension AdminError {
    /// An owner has not written an event.
    fileprivate init(_ refusal: WriteRefusedAnswer) {
        switch refusal.code {
        case "conflict": self = .conflict("conflict", refusal.reason)
        default:
            self = AdminError(status: .unprocessableContent, code: refusal.code, message: refusal.reason)
        }
        write = refusal.write
    }
}
