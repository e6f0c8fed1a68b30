package import SyncModel

// What workers, gateways and clients report to the coordinator (outcomes exchange).

extension FoundReport: CodableMessage { package static let type = "found" }
extension NotifiedReport: CodableMessage { package static let type = "notified" }
extension OutcomeReport: CodableMessage { package static let type = "outcome" }
