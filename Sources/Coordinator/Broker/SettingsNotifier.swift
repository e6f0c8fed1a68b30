import Logging
import Messages

/// Tells gateways and workers that an app's settings changed. A notice that cannot be sent is owed, and sent with a
/// later tick.
struct SettingsNotifier: Sendable {
    let link: BrokerLink
    let state: CoordinatorState
    let logger: Logger

    func send(_ app: String) async {
        state.owe(app)
        do {
            // Not mandatory: no gateway may serve the app at the moment.
            try await link.publish(
                SettingsNotice(app: app), exchange: link.topology.realms, routingKey: SettingsNotice.topicKey(app: app),
                mandatory: false, persistent: false)
            state.settle(app)
        } catch {
            logger.warning(
                "settings notice not sent, will try again", metadata: ["app": "\(app)", "error": "\(error)"])
        }
    }

    func sendOwed() async {
        for app in state.owedNotices.sorted() { await send(app) }
    }
}
