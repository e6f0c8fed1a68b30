/// A broken promise: one of P2 to P13, R1 or R2 (docs/merge.md, "Promises").
package enum Invariant: String, CaseIterable, Sendable, CustomStringConvertible {
    case quiescentConvergence = "P2"
    case indexedEqualsExhaustive = "P3"
    case batchEqualsSingles = "P4"
    case honestPeersAreAccepted = "P5"
    case mergeIsSymmetric = "P6"
    case priorSizesHold = "P7"
    case reloadChangesNothing = "P8"
    case versionsAreKept = "P9"
    case encodingIsFixed = "P10"
    case badClientsHarmNobody = "P11"
    case uploadOrderDoesNotMatter = "P12"
    case windowsMayBeSelected = "P13"
    case recoveriesKeepChanges = "R1"
    case resetsTakeTheServersState = "R2"

    package var description: String {
        let meaning =
            switch self {
            case .quiescentConvergence: "all copies are equal once everything has been exchanged"
            case .indexedEqualsExhaustive: "the conflict index changes no result"
            case .batchEqualsSingles: "a batch gives what its changesets give one by one"
            case .honestPeersAreAccepted: "what honest peers upload can be merged and applied"
            case .mergeIsSymmetric: "merging is the same from either side"
            case .priorSizesHold: "list sizes in changesets are the lists' sizes"
            case .reloadChangesNothing: "storing and loading changes nothing"
            case .versionsAreKept: "versions and cursors are kept in order"
            case .encodingIsFixed: "what is encoded reads back the same"
            case .badClientsHarmNobody: "a bad upload leaves no trace"
            case .uploadOrderDoesNotMatter: "the order of uploads does not matter"
            case .windowsMayBeSelected: "merging with what an upload touches, step by step, is merging with everything"
            case .recoveriesKeepChanges: "a recovery keeps what its rules say"
            case .resetsTakeTheServersState: "a reset leaves the server's state and what was recovered"
            }
        return "\(rawValue): \(meaning)"
    }
}

/// Where and how a simulation found a promise broken.
package struct SimulationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package var invariant: Invariant
    package var message: String

    package init(_ invariant: Invariant, _ message: String) {
        self.invariant = invariant
        self.message = message
    }

    package var description: String { "\(invariant): \(message)" }
}
