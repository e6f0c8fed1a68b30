import Operations

/// What workers count by app.
enum WorkerCounter: String, AppCounter {
    case integrated = "sluice.worker.changesets.integrated"
    case duplicates = "sluice.worker.changesets.duplicates"
    case ahead = "sluice.worker.changesets.ahead"
    case gaps = "sluice.worker.uploads.gaps"
    case compensated = "sluice.worker.uploads.compensated"
    case denied = "sluice.worker.uploads.denied"
    case cutOff = "sluice.worker.uploads.cut_off"
    case refused = "sluice.worker.sessions.refused"
    case stale = "sluice.worker.rules.stale"
    case tooDear = "sluice.worker.views.too_dear"
    case farBehind = "sluice.worker.views.far_behind"
    case quotasMet = "sluice.worker.quotas.met"
    case eventsRefused = "sluice.worker.events.refused"
    case dead = "sluice.worker.messages.dead"
    case deadBytes = "sluice.worker.messages.dead_bytes"
    case notKept = "sluice.worker.messages.not_kept"
    case doubted = "sluice.worker.resets.doubted"
    case unasked = "sluice.worker.resets.unasked"
    case held = "sluice.worker.resets.held"
    case paced = "sluice.worker.resets.paced"
    case inferred = "sluice.worker.outcomes.inferred"
    case expired = "sluice.worker.client_files.expired"
    case forgotten = "sluice.worker.client_files.forgotten"
    case erased = "sluice.worker.realms.erased"
    case bases = "sluice.worker.history.bases"
    case baseBytes = "sluice.worker.history.base_bytes"
    case compacted = "sluice.worker.history.compacted"
    case mergeEntries = "sluice.worker.merge.entries"
    case mergeConflicts = "sluice.worker.merge.conflicts"
    case mergeSteps = "sluice.worker.merge.steps"
    case mergesAside = "sluice.worker.merges.aside"
    case looksAside = "sluice.worker.looks.aside"
    case mergesSlow = "sluice.worker.merges.slow"

    var label: CounterLabel? {
        switch self {
        case .denied: CounterLabel("reason", ["readOnly", "asymmetric", "asymmetricKey", "misfit"])
        case .stale: CounterLabel("reason", ["older", "user", "missing"])
        case .quotasMet: .quotasOfSlices
        default: nil
        }
    }
}
