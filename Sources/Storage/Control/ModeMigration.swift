package import SyncModel

/// A move of an app from one sync mode to the other: its clients wait while the coordinator copies what its realms hold.
package struct ModeMigration: Codable, Sendable, Equatable {
    package enum Phase: String, Codable, Sendable, CaseIterable {
        /// Every process of the cluster comes to know that the app moves: nobody reads or writes its realms.
        case freezing
        /// What an earlier move has left in the realms of the new mode is erased.
        case clearing
        case copying
        /// Everything is copied; the slices name the client realms that must reset.
        case settling
        /// The app is in its new mode.
        case done
        /// The app has stayed as it was.
        case abandoned
    }

    /// Up to where a run has come, for the one that goes on after it.
    package struct Place: Codable, Sendable, Equatable {
        package var slice: SliceNumber
        package var realm: Int64

        package init(slice: SliceNumber, realm: Int64) {
            self.slice = slice
            self.realm = realm
        }
    }

    /// Also the id of the campaign that accounts for the client realms.
    package var id: String
    package var target: SyncMode
    /// The property that holds in the flexible realm which partition an object is of.
    package var field: String
    /// Whether the roles of the flexible app are made from its partition rules when it moves there.
    package var makesRoles: Bool
    package var phase: Phase
    /// Milliseconds of Unix time.
    package var startedAt: UInt64
    package var phaseAt: UInt64
    package var finishedAt: UInt64?
    /// The last realm that was copied.
    package var place: Place?
    /// What was copied so far.
    package var realms: Int
    package var objects: Int
    /// Why the app has stayed as it was.
    package var problem: String?

    package init(
        id: String, target: SyncMode, field: String, makesRoles: Bool, phase: Phase = .freezing, startedAt: UInt64
    ) {
        self.id = id
        self.target = target
        self.field = field
        self.makesRoles = makesRoles
        self.phase = phase
        self.startedAt = startedAt
        phaseAt = startedAt
        realms = 0
        objects = 0
    }

    /// Whether nobody but the coordinator may touch the app's realms.
    package var isUnderWay: Bool { phase != .done && phase != .abandoned }

    /// Whether a message that is known by `messageID` belongs to the move.
    package func isOwn(_ messageID: String?) -> Bool { messageID?.hasPrefix(id + ":") == true }

    package mutating func enter(_ phase: Phase, at now: UInt64) {
        self.phase = phase
        phaseAt = now
        place = nil
        if !isUnderWay { finishedAt = now }
    }
}

extension AppRecord {
    /// Whether the app moves from one sync mode to the other.
    package var isMoving: Bool { migration?.isUnderWay == true }
}
