package import SyncModel

/// A realm is taken away, with all that is stored of it. Its clients must reset, onto an empty realm of the same name.
package struct EraseMessage: CodableMessage, Equatable {
    package static let type = "erase"
    package var messageVersion: Int64 { realm.isFlexible ? MessageVersion.flexible : 1 }
    package var realm: RealmName
    /// The campaign that accounts for the realm's clients; the message id if absent.
    package var campaign: String?
    package var reason: String?
    /// The user with whom the realm goes: nobody makes it anew in that user's name, and what the user has added is forgotten.
    package var user: String?

    package init(realm: RealmName, campaign: String?, reason: String?, user: String? = nil) {
        self.realm = realm
        self.campaign = campaign
        self.reason = reason
        self.user = user
    }
}

/// An app was deleted: everything that a slice has of it goes. The fan-out brings it to every slice queue.
package struct EraseAppMessage: CodableMessage, Equatable {
    package static let type = "erase-app"
    package var app: String

    package init(app: String) { self.app = app }
}
