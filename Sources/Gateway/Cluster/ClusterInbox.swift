import AMQP
import Logging
import Messages
import Operations
import Storage
import SyncModel

/// Takes what the cluster sends to this gateway to the sessions that it concerns.
struct ClusterInbox: Sendable {
    let gateway: String
    let watch: AppWatch
    let requests: RequestTable
    let apps: AppDirectory
    let fans: FlexibleFans
    let recent: RecentVersions
    let keysChanged: @Sendable () -> Void
    let clock: GatewayClock
    let metrics: GatewayMetrics
    let logger: Logger
    private var sessions: SessionDirectory { watch.sessions }

    /// Dispatches a message, or logs and drops it if it cannot be read: no other process reads this queue.
    func receive(_ message: AMQPMessage) {
        do {
            try dispatch(message)
        } catch {
            metrics.undecodable()
            logger.error(
                "a message from the cluster cannot be read",
                metadata: ["type": "\(message.properties.type ?? "none")", "error": "\(error)"])
        }
    }

    private func dispatch(_ message: AMQPMessage) throws {
        switch message.properties.type {
        case BoundAnswer.type: answer(message, .bound(try message.decode(BoundAnswer.self)))
        case IdentifiedAnswer.type: answer(message, .identified(try message.decode(IdentifiedAnswer.self)))
        case ConfirmAnswer.type: answer(message, .confirm(try message.decode(ConfirmAnswer.self)))
        case PageAnswer.type:
            var page = try message.decode(PageAnswer.self)
            let schema = page.view?.schema
            page.view?.schema = nil
            answer(message, .page(page)) { request in
                if let schema { fans.learn(schema, of: RealmName(flexible: request.app)) }
            }
        case RefusedAnswer.type:
            let refusal = try message.decode(RefusedAnswer.self)
            let id = message.properties.correlationID
            if let id { _ = requests.take(id) }
            if apps.hear(
                rulesVersion: refusal.rulesVersion ?? 0, usersVersion: refusal.usersVersion ?? 0,
                of: refusal.realm.app)
            {
                watch.look(at: refusal.realm.app)
            }
            guard refusal.session.gateway == gateway else { return }
            sessions.deliver(.refused(refusal, isAnswer: id != nil), to: refusal.session.number)
        case IntegratedNotice.type:
            let notice = try message.decode(IntegratedNotice.self)
            logger.debug("owner tells of a commit", metadata: .about(notice.realm, notice.details))
            if notice.realm.isFlexible {
                for letters in fans.take(notice) {
                    for number in letters.sessions { sessions.deliver(letters.event, to: number) }
                }
                return
            }
            recent.hear(notice, at: clock.unixMilliseconds())
            sessions.deliver(.fanned(FannedNotice(notice)), toRealm: notice.realm)
        case ResetNotice.type:
            let notice = try message.decode(ResetNotice.self)
            logger.debug(
                "owner asks for resets",
                metadata: [
                    "app": "\(notice.app)", "realm": "\(notice.partition ?? "all")", "campaign": "\(notice.campaign)",
                    "client_file": "\(notice.clientFile ?? 0)", "generation": "\(notice.generation)",
                ])
            apps.forget(notice.app)
            sessions.deliver(.reset(notice), toApp: notice.app)
        case GenerationNotice.type:
            sessions.deliver(try message.decode(GenerationNotice.self))
        case SettingsNotice.type:
            let notice = try message.decode(SettingsNotice.self)
            apps.forget(notice.app)
            watch.look(at: notice.app, settings: notice.user == nil)
        case SigningKeysNotice.type:
            _ = try message.decode(SigningKeysNotice.self)
            keysChanged()
        case let other:
            throw MessageError(messageType: other ?? "untyped", reason: "not for a gateway")
        }
    }

    private func answer(
        _ message: AMQPMessage, _ event: SessionEvent, after prepare: (RequestTable.Request) -> Void = { _ in }
    ) {
        // Drop an answer that came after its deadline, or that an earlier process with this gateway's id asked for.
        guard let id = message.properties.correlationID, let request = requests.take(id) else { return }
        metrics.answered(afterMilliseconds: clock.unixMilliseconds() &- request.startedAt)
        prepare(request)
        sessions.deliver(event, to: request.session)
    }
}
