import SyncModel
import Synchronization

/// What a slice's owner knows of its last commit: each one leaves a token in the slice's row, and goes through only where it finds
/// the token of the one before. So a commit cannot go through twice, nor behind another's back when its answer was lost and it
/// is still on its way to the server.
final class CommitLedger: Sendable {
    /// A commit whose answer was lost.
    struct Doubt: Sendable, Equatable {
        var epoch: Epoch
        var previous: Int64
        var token: Int64
        /// What the row says once it is settled whether the commit has gone through: it cannot any more if it has not.
        var wentThrough: Int64
        var didNot: Int64
    }

    private enum Knowledge {
        /// The row has to be read.
        case nothing
        case token(Int64, Epoch)
        case doubt(Doubt)
    }

    private let knowledge = Mutex(Knowledge.nothing)

    /// The token of the last commit under an epoch, if it is known.
    func token(_ epoch: Epoch) -> Int64? {
        knowledge.withLock { if case .token(let token, epoch) = $0 { token } else { nil } }
    }

    /// The commit of which it is not known whether it has gone through.
    var doubt: Doubt? { knowledge.withLock { if case .doubt(let doubt) = $0 { doubt } else { nil } } }

    func note(_ token: Int64, _ epoch: Epoch) { knowledge.withLock { $0 = .token(token, epoch) } }
    func forget() { knowledge.withLock { $0 = .nothing } }

    func doubt(_ token: Int64, after previous: Int64, _ epoch: Epoch) -> Doubt {
        let doubt = Doubt(
            epoch: epoch, previous: previous, token: token, wentThrough: Self.makeToken(), didNot: Self.makeToken())
        knowledge.withLock { $0 = .doubt(doubt) }
        return doubt
    }

    static func makeToken() -> Int64 { .random(in: 1 ... .max) }
}
