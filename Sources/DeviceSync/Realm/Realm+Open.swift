public import Dispatch
internal import Foundation
import SyncModel

extension Realm {
    /// An opening under way.
    public typealias AsyncOpenTask = DeviceSync.AsyncOpenTask

    /// What opening a realm waits for.
    @frozen public enum OpenBehavior: Sendable {
        /// Nothing.
        case never
        /// The server's changes, if there is no file yet, or if an opening that made it did not get them.
        case once
        /// The server's changes, every time.
        case always
    }

    /// Opens a realm for the calling actor, as asked after downloading what the server has; of a flexible realm, what its initial subscriptions
    /// select too. File work runs on a thread of its own.
    /// - Throws: `Realm.Error`, or the error that ended the session; `CancellationError`.
    public init(
        configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior = .never,
        _isolation: (any Actor)? = #isolation
    ) async throws {
        self = try await Self.opened(configuration, .here(_isolation), downloadBeforeOpen)
    }

    /// Opens a realm for an actor; see `init(configuration:downloadBeforeOpen:)`.
    public init<A: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: A, downloadBeforeOpen: OpenBehavior = .never
    ) async throws {
        self = try await Self.opened(configuration, Confinement(actor), downloadBeforeOpen)
    }

    /// Opens a realm for the calling actor; see `init(configuration:downloadBeforeOpen:)`.
    public static func open(
        configuration: Configuration = .defaultConfiguration, _isolation: isolated (any Actor)? = #isolation,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws -> Realm {
        try await opened(configuration, .here(_isolation), downloadBeforeOpen)
    }

    /// Opens a realm for a serial queue after downloading what the server has, then calls `callback` there.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
        callback: @Sendable @escaping (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let confinement = Confinement(callbackQueue)
        let progress = OpeningProgress()
        let task = callbackQueue.complete(callback) {
            try await opened(configuration, confinement, .always, progress)
        }
        return AsyncOpenTask(task: task, progress: progress)
    }

    private static func opened(
        _ configuration: Configuration, _ confinement: Confinement?, _ behavior: OpenBehavior,
        _ progress: OpeningProgress? = nil
    ) async throws -> Realm {
        try Task.checkCancellation()
        guard let sync = configuration.syncConfiguration, behavior != .never else {
            return Realm(instance: try await RealmOpener.open(configuration, confinement))
        }
        // A file without a user to download for would be of no use.
        let mayHaveData = behavior == .once && fileExists(for: configuration)
        guard mayHaveData || sync.user.isLoggedIn else { throw SyncError.userIsNotLoggedIn(sync.user.id) }
        if let instance = try await downloaded(configuration, confinement, sync, progress, ifNeeded: mayHaveData) {
            return Realm(instance: instance)
        }
        // The server kept the file for another schema version. All that was in it is uploaded, and it begins anew.
        try await SchemaChange.waitUntilClosed(configuration)
        if let instance = try await downloaded(configuration, confinement, sync, progress) {
            return Realm(instance: instance)
        }
        throw SyncError(.clientSessionError, "the server has changed the schema version of a new file")
    }

    /// - Parameter ifNeeded: a file that has had the server's data once is opened as it is, unless it has another schema version.
    /// - Returns: nil if the file has to be made anew, with the schema version of the configuration.
    private static func downloaded(
        _ configuration: Configuration, _ confinement: Confinement?, _ sync: SyncConfiguration,
        _ progress: OpeningProgress?, ifNeeded: Bool = false
    ) async throws -> RealmInstance? {
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

/// An opening under way.
public struct AsyncOpenTask: Sendable {
    let task: Task<Void, Never>
    let progress: OpeningProgress

    /// Calls `block` on a queue as the download gets on, until it is done.
    public func addProgressNotification(
        queue: DispatchQueue = .main, block: @escaping @Sendable (SyncSession.Progress) -> Void
    ) {
        progress.add { progress in queue.async { block(progress) } }
    }

    /// Stops waiting; the callback gets a `CancellationError`.
    public func cancel() { task.cancel() }
}
