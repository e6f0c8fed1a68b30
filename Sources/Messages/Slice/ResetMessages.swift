package import SyncModel

/// Terminates an app's sync: every client realm of the app must reset. The fan-out brings it to every slice queue.
///
/// Published by the coordinator, or from a shell with just the app: the message id then names the campaign and each
/// slice starts its next generation.
package struct TerminationMessage: CodableMessage, Equatable {
    package static let type = "termination"
    package var app: String
    /// The campaign that accounts for it; the message id if absent.
    package var campaign: String?
    /// The sync generation that begins; the slice's next one if absent. One that is not newer changes nothing.
    package var generation: UInt64?
    package var reason: String?

    package init(app: String, campaign: String?, generation: UInt64?, reason: String?) {
        self.app = app
        self.campaign = campaign
        self.generation = generation
        self.reason = reason
    }
}

/// Lets clients reset whose slice has stopped asking them to, because they were so many: an operator has looked.
package struct AllowResetsMessage: CodableMessage, Equatable {
    package static let type = "allow-resets"
    /// Seconds.
    package static let longest: UInt64 = 86_400
    /// All apps whose resets the slice holds, if absent.
    package var app: String?
    /// How long the app's clients may reset, however many they are.
    package var seconds: UInt64

    package init(app: String?, seconds: UInt64) {
        self.app = app
        self.seconds = seconds
    }
}

/// One client realm (or, without `clientFile`, every client realm of one realm) must reset.
package struct ResetMessage: CodableMessage, Equatable {
    package static let type = "reset"
    package var messageVersion: Int64 { realm.isFlexible ? MessageVersion.flexible : 1 }
    package var realm: RealmName
    package var clientFile: FileIdent?
    package var campaign: String?
    package var reason: String?
    /// Whether a gateway says that the client realm has to reset without anybody having asked for it: then its app's
    /// account has it.
    package var isUnasked: Bool?
    /// Whether the realm is, before the reset, rid of what stock clients cannot apply, and given a base without it;
    /// true from an operator only.
    package var mends: Bool?

    package init(
        realm: RealmName, clientFile: FileIdent?, campaign: String?, reason: String?, isUnasked: Bool? = nil,
        mends: Bool? = nil
    ) {
        self.realm = realm
        self.clientFile = clientFile
        self.campaign = campaign
        self.reason = reason
        self.isUnasked = isUnasked
        self.mends = mends
    }
}
