internal import Foundation
internal import SyncProtocol

/// A write of a synced realm whose changes are more than a server takes at once.
struct OversizedWrite: Error, Equatable {
    /// The bytes of the write's changeset, or of the upload that consisted mostly of the write.
    var bytes: Int

    /// Checks that a changeset of so many bytes can be uploaded.
    static func check(_ bytes: Int, fileURL: URL?) throws(Realm.Error) {
        guard bytes > ProtocolLimits.maxUploadedBytes else { return }
        throw Realm.Error(
            .invalidInput,
            "the write has \(bytes) bytes of changes, and a synced realm can upload at most \(ProtocolLimits.maxUploadedBytes) at once: nothing"
                + " of it was stored; divide it into several writes", fileURL: fileURL)
    }

    /// Why a realm does not sync any more that has such a write, of a release that stored it, or with a server that takes less.
    var syncError: SyncError {
        SyncError(
            .clientSessionError,
            "a write of \(bytes) bytes is more than the server takes at once. It stays on this device, and so does what was written after it. To"
                + " sync again, copy what is needed out of the realm, delete its local files (Realm.deleteFiles(for:)), open it again, and"
                + " write that in writes of less than \(ProtocolLimits.maxUploadedBytes) bytes", name: "LimitExceeded")
    }
}
