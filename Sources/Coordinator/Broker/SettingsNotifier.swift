import Logging
import Messages
import Storage

/// Something that has changed and that others must be told of.
enum ChangeNotice: Hashable, Sendable {
    /// The settings of an app, to gateways.
    case settings(app: String)
    /// A user of an app, to the owners of all slices in order with the changesets, and to gateways; nil: all users.
    case user(app: String, id: String?)
    /// The rules of an app, to the owners of all slices in order with the changesets; gateways learn of them with the settings.
    case rules(app: String)

    var app: String {
        switch self {
        case .settings(let app), .user(let app, _), .rules(let app): app
        }
    }
}

/// Tells gateways and workers what changed. A notice that cannot be sent is kept, and sent with a later tick.
struct SettingsNotifier: Sendable {
    let context: CoordinatorContext

    /// The app's settings changed.
    func send(_ app: String) async { await send(.settings(app: app)) }

    /// The app's rules changed.
    func sendRules(of app: String) async {
        await send(.rules(app: app))
        await send(.settings(app: app))
    }

    func send(_ notice: ChangeNotice) async {
        context.state.owe(notice)
        do {
            try await publish(notice)
            context.state.settle(notice)
        } catch {
            context.logger.warning(
                "notice of a change not sent, will try again",
                metadata: ["app": "\(notice.app)", "notice": "\(notice)", "error": "\(error)"])
        }
    }

    func sendOwed() async {
        for notice in context.state.owedNotices { await send(notice) }
    }

    private func publish(_ notice: ChangeNotice) async throws {
        switch notice {
        case .settings(let app): try await publish(SettingsNotice(app: app))
        case .user(let app, let id):
            // Owners first: what a gateway lets in that does not hear of it is refused there.
            if let now = try await context.store.app(app) {
                try await context.link.publishToAllSlices(
                    RulesMessage(app: app, version: now.rulesVersion, usersVersion: now.usersVersion, user: id))
            }
            try await publish(SettingsNotice(app: app, user: id))
        case .rules(let app):
            // What is in force now: a notice that was owed may be of an older change.
            guard let version = try await context.store.app(app)?.rulesVersion else { return }
            try await context.link.publishToAllSlices(RulesMessage(app: app, version: version))
        }
    }

    private func publish(_ notice: SettingsNotice) async throws {
        try await context.link.tell(
            notice, exchange: context.topology.realms, routingKey: SettingsNotice.topicKey(app: notice.app))
    }
}
