internal import Dispatch
internal import Foundation

extension SyncSession {
    /// How long progress is reported.
    @frozen public enum ProgressMode: Sendable {
        /// Reports until the token is invalidated; the estimate falls when new work appears.
        case reportIndefinitely
        /// Reports until the work that was known at the call is done.
        case forCurrentlyOutstandingWork
    }

    /// How far a direction is.
    public struct Progress: Sendable, Equatable {
        /// The part that is done, from 0 to 1.
        public let progressEstimate: Double
        /// Whether there is nothing left to do.
        public var isTransferComplete: Bool { progressEstimate >= 1 }

        let transferred: Int
        let transferrable: Int

        /// The bytes of changes that are done.
        @available(*, deprecated, message: "Use progressEstimate")
        public var transferredBytes: Int { transferred }
        /// The bytes of changes that are done or known to be left.
        @available(*, deprecated, message: "Use progressEstimate")
        public var transferrableBytes: Int { transferrable }
        /// The share of the bytes that is done.
        @available(*, deprecated, message: "Use progressEstimate")
        public var fractionTransferred: Double { progressEstimate }
    }

    /// Keeps a progress notification alive.
    public typealias ProgressNotificationToken = NotificationToken

    /// Calls `block` as a direction gets on, at once for the first time, on a serial queue of the SDK. Uploads are
    /// measured, downloads go by what the server says is left.
    /// - Returns: a token to keep for as long as `block` is to be called; nil if the session is dead.
    public func addProgressNotification(
        for direction: ProgressDirection, mode: ProgressMode, block: @Sendable @escaping (Progress) -> Void
    ) -> ProgressNotificationToken? {
        guard state != .invalid else { return nil }
        let id = UUID()
        let observer = ProgressObserver(id: id, direction: direction, mode: mode) { progress in
            Self.progressQueue.async { block(progress) }
        }
        connection.perform(for: self) { $0.add(observer, on: $1) }
        return NotificationToken { [weak self] in
            guard let self else { return }
            connection.perform(for: self) { realm, _ in realm.removeObserver(id) }
        }
    }

    private static let progressQueue = DispatchQueue(label: "DeviceSync.progress")

    /// The same as a stream, which ends when the work is done or the stream is no longer read. (Not upstream.)
    public func progress(for direction: ProgressDirection, mode: ProgressMode) -> AsyncStream<Progress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let token = addProgressNotification(for: direction, mode: mode) { progress in
                continuation.yield(progress)
                if mode == .forCurrentlyOutstandingWork, progress.isTransferComplete { continuation.finish() }
            }
            guard let token else { return continuation.finish() }
            continuation.onTermination = { _ in token.invalidate() }
        }
    }
}
