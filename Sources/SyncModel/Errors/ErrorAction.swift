/// The action that a JSON_ERROR tells the client to take; the only part of it that decides (docs/protocol.md, "Actions").
package enum ErrorAction: Hashable, Sendable {
    case transient
    case warning
    case applicationBug
    case protocolViolation
    case deleteRealm
    case clientReset
    case clientResetNoRecovery
    case migrateToFLX
    case revertToPBS
    case migrateSchema
    case refreshUser
    case refreshLocation
    case logOutUser
    /// A name from a newer server; clients treat it as `applicationBug`.
    case unknown(String)

    package static let known: [ErrorAction] = [
        .transient, .warning, .applicationBug, .protocolViolation, .deleteRealm, .clientReset,
        .clientResetNoRecovery, .migrateToFLX, .revertToPBS, .migrateSchema, .refreshUser, .refreshLocation,
        .logOutUser,
    ]

    package init(wireName: String) {
        self = Self.known.first { $0.wireName == wireName } ?? .unknown(wireName)
    }

    package var wireName: String {
        switch self {
        case .transient: "Transient"
        case .warning: "Warning"
        case .applicationBug: "ApplicationBug"
        case .protocolViolation: "ProtocolViolation"
        case .deleteRealm: "DeleteRealm"
        case .clientReset: "ClientReset"
        case .clientResetNoRecovery: "ClientResetNoRecovery"
        case .migrateToFLX: "MigrateToFLX"
        case .revertToPBS: "RevertToPBS"
        case .migrateSchema: "MigrateSchema"
        case .refreshUser: "RefreshUser"
        case .refreshLocation: "RefreshLocation"
        case .logOutUser: "LogOutUser"
        case .unknown(let name): name
        }
    }

    /// The action that a client takes: this one itself, or `applicationBug` in place of one that it does not know.
    package var effective: ErrorAction {
        if case .unknown = self { .applicationBug } else { self }
    }

    package var isClientReset: Bool { self == .clientReset || self == .clientResetNoRecovery }
}

extension ErrorAction: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(wireName: try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wireName)
    }
}
