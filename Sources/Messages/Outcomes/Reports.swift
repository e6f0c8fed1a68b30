package import SyncModel

// What workers, gateways and clients report to the coordinator (outcomes exchange).

extension FoundReport: Message { package static let type = "found" }
extension NotifiedReport: Message { package static let type = "notified" }
extension OutcomeReport: Message { package static let type = "outcome" }
