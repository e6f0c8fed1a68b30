import Foundation
import Messages
import Storage
import SyncModel

/// The account of an app's client realms that had to reset without anybody having asked for it: for a changeset that cannot be
/// integrated, for having been away too long. There is one a day and sync generation, so that they do not bury the campaigns
/// that operators have started.
struct ResetAccount: SlicePart {
    /// The kind of an account's campaign, as reports name it.
    static let kind = "account"

    let work: SliceWork

    /// - Parameter time: milliseconds of Unix time.
    static func id(app: String, generation: UInt64, at time: UInt64) -> String {
        let day = Date(timeIntervalSince1970: Double(time) / 1_000).formatted(.iso8601.year().month().day())
        return "\(app).resets-\(day)" + (generation > 1 ? "-g\(generation)" : "")
    }

    /// The account that a client realm which must reset now belongs to.
    func today(_ context: RealmContext) -> String {
        Self.id(app: context.name.app, generation: context.record.generation, at: clock.now())
    }

    /// Reports a client realm to its account.
    func add(
        _ file: ClientFileRecord, of context: RealmContext, to account: String, kind: String = Self.kind, reason: String
    ) throws {
        let realm = FoundReport.ClientRealm(
            partition: context.name.partition, clientFile: file.ident, user: file.user, lastSeen: file.lastSeen,
            reason: reason)
        try work.reportOnce(
            FoundReport(
                kind: kind, campaign: account, app: context.name.app, slice: slice,
                generation: context.record.generation, reason: kind == Self.kind ? nil : reason, chunk: 0, chunks: 1,
                clientRealms: [realm]))
    }
}
