public import Dispatch
internal import Foundation
import SyncModel

extension Realm {
    /// An opening under way.
    public typealias AsyncOpenTask = DeviceSync.AsyncOpenTask

    /// The data that opening a realm waits for.
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
        let opening = DownloadedOpening(
            configuration: configuration, confinement: .here(_isolation), behavior: downloadBeforeOpen)
        self = try await opening.run()
    }

    /// Opens a realm for an actor; see `init(configuration:downloadBeforeOpen:)`.
    public init<A: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: A, downloadBeforeOpen: OpenBehavior = .never
    ) async throws {
        let opening = DownloadedOpening(
            configuration: configuration, confinement: Confinement(actor), behavior: downloadBeforeOpen)
        self = try await opening.run()
    }

    /// Opens a realm for the calling actor; see `init(configuration:downloadBeforeOpen:)`.
    public static func open(
        configuration: Configuration = .defaultConfiguration, _isolation: isolated (any Actor)? = #isolation,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws -> Realm {
        let opening = DownloadedOpening(
            configuration: configuration, confinement: .here(_isolation), behavior: downloadBeforeOpen)
        return try await opening.run()
    }

    /// Opens a realm for a serial queue after downloading what the server has, then calls `callback` there.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
        callback: @Sendable @escaping (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let progress = OpeningProgress()
        let opening = DownloadedOpening(
            configuration: configuration, confinement: Confinement(callbackQueue), behavior: .always,
            progress: progress)
        let task = callbackQueue.complete(callback) { try await opening.run() }
        return AsyncOpenTask(task: task, progress: progress)
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
