import SyncModel

extension CounterLabel {
    /// The label of counters of quotas that were met: those that gateways judge.
    package static let quotasOfGateways = CounterLabel(
        "quota", Quota.allCases.filter { !$0.isOfSlices }.map(\.rawValue))
    /// The label of counters of quotas that were met: those that slices' owners judge.
    package static let quotasOfSlices = CounterLabel("quota", Quota.allCases.filter(\.isOfSlices).map(\.rawValue))
}

extension Quota {
    fileprivate var isOfSlices: Bool {
        switch self {
        case .userSockets, .connects, .userConnects, .binds, .userBinds, .uploads, .userUploads, .setBytes,
            .userSetBytes:
            false
        case .realms, .userRealms, .clientFiles, .userClientFiles, .bytes, .userBytes, .userSchemaElements: true
        }
    }
}
