import Logging
import Messages

/// Tells gateways and workers that an app's settings changed. A notice that cannot be sent is kept, and sent with a
/// later tick.
struct SettingsNotifier: Sendable {
    let context: CoordinatorContext

    func send(_ app: String) async {
        context.state.owe(app)
        do {
            // Not mandatory: no gateway may serve the app at the moment.
            try await context.link.publish(
                SettingsNotice(app: app), exchange: context.topology.realms,
                routingKey: SettingsNotice.topicKey(app: app),
                mandatory: false, persistent: false)
            context.state.settle(app)
        } catch {
            context.logger.warning(
                "settings notice not sent, will try again", metadata: ["app": "\(app)", "error": "\(error)"])
        }
    }

    func sendOwed() async {
        for app in context.state.owedNotices.sorted() { await send(app) }
    }
}
