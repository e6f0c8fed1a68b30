import SyncModel
internal import SyncProtocol

/// The server keeps a realm's file for another schema version: what is not uploaded is to be, then the file begins anew.
struct SchemaVersionChange {
    /// What the app hears of it; nil while the versions are the same.
    private(set) var error: SyncError?
    /// That schema version, once there was one: a fresh copy, after a reset, is to be of it.
    private(set) var copiedVersion: UInt64?

    var isDemanded: Bool { error != nil }

    /// Syncing starts from what the file says.
    mutating func started() { error = nil }

    mutating func demanded(_ code: ErrorCode, _ body: JSONErrorBody) {
        error = SyncError(code, body, stopsSession: true)
        copiedVersion = body.previousSchemaVersion
    }
}
