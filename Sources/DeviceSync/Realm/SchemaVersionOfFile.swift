public import Foundation

/// The schema version of a local realm's file, which is not changed; 0 for one without a version.
/// - Throws: `Realm.Error` with code `fileNotFound` if there is no file, and others if it cannot be read.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    try RealmOpener.schemaVersion(
        of: Realm.Configuration(fileURL: fileURL, encryptionKey: encryptionKey, readOnly: true, objectTypes: []))
}
