import Logging
import Messages
import Storage

/// Hears that an app's rules, its users or its sync mode change: what comes after it in the slice's queue is judged by the new ones.
struct NewRules: SlicePart {
    let work: SliceWork

    /// - Parameter id: of the message. Who moves the app waits until the slice's store has it: then nothing that was let in before the app
    ///   began to move is still on its way to the store.
    func take(_ message: RulesMessage, id: String?) async throws {
        if let version = message.usersVersion {
            return work.memory.users.hear(version, of: message.app, user: message.user)
        }
        // The control store had them first, and says which are the newest.
        guard let app = try await work.latestSettings(of: message.app) else { return }
        logger.info(
            "rules have changed",
            metadata: ["app": "\(app.id)", "version": "\(app.rulesVersion)", "announced": "\(message.version)"])
        if let id, app.isMoving, app.migration?.isOwn(id) == true { work.stage { $0.seenMessages.append(id) } }
    }
}
