internal import Dispatch
internal import Synchronization

/// Tells apart the writes that `Realm.writeAsync(_:onComplete:)` and `Realm.beginAsyncWrite(_:)` have asked for.
public typealias AsyncTransactionId = UInt32

/// The write transactions of one view that begin or end after the call that asks for it.
struct AsyncWrites: Sendable {
    private var last: AsyncTransactionId = 0
    /// Asked for, and not begun.
    private var waiting: Set<AsyncTransactionId> = []
    /// The number of commits that are under way.
    private var commits = 0
    private var isRunning = false
    /// Whether the transaction that is open, or was the last one, is to be committed.
    private(set) var isCommitting = false

    /// Whether a write waits, runs, or is being committed.
    var isBusy: Bool { isRunning || commits > 0 || !waiting.isEmpty }

    mutating func asks() -> AsyncTransactionId {
        last &+= 1
        waiting.insert(last)
        return last
    }

    /// - Returns: false if the write is not wanted any more.
    mutating func begins(_ id: AsyncTransactionId) -> Bool {
        isRunning = waiting.remove(id) != nil
        isCommitting = false
        return isRunning
    }

    mutating func ends() { isRunning = false }

    /// - Returns: false if the write has begun already, or was never asked for.
    mutating func cancels(_ id: AsyncTransactionId) -> Bool { waiting.remove(id) != nil }

    mutating func commitBegins() {
        commits += 1
        isCommitting = true
    }

    mutating func commitEnds() { commits -= 1 }
}

/// What an app wants done where its realm belongs.
///
/// Unchecked: it may hold objects of the realm. It is made where the realm belongs, and runs there and nowhere else.
private struct ConfinedBlock<Input>: @unchecked Sendable {
    let run: (Input) -> Void
}

extension RealmInstance {
    /// Where blocks of asynchronous writes run.
    private func placeOfWrites(_ call: String) -> (RealmView, DeliveryPlace) {
        let view = usableView("written")
        guard case .queue(let queue)? = view.confinement?.place else {
            preconditionFailure(
                "\(call) needs a realm that was opened on the main thread or with a queue; in a task, use asyncWrite(_:)"
            )
        }
        return (view, .queue(queue))
    }

    fileprivate func beginAsync(_ call: String, _ block: ConfinedBlock<Void>) -> AsyncTransactionId {
        let (view, place) = placeOfWrites(call)
        let id = view.asyncWrites.withLock { $0.asks() }
        core.lock.whenLocked(at: place) { [self] in
            guard view.asyncWrites.withLock({ $0.begins(id) }) else { return core.lock.unlock() }
            view.begin(isBlock: true)
            core.lock.run({ block.run(()) }, isHeld: { isInTransaction })
            view.asyncWrites.withLock { $0.ends() }
            // A block that neither commits nor cancels has changed its mind.
            if !view.asyncWrites.withLock({ $0.isCommitting }), isInTransaction { cancel() }
        }
        return id
    }

    fileprivate func commitAsync(_ onComplete: ConfinedBlock<(any Error)?>?) {
        let (view, place) = placeOfWrites("commitAsyncWrite")
        view.asyncWrites.withLock { $0.commitBegins() }
        let changes = finish(showing: true)
        core.lock.passOn()
        FileQueue.queue.async { [self] in
            let result = Result { try store(changes) }
            place.async {
                view.asyncWrites.withLock { $0.commitEnds() }
                if case .failure(let error) = result { onComplete?.run(error) } else { onComplete?.run(nil) }
            }
        }
    }
}

extension Realm {
    /// Runs `block` in a write transaction on the realm's queue as soon as no other writer is in the way, then commits it without blocking the queue.
    ///
    /// The realm has to be one of the main thread or of a queue; others trap.
    /// - Parameter onComplete: called on the realm's queue with the error of the commit, or nil.
    /// - Returns: what `cancelAsyncWrite(_:)` takes.
    @discardableResult
    public func writeAsync(
        _ block: @escaping () -> Void, onComplete: ((_ error: (any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        let instance = instance
        return instance.beginAsync(
            "writeAsync",
            ConfinedBlock {
                block()
                if instance.isInTransaction { instance.commitAsync(onComplete.map(ConfinedBlock.init)) }
            })
    }

    /// Begins a write transaction on the realm's queue as soon as no other writer is in the way, and calls `block` in it.
    ///
    /// The block ends the transaction with `commitAsyncWrite(allowGrouping:_:)`, `commitWrite(withoutNotifying:)` or `cancelWrite()`; one that does none of these
    /// is as if it cancelled. The realm has to be one of the main thread or of a queue; others trap.
    /// - Returns: what `cancelAsyncWrite(_:)` takes.
    @discardableResult
    public func beginAsyncWrite(_ block: @escaping () -> Void) -> AsyncTransactionId {
        instance.beginAsync("beginAsyncWrite", ConfinedBlock { block() })
    }

    /// Commits the write transaction without blocking the realm's queue.
    ///
    /// - Parameters:
    ///   - allowGrouping: has no effect: each commit is durable on its own.
    ///   - onComplete: called on the realm's queue with the error of the commit, or nil. After an error nothing of the transaction is kept.
    public func commitAsyncWrite(
        allowGrouping: Bool = false, _ onComplete: ((_ error: (any Swift.Error)?) -> Void)? = nil
    ) {
        instance.commitAsync(onComplete.map(ConfinedBlock.init))
    }

    /// Drops a write that has not begun yet.
    /// - Throws: `Realm.Error` with code `fail` if it has.
    public func cancelAsyncWrite(_ id: AsyncTransactionId) throws {
        guard instance.view?.asyncWrites.withLock({ $0.cancels(id) }) == true else {
            throw Error(
                .fail, "there is no asynchronous write \(id) that has not begun", fileURL: configuration.fileURL)
        }
    }

    /// Whether a write that was asked for by `writeAsync` or `beginAsyncWrite` has not begun, or is running or being committed.
    public var isPerformingAsynchronousWriteOperations: Bool {
        instance.view?.asyncWrites.withLock { $0.isBusy } ?? false
    }

    /// Runs `block` in a write transaction without blocking the caller's executor while it waits for other writers or
    /// for the disk. A realm of another actor, of a queue or a thread traps.
    /// - Throws: what `block` throws, or `Realm.Error`.
    @discardableResult
    public func asyncWrite<R>(_isolation: isolated (any Actor)? = #isolation, _ block: () throws -> R) async throws -> R
    {
        try await instance.write(isolation: _isolation, block)
    }

    /// Goes to the newest version. A realm of another actor, of a queue or a thread traps.
    /// - Returns: false if the realm was there already.
    @discardableResult
    public func asyncRefresh(_isolation: isolated (any Actor)? = #isolation) async -> Bool {
        refresh()
    }

    /// Makes all objects of this `Realm`, and the collections that belong to them, invalid. The realm goes on, as do its `Results`; objects can be read from it anew.
    ///
    /// An open write transaction is cancelled. A frozen realm traps.
    public func invalidate() {
        let view = instance.usableView("invalidated")
        if instance.isInTransaction { instance.cancel() }
        view.generation.wrappingAdd(1, ordering: .relaxed)
        instance.refresh()
    }
}
