import Changesets
import Foundation
import MergeConformance
import RealmState

/// The realms of a recorded scenario: what every peer holds after its own writes and what it has integrated.
struct RecordedRealms {
    var states: [UInt64: RealmState] = [:]
    /// What the reference says that every peer holds at the end.
    var expected: JSON?
    var changesetCount = 0

    /// Replays `local` and `result` changesets; `prepare` is called before each of them.
    init(
        _ file: URL, new: RealmState = RealmState(),
        prepare: (inout RealmState, Changeset) throws -> Void = { _, _ in },
        finish: (inout RealmState) throws -> Void = { _ in }, onlyPeer: UInt64? = nil
    ) throws {
        for line in try InputFile(path: file.path).lines {
            let peer: UInt64
            let written: [UInt8]
            switch try line.decode(RecordedEvent.self) {
            case .local(let local): (peer, written) = (local.peer, local.changeset.bytes)
            case .integrate(let integrate): (peer, written) = (integrate.peer, integrate.result.bytes)
            case .state(let json):
                expected = json
                continue
            case .begin, .other: continue
            }
            guard onlyPeer.map({ $0 == peer }) ?? true else { continue }
            for bytes in try ConcatenatedChangesets.split(written) {
                let changeset = try Changeset(parsing: bytes)
                try prepare(&states[peer, default: new], changeset)
                try states[peer, default: new].apply(changeset)
                try finish(&states[peer, default: new])
                changesetCount += 1
            }
        }
    }
}
