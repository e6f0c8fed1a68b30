import Storage
import SyncModel

extension OutcomeClass {
    init(_ result: OutcomeReport.Result) {
        self =
            switch result {
            // Nothing was lost where there was nothing to do.
            case .recovered, .notNeeded: .recovered
            case .discarded: .discarded
            case .manualPending, .manualHandled, .manualAtLaunch: .manual
            case .failed: .failed
            case .interrupted: .pending
            }
    }
}

extension OutcomeReport {
    /// Whether the reset is counted as recovered only because nothing was seen: the client did not say how it ended, and sent
    /// nothing that it wrote before. It had nothing unsynced, or discarded it.
    var isUnproven: Bool { evidence == .inferred && result == .notNeeded }

    /// Whether this report takes the place of `other` about the same client realm and campaign.
    ///
    /// This is a total order, so that reports may arrive in any order and any number of times and the same one wins:
    /// a client's own report beats any inference; among a client's the latest wins, since it knows; among inferences
    /// an ended reset beats one that is not, then the surer, then the later.
    func supersedes(_ other: OutcomeReport) -> Bool {
        if evidence != other.evidence { return evidence == .client }
        let keys: [(Double, Double)]
        switch evidence {
        case .client: keys = [(Double(at), Double(other.at)), (finality, other.finality)]
        case .inferred:
            keys = [(finality, other.finality), (confidence, other.confidence), (Double(at), Double(other.at))]
        }
        for (own, its) in keys where own != its { return own > its }
        // Differing reports of one moment: any choice will do as long as it is always the same.
        return tieBreak > other.tieBreak
    }

    private var finality: Double {
        switch result {
        case .interrupted: 0
        case .manualPending: 1
        default: 2
        }
    }

    private var tieBreak: String { "\(result.rawValue)/\(attempt)/\(identNew ?? 0)/\(modeUsed ?? "")" }
}
