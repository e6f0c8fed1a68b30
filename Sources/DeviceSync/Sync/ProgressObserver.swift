internal import Foundation
import SyncModel
internal import SyncProtocol

/// An observer of the progress of one direction.
struct ProgressObserver: Sendable {
    let id: UUID
    let direction: SyncSession.ProgressDirection
    let mode: SyncSession.ProgressMode
    private let report: @Sendable (SyncSession.Progress) -> Void

    /// The newest version that counts for an upload: with outstanding work only, later ones do not count.
    var target = ClientVersion(.max)
    /// The mark that ends the observation of outstanding downloads.
    var mark: RequestIdent?
    private(set) var isDone = false
    private var transferred = 0
    private var remaining: Int?
    private var last: SyncSession.Progress?

    init(
        id: UUID, direction: SyncSession.ProgressDirection, mode: SyncSession.ProgressMode,
        report: @escaping @Sendable (SyncSession.Progress) -> Void
    ) {
        self.id = id
        self.direction = direction
        self.mode = mode
        self.report = report
    }

    /// So many bytes of uploads are left.
    mutating func uploads(left: Int) {
        if let remaining, left < remaining { transferred += remaining - left }
        update(left: left, isComplete: left == 0)
    }

    /// So many bytes have arrived, and so many are left by the server's account.
    mutating func downloaded(_ bytes: Int, left: Int) {
        transferred += bytes
        // The server's account is an estimate: outstanding work ends with the mark.
        update(left: left, isComplete: left == 0 && mode == .reportIndefinitely)
    }

    /// So many bytes have arrived, which with those before them are a share of the whole by the server's account.
    mutating func downloaded(_ bytes: Int, share: Double) {
        transferred += bytes
        let whole = share > 0 ? Double(transferred) / share : .infinity
        update(
            left: share >= 1 ? 0 : Int(exactly: (whole - Double(transferred)).rounded()) ?? transferred,
            isComplete: share >= 1 && mode == .reportIndefinitely)
    }

    /// Everything that the server had when it was asked is here.
    mutating func caughtUp() { update(left: 0, isComplete: true) }

    private mutating func update(left: Int, isComplete: Bool) {
        guard !isDone else { return }
        remaining = left
        let total = transferred + left
        var estimate = isComplete ? 1 : total == 0 ? 0 : min(Double(transferred) / Double(total), 0.999)
        if mode == .forCurrentlyOutstandingWork { estimate = max(estimate, last?.progressEstimate ?? 0) }
        let progress = SyncSession.Progress(progressEstimate: estimate, transferred: transferred, transferrable: total)
        // Once everything is done, that there is nothing to do is no news.
        if progress != last, estimate < 1 || last?.isTransferComplete != true { report(progress) }
        last = progress
        guard isComplete else { return }
        // New work begins a new count.
        transferred = 0
        isDone = mode == .forCurrentlyOutstandingWork
    }
}
