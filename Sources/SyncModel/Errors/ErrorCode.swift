/// A number of the protocol's error table. Open: a client tolerates session codes that it does not know.
package struct ErrorCode: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package init(_ rawValue: Int) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// `number name`, or the number alone.
    package var description: String { entry.map { "\(rawValue) \($0.name)" } ?? String(rawValue) }

    /// The table's row, nil for an unknown number.
    package var entry: ErrorCodeEntry? { ErrorCodeTable.entry(for: self) }

    /// The numbers decide the scope, known or not: 100 to 199 speak of the connection, 200 to 299 of a session.
    package var scope: ErrorScope? {
        switch rawValue {
        case 100...199: .connection
        case 200...299: .session
        default: nil
        }
    }

    /// Sending this code terminates the process of a stock client (marked † in docs/protocol.md, "Error codes").
    package var abortsStockClient: Bool { entry?.abortsStockClient ?? false }
}

/// The sessions that an error concerns: every session of the connection, or one.
package enum ErrorScope: String, Codable, Sendable {
    case connection
    case session
}

extension ErrorCode {
    package static let connectionClosed = ErrorCode(100)
    package static let otherError = ErrorCode(101)
    package static let unknownMessage = ErrorCode(102)
    package static let badSyntax = ErrorCode(103)
    package static let limitsExceeded = ErrorCode(104)
    package static let wrongProtocolVersion = ErrorCode(105)
    package static let badSessionIdent = ErrorCode(106)
    package static let reuseOfSessionIdent = ErrorCode(107)
    package static let boundInOtherSession = ErrorCode(108)
    package static let badMessageOrder = ErrorCode(109)
    package static let badDecompression = ErrorCode(110)
    package static let badChangesetHeaderSyntax = ErrorCode(111)
    package static let badChangesetSize = ErrorCode(112)
    package static let switchToFLXSync = ErrorCode(113)
    package static let switchToPBS = ErrorCode(114)

    package static let sessionClosed = ErrorCode(200)
    package static let otherSessionError = ErrorCode(201)
    package static let tokenExpired = ErrorCode(202)
    package static let badAuthentication = ErrorCode(203)
    package static let illegalRealmPath = ErrorCode(204)
    package static let noSuchRealm = ErrorCode(205)
    package static let permissionDenied = ErrorCode(206)
    package static let badServerFileIdent = ErrorCode(207)
    package static let badClientFileIdent = ErrorCode(208)
    package static let badServerVersion = ErrorCode(209)
    package static let badClientVersion = ErrorCode(210)
    package static let divergingHistories = ErrorCode(211)
    package static let badChangeset = ErrorCode(212)
    package static let partialSyncDisabled = ErrorCode(214)
    package static let unsupportedSessionFeature = ErrorCode(215)
    package static let badOriginFileIdent = ErrorCode(216)
    package static let badClientFile = ErrorCode(217)
    package static let serverFileDeleted = ErrorCode(218)
    package static let clientFileBlacklisted = ErrorCode(219)
    package static let userBlacklisted = ErrorCode(220)
    package static let transactBeforeUpload = ErrorCode(221)
    package static let clientFileExpired = ErrorCode(222)
    package static let userMismatch = ErrorCode(223)
    package static let tooManySessions = ErrorCode(224)
    package static let invalidSchemaChange = ErrorCode(225)
    package static let badQuery = ErrorCode(226)
    package static let objectAlreadyExists = ErrorCode(227)
    package static let serverPermissionsChanged = ErrorCode(228)
    package static let initialSyncNotCompleted = ErrorCode(229)
    package static let writeNotAllowed = ErrorCode(230)
    package static let compensatingWrite = ErrorCode(231)
    package static let migrateToFLX = ErrorCode(232)
    package static let badProgress = ErrorCode(233)
    package static let revertToPBS = ErrorCode(234)
    package static let badSchemaVersion = ErrorCode(235)
    package static let schemaVersionChanged = ErrorCode(236)
}
