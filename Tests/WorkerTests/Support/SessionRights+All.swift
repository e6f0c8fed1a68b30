import Messages
import SyncModel

extension SessionRights {
    /// The rights to read and write, by the rules of a new app.
    static let all = SessionRights(.readWrite, rulesVersion: 0)
    static let reading = SessionRights(.read, rulesVersion: 0)
}
