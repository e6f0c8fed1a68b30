internal import Foundation
import SyncModel

/// One opening of a realm that may wait for the server's data.
struct DownloadedOpening: Sendable {
    let configuration: Realm.Configuration
    let confinement: Confinement?
    let behavior: Realm.OpenBehavior
    var progress: OpeningProgress?

    /// Opens the realm as asked: after downloading what the server has, and what the initial subscriptions of a flexible realm select.
    /// - Throws: `Realm.Error`, or the error that ended the session; `CancellationError`.
    func run() async throws -> Realm {
        try Task.checkCancellation()
        guard let sync = configuration.syncConfiguration, behavior != .never else {
            return Realm(instance: try await RealmOpener.open(configuration, confinement))
        }
        // A file without a user to download for would be of no use.
        let mayHaveData = behavior == .once && Realm.fileExists(for: configuration)
        guard mayHaveData || sync.user.isLoggedIn else { throw SyncError.userIsNotLoggedIn(sync.user.id) }
        if let instance = try await downloaded(sync, ifNeeded: mayHaveData) { return Realm(instance: instance) }
        // The server kept the file for another schema version. All that was in it is uploaded, and it begins anew.
        try await SchemaChange.waitUntilClosed(configuration)
        if let instance = try await downloaded(sync) { return Realm(instance: instance) }
        throw SyncError(.clientSessionError, "the server has changed the schema version of a new file")
    }

    /// - Parameter ifNeeded: a file that has had the server's data once is opened as it is, unless it has another schema version.
    /// - Returns: nil if the file has to be made anew, with the schema version of the configuration.
    private func downloaded(_ sync: SyncConfiguration, ifNeeded: Bool = false) async throws -> RealmInstance? {
        let instance = try await RealmOpener.open(configuration, confinement, downloadsFirst: true)
        if ifNeeded, !instance.core.sync.needsFirstDownload,
            try !RealmOpener.isOfOtherSchema(instance.core, configuration)
        {
            try await FileQueue.run { try RealmOpener.declareSchema(for: instance) }
            instance.session?.resume()
            return instance
        }
        progress?.begin(instance.session)
        do {
            try await instance.session?.wait(
                for: .download, failingOnConnectionErrors: sync.cancelAsyncOpenOnNonFatalErrors, resuming: true)
        } catch let error as SyncError where error.wireCode == ErrorCode.schemaVersionChanged.rawValue {
            return nil
        }
        // Only after the download: this client must not upload what the server's copy has already.
        try await FileQueue.run { try RealmOpener.declareSchema(for: instance) }
        if sync.initialSubscriptions != nil {
            try await instance.wait(
                for: instance.core.subscriptions.latest.version,
                failsOnConnectionErrors: sync.cancelAsyncOpenOnNonFatalErrors)
        }
        return instance
    }
}
