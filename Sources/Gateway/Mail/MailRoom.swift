import Foundation
import Logging
import ServiceLifecycle

/// A mail that somebody is to get, as the hook is told of it.
struct Mail: Encodable, Sendable {
    var app: String
    /// `confirm` or `reset`.
    var kind: String
    var email: String
    /// What proves that whoever reads the mail has it.
    var token: String
    var tokenId: String
    /// The app's URL with both.
    var link: String
    /// Milliseconds of Unix time.
    var expiresAt: UInt64
}

/// Hands mails over to the hook, a few at a time, and tries again. What asks for a mail does not wait for it: nobody may
/// learn from the time that an answer takes whether an account exists.
final class MailRoom: Service {
    static let waiting = 1_000
    private static let carriers = 4
    private static let tries = 3

    private let hook: (any MailHook)?
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let pauses: [Duration]
    private let mails: AsyncStream<Mail>
    private let post: AsyncStream<Mail>.Continuation

    init(
        hook: (any MailHook)?, pauses: [Duration] = [.seconds(1), .seconds(10)], metrics: GatewayMetrics, logger: Logger
    ) {
        self.hook = hook
        self.metrics = metrics
        self.logger = logger
        self.pauses = pauses
        (mails, post) = AsyncStream.makeStream(of: Mail.self, bufferingPolicy: .bufferingOldest(Self.waiting))
    }

    /// - Throws: `APIError`, 503, if there is nobody who sends mails.
    func checkOpen(for app: String) throws {
        guard hook == nil else { return }
        metrics.mail("refused")
        logger.error("an app wants mails sent, and this gateway has no mail hook", metadata: ["app": "\(app)"])
        throw APIError.noMail
    }

    /// - Throws: `APIError`, 503, if there is nobody who sends mails, or too many wait.
    func send(_ mail: Mail) throws {
        try checkOpen(for: mail.app)
        guard case .enqueued = post.yield(mail) else {
            metrics.mail("refused")
            throw APIError.noMail
        }
    }

    func run() async throws {
        guard let hook else { return try await gracefulShutdown() }
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                var carried = 0
                for await mail in mails {
                    if carried == Self.carriers {
                        await group.next()
                        carried -= 1
                    }
                    group.addTask { await self.carry(mail, hook) }
                    carried += 1
                }
            }
        } onGracefulShutdown: {
            self.post.finish()
        }
    }

    private func carry(_ mail: Mail, _ hook: any MailHook) async {
        guard let data = try? JSONEncoder().encode(mail) else { return }
        for attempt in 0..<Self.tries {
            do {
                try await hook.deliver(data)
                return metrics.mail("sent")
            } catch {
                let reason = (error as? GatewayError)?.message ?? "\(type(of: error))"
                logger.warning(
                    "a mail could not be handed over",
                    metadata: [
                        "app": "\(mail.app)", "kind": "\(mail.kind)", "error": "\(reason)",
                        "again": "\(attempt + 1 < Self.tries)",
                    ])
            }
            guard attempt < pauses.count, !Task.isShuttingDownGracefully else { continue }
            try? await Task.sleep(for: pauses[attempt])
        }
        metrics.mail("failed")
    }
}
