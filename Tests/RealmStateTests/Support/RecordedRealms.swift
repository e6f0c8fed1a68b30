import Changesets
import Foundation
import RealmState
import TestSupport

/// The realms of a recorded scenario: what every peer holds after its own writes and what it has integrated.
struct RecordedRealms {
    private struct Event: Decodable {
        var event: String
        var peer: UInt64?
        var changeset: HexBytes?
        var result: HexBytes?
        var json: JSON?
    }

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
        for event in try RecordedVectors.lines(of: file, as: Event.self) {
            if event.event == "state" { expected = event.json }
            guard let peer = event.peer, onlyPeer.map({ $0 == peer }) ?? true else { continue }
            for bytes in try ConcatenatedChangesets.split((event.changeset ?? event.result)?.bytes ?? []) {
                let changeset = try Changeset(parsing: bytes)
                try prepare(&states[peer, default: new], changeset)
                try states[peer, default: new].apply(changeset)
                try finish(&states[peer, default: new])
                changesetCount += 1
            }
        }
    }
}
