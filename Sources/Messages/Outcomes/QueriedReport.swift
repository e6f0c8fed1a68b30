package import SyncModel

/// Properties that a client of an app in development mode has asked for a subscription by, and that the app's rules do not name as queryable: to the
/// outcomes queue.
package struct QueriedReport: CodableMessage, Equatable {
    package static let type = "queried"
    package var app: String
    /// The names of the properties, by class.
    package var fields: [String: [String]]
    /// The user whose client asked, for the audit log.
    package var user: String
    package var clientFile: FileIdent

    package init(app: String, fields: [String: [String]], user: String, clientFile: FileIdent) {
        self.app = app
        self.fields = fields
        self.user = user
        self.clientFile = clientFile
    }

    package var messageVersion: Int64 { MessageVersion.queried }
}
