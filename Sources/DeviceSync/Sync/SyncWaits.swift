internal import Foundation
import SyncModel
internal import SyncProtocol

/// A call that waits for a direction to catch up.
struct SyncWait: Sendable {
    var id = UUID()
    var direction: SyncSession.ProgressDirection
    var failsOnConnectionErrors: Bool
    var completion: @Sendable ((any Error)?) -> Void
    /// The version that an upload waits for.
    fileprivate(set) var version: ClientVersion = 0
    /// The mark whose answer a download waits for; nil while the server has not been asked for one.
    fileprivate(set) var mark: RequestIdent?
}

/// What the app waits for on one realm: the calls of `wait(for:)`, with the server's marks that end a wait for downloads; updates of
/// subscriptions; and the observers of progress.
struct SyncWaits: Sendable {
    private var waits: [SyncWait] = []
    private var subscriptions: [SubscriptionWait] = []
    private var observers: [ProgressObserver] = []
    /// The newest mark that an earlier session of the realm has asked for, or that was answered.
    private(set) var lastMark: RequestIdent = 0

    var hasWaits: Bool { !waits.isEmpty || !subscriptions.isEmpty }
    var hasUploads: Bool { waits.contains { $0.direction == .upload } }

    // MARK: Waits

    /// - Parameter version: the realm's newest.
    mutating func add(_ wait: SyncWait, version: ClientVersion) {
        var wait = wait
        wait.version = version
        waits.append(wait)
    }

    /// Asks for the mark that waits still need; after a new session of the same realm, all of them need one anew.
    mutating func askForMark(on session: inout ClientSession) {
        let needed = waits.indices.filter {
            waits[$0].direction == .download && (waits[$0].mark ?? 0) <= lastMark
        }
        guard !needed.isEmpty else { return }
        // A mark that this connection has still to send serves them; otherwise the server is asked once more.
        let mark = session.hasMarkToSend ? session.markTarget : session.requestMark()
        for index in needed { waits[index].mark = mark }
    }

    /// The realm's own session has ended. The next one counts marks on from there; what was open is asked for anew.
    mutating func sessionEnded(_ session: ClientSession) {
        countMarks(of: session)
        for index in waits.indices where waits[index].direction == .download { waits[index].mark = nil }
        for index in observers.indices where observers[index].direction == .download { observers[index].mark = nil }
    }

    /// The marks of the next session come after this one's.
    mutating func countMarks(of session: ClientSession) { lastMark = max(lastMark, session.markTarget) }

    /// Everything that the server had when it was asked for this mark is here.
    mutating func markReached(_ mark: RequestIdent) {
        lastMark = max(lastMark, mark)
        // Without a mark: of an earlier session.
        update(.download) { if ($0.mark ?? 0) <= mark { $0.caughtUp() } }
        finish { $0.direction == .download && ($0.mark.map { $0 <= mark } ?? false) }
    }

    /// - Parameter isUploaded: whether everything up to a version is.
    mutating func finishUploads(_ isUploaded: (ClientVersion) -> Bool) {
        finish { $0.direction == .upload && isUploaded($0.version) }
    }

    mutating func fail(_ error: any Error) {
        finish(error) { _ in true }
        finishSubscriptions(error) { _ in true }
    }

    /// A connection error came that will be retried; some waits do not want to wait for that.
    mutating func connectionFailed(_ error: any Error) {
        finish(error) { $0.failsOnConnectionErrors }
        finishSubscriptions(error) { $0.failsOnConnectionErrors }
    }

    mutating func cancel(_ id: UUID) {
        finish(CancellationError()) { $0.id == id }
        finishSubscriptions(CancellationError()) { $0.id == id }
    }

    // MARK: Subscriptions

    mutating func add(_ wait: SubscriptionWait, _ sets: SubscriptionSets) {
        if !wait.settle(with: sets) { subscriptions.append(wait) }
    }

    /// Something has become of the realm's subscription sets.
    mutating func settle(with sets: SubscriptionSets) {
        let waiting = subscriptions
        subscriptions = waiting.filter { !$0.settle(with: sets) }
    }

    private mutating func finishSubscriptions(_ error: any Error, where isDone: (SubscriptionWait) -> Bool) {
        let done = subscriptions.filter(isDone)
        subscriptions.removeAll(where: isDone)
        for wait in done { wait.completion(error) }
    }

    private mutating func finish(_ error: (any Error)? = nil, where isDone: (SyncWait) -> Bool) {
        let done = waits.filter(isDone)
        waits.removeAll(where: isDone)
        for wait in done { wait.completion(error) }
    }

    // MARK: Progress

    mutating func add(_ observer: ProgressObserver, version: ClientVersion) {
        var observer = observer
        if observer.mode == .forCurrentlyOutstandingWork { observer.target = version }
        observers.append(observer)
    }

    mutating func removeObserver(_ id: UUID) { observers.removeAll { $0.id == id } }

    /// - Parameter left: how many bytes up to a version are still to be uploaded; nil if that cannot be read now.
    mutating func uploaded(left: (ClientVersion) -> Int?) {
        update(.upload) { observer in
            if let left = left(observer.target) { observer.uploads(left: left) }
        }
    }

    mutating func downloaded(_ bytes: Int, left: Int) { update(.download) { $0.downloaded(bytes, left: left) } }

    mutating func downloaded(_ bytes: Int, share: Double) {
        update(.download) { $0.downloaded(bytes, share: share) }
    }

    private mutating func update(_ direction: SyncSession.ProgressDirection, _ body: (inout ProgressObserver) -> Void) {
        guard !observers.isEmpty else { return }
        for index in observers.indices where observers[index].direction == direction { body(&observers[index]) }
        observers.removeAll(where: \.isDone)
    }
}
