internal import Dispatch
internal import Foundation
internal import Synchronization

/// The realms that this process has open: one core for each, which all who open it share.
///
/// While a realm is being opened, or kept closed for work on its files, every other request for that realm waits. Requests
/// for other realms do not.
enum RealmRegistry {
    /// Hears how the wait for a realm ended: with a core; with nil if the realm has to be asked for again; or with the
    /// error of the opening.
    private typealias Waiter = @Sendable (Result<RealmCore?, any Error>) -> Void

    private struct WeakCore { weak var core: RealmCore? }
    private enum Entry {
        case open(WeakCore)
        case busy([Waiter])

        var isGone: Bool {
            if case .open(let reference) = self { reference.core == nil } else { false }
        }
    }
    private static let entries = Mutex<[RealmCore.Location: Entry]>([:])

    private enum Claim {
        case open(RealmCore)
        /// The caller has the realm to itself until `release`.
        case claimed
        /// The waiter will be called.
        case waiting
    }

    private static func claim(_ location: RealmCore.Location, orWait waiter: @escaping Waiter) -> Claim {
        entries.withLock { entries in
            switch entries[location] {
            case .busy(let waiting):
                entries[location] = .busy(waiting + [waiter])
                return .waiting
            case .open(let reference):
                if let core = reference.core, !core.isDropped { return .open(core) }
            case nil: break
            }
            entries = entries.filter { !$0.value.isGone }
            entries[location] = .busy([])
            return .claimed
        }
    }

    private static func release(_ location: RealmCore.Location, _ result: Result<RealmCore?, any Error>) {
        let waiters = entries.withLock { entries -> [Waiter] in
            guard case .busy(let waiters) = entries[location] else { return [] }
            let core = try? result.get()
            entries[location] = core.map { .open(WeakCore(core: $0)) }
            return waiters
        }
        for waiter in waiters { waiter(result) }
    }

    /// How many wait for a realm that is being opened or kept closed; nil if it is neither.
    static func waitingCount(_ location: RealmCore.Location) -> Int? {
        entries.withLock { if case .busy(let waiters) = $0[normalized(location)] { waiters.count } else { nil } }
    }

    // MARK: Opening

    /// The core of a realm; made by `make` if the realm is not open. Blocks while another caller makes it.
    /// - Throws: what `make` throws, here or for another caller that this one waited for.
    static func open(_ location: RealmCore.Location, _ make: (RealmCore.Location) throws -> RealmCore) throws
        -> RealmCore
    {
        let location = normalized(location)
        while true {
            let outcome = Outcome()
            switch claim(location, orWait: outcome.set) {
            case .open(let core): return core
            case .claimed: return try run(location, make)
            case .waiting: if let core = try outcome.wait() { return core }
            }
        }
    }

    /// The core of a realm, without blocking the caller's thread: `make` runs on `queue`.
    static func open(
        _ location: RealmCore.Location, on queue: DispatchQueue,
        _ make: @escaping @Sendable (RealmCore.Location) throws -> RealmCore
    ) async throws -> RealmCore {
        let location = normalized(location)
        while true {
            let core: RealmCore? = try await withCheckedThrowingContinuation { continuation in
                switch claim(location, orWait: { continuation.resume(with: $0) }) {
                case .open(let core): continuation.resume(returning: core)
                case .claimed: queue.async { continuation.resume(with: Result { try run(location, make) }) }
                case .waiting: break
                }
            }
            if let core { return core }
        }
    }

    private static func run(_ location: RealmCore.Location, _ make: (RealmCore.Location) throws -> RealmCore) throws
        -> RealmCore
    {
        let result = Result { try make(location) }
        release(location, result.map { $0 })
        return try result.get()
    }

    // MARK: Keeping closed

    /// Runs `body` while the realm is closed and cannot be opened, in this process or in another.
    /// - Returns: nil if it is open in this process.
    /// - Throws: what `body` throws; `Realm.Error` if another process has it.
    static func whileClosed<Result>(_ files: RealmFileSet, _ body: () throws -> Result) throws -> Result? {
        let location = normalized(.file(files.main))
        while true {
            let outcome = Outcome()
            switch claim(location, orWait: outcome.set) {
            case .open(let core):
                if files.isOpen { return nil }
                // The file was closed although the core is still there.
                forget(core, at: location)
            case .waiting: _ = try? outcome.wait()
            case .claimed:
                defer { release(location, .success(nil)) }
                return files.isOpen ? nil : try withoutOtherProcesses(files, body)
            }
        }
    }

    /// Runs `body` while no other process can open the realm; for the owner of a claim.
    static func withoutOtherProcesses<Result>(_ files: RealmFileSet, _ body: () throws -> Result) throws -> Result {
        guard FileManager.default.fileExists(atPath: files.main.deletingLastPathComponent().path) else {
            return try body()
        }
        let lock = try FileLock(OpenFiles.canonical(files.main), code: .incompatibleLockFile)
        defer { if !files.exists { lock.removeFile() } }
        return try body()
    }

    private static func forget(_ core: RealmCore, at location: RealmCore.Location) {
        entries.withLock { entries in
            if case .open(let reference) = entries[location], reference.core === core { entries[location] = nil }
        }
    }

    private static func normalized(_ location: RealmCore.Location) -> RealmCore.Location {
        guard case .file(let url) = location else { return location }
        return .file(OpenFiles.canonical(url))
    }

    /// What a thread waits for that may block.
    private final class Outcome: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let result = Mutex<Swift.Result<RealmCore?, any Error>>(.success(nil))

        func set(_ result: Swift.Result<RealmCore?, any Error>) {
            self.result.withLock { $0 = result }
            semaphore.signal()
        }

        func wait() throws -> RealmCore? {
            semaphore.wait()
            return try result.withLock { try $0.get() }
        }
    }
}
