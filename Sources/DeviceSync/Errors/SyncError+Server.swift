internal import Foundation
import SyncModel
internal import SyncProtocol

extension SyncError {
    /// - Parameter stopsSession: whether nothing is tried again here, whatever the server says of it.
    init(_ code: ErrorCode, _ body: JSONErrorBody, stopsSession: Bool = false) {
        let kind: SyncError.Code =
            switch (code, body.action.effective) {
            case (.permissionDenied, _): .permissionDeniedError
            case (.writeNotAllowed, .warning): .writeRejected
            case (.badQuery, _): .invalidFlexibleSyncSubscriptions
            case (_, .warning): .serverWarning
            case (_, .logOutUser): .clientUserError
            case (_, .protocolViolation): .clientInternalError
            case (_, .clientReset), (_, .clientResetNoRecovery): .clientResetError
            default: .clientSessionError
            }
        self.init(
            kind, body.message, name: code.entry?.name, logURL: body.logURL, wireCode: code.rawValue,
            isFatal: stopsSession || !body.tryAgain,
            compensatingWrites: body.rejectedUpdates.map { $0.map(CompensatingWriteInfo.init) })
    }

    /// The error of writes that the server undid.
    init(undoneWrites body: JSONErrorBody) {
        let writes = (body.rejectedUpdates ?? []).map(CompensatingWriteInfo.init)
        self.init(
            .writeRejected, body.message, logURL: body.logURL, wireCode: ErrorCode.compensatingWrite.rawValue,
            isFatal: false, compensatingWrites: writes)
    }
}

extension CompensatingWriteInfo {
    fileprivate init(_ update: RejectedUpdate) {
        self.init(
            objectType: update.table, reason: update.reason, key: update.primaryKey)
    }
}

extension AnyRealmValue {
    init(_ key: RejectedUpdate.PrimaryKey) {
        switch key {
        case .null: self = .none
        case .int(let value): self = .int(Int(value))
        case .string(let value): self = .string(value)
        case .objectId(let bytes):
            self = (try? ObjectId(string: HexBytes(bytes).hex)).map(AnyRealmValue.objectId) ?? .none
        case .uuid(let bytes):
            self =
                bytes.count == 16
                ? .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }) : .none
        }
    }
}
