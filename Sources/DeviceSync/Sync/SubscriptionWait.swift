internal import Foundation
internal import SyncProtocol

/// A call that waits for the data of a subscription set.
struct SubscriptionWait: Sendable {
    var id = UUID()
    var version: QueryVersion
    var failsOnConnectionErrors: Bool
    var completion: @Sendable ((any Error)?) -> Void

    /// Ends the wait if the set's data is here or never will be.
    /// - Returns: whether it did.
    func settle(with sets: SubscriptionSets) -> Bool {
        switch sets.outcome(of: version) {
        case .pending: return false
        case .complete, .superseded: completion(nil)
        case .refused(let reason): completion(Realm.Error.refusedSubscriptions(reason))
        }
        return true
    }
}
