import Logging
import Messages
import Storage

/// Hears that an app's rules have changed: what comes after it in the slice's queue is judged by the new ones.
struct NewRules: SlicePart {
    let work: SliceWork

    func take(_ message: RulesMessage) async throws {
        // The control store had them first, and says which are the newest.
        guard let app = try await work.latestSettings(of: message.app) else { return }
        logger.info(
            "rules have changed",
            metadata: ["app": "\(app.id)", "version": "\(app.rulesVersion)", "announced": "\(message.version)"])
    }
}
