import Changesets
import Foundation
import Merge
import TestSupport

/// A small recorded merge: two sides made over one state, and what the reference makes of them.
struct RecordedPair: Decodable {
    var ours: [RecordedChangeset]
    var theirs: [RecordedChangeset]
    var ours_after: [HexBytes]?
    var theirs_after: [HexBytes]?
    var error: String?

    enum Result: Equatable {
        case merged(ours: [[UInt8]], theirs: [[UInt8]])
        case refused(MergeError.Code)
    }

    func merge(_ engine: MergeEngine) throws -> Result {
        let local = try ours.map(LocalChangeset.init)
        let incoming = try theirs.map(IncomingChangeset.init)
        do throws(MergeError) {
            let result = try engine.transform(
                incoming: incoming, over: local, currentLocalVersion: local.last?.version ?? 0)
            let modified = Dictionary(uniqueKeysWithValues: result.modifiedLocal.map { ($0.version, $0.changeset) })
            return .merged(
                ours: local.map { (modified[$0.version] ?? $0.changeset).encoded() },
                theirs: result.incoming.map { $0.encoded() })
        } catch {
            return .refused(error.code)
        }
    }

    /// The same with the roles exchanged.
    var mirrored: RecordedPair {
        RecordedPair(ours: theirs, theirs: ours, ours_after: theirs_after, theirs_after: ours_after, error: error)
    }

    func matches(_ result: Result) -> Bool {
        switch result {
        case .merged(let ours, let theirs):
            error == nil && ours == ours_after?.map(\.bytes) && theirs == theirs_after?.map(\.bytes)
        case .refused: error != nil
        }
    }
}
