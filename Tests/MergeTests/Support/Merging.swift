import Changesets
import Merge
import Testing

/// What merging makes of two sides of one changeset each.
struct Merged: Equatable {
    var a: [Instruction]
    var b: [Instruction]
}

func incoming(_ changeset: Changeset, version: UInt64 = 1, rank: UInt64, file: UInt64, base: UInt64 = 0)
    -> IncomingChangeset
{
    IncomingChangeset(
        version: version, lastIntegratedLocalVersion: base, originTimestamp: rank, originFileIdent: file,
        changeset: changeset)
}

func local(_ changeset: Changeset, version: UInt64 = 1, rank: UInt64, file: UInt64) -> LocalChangeset {
    LocalChangeset(version: version, originTimestamp: rank, originFileIdent: file, changeset: changeset)
}

/// Merges A, of file 2, with B, of file 3. A is the local side.
func merge(
    _ a: [Instruction], rank rankA: UInt64, with b: [Instruction], rank rankB: UInt64,
    _ compatibility: PeerCompatibility = .convergent, _ search: ConflictSearch = .indexed
) throws(MergeError) -> Merged {
    let result = try MergeEngine(compatibility: compatibility, search: search).transform(
        incoming: [incoming(changeset(b), rank: rankB, file: 3)],
        over: [local(changeset(a), rank: rankA, file: 2)], currentLocalVersion: 1)
    return Merged(a: result.modifiedLocal.first?.changeset.instructions ?? a, b: result.incoming[0].instructions)
}

/// Expects what `A@rankA` and `B@rankB` become, whichever side is the local one and however they find each other.
func expect(
    _ a: [Instruction], _ rankA: UInt64 = 1, with b: [Instruction], _ rankB: UInt64 = 2, gives expectedA: [Instruction],
    _ expectedB: [Instruction], in modes: [PeerCompatibility] = [.convergent, .stockClients],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    for mode in modes {
        for search in ConflictSearch.every {
            let merged = try merge(a, rank: rankA, with: b, rank: rankB, mode, search)
            #expect(merged.a == expectedA, "A, \(mode), \(search)", sourceLocation: sourceLocation)
            #expect(merged.b == expectedB, "B, \(mode), \(search)", sourceLocation: sourceLocation)
            let mirrored = try merge(b, rank: rankB, with: a, rank: rankA, mode, search)
            #expect(mirrored.b == expectedA, "A incoming, \(mode), \(search)", sourceLocation: sourceLocation)
            #expect(mirrored.a == expectedB, "B local, \(mode), \(search)", sourceLocation: sourceLocation)
        }
    }
}

/// Expects that A and B cannot be merged, and why.
func expectRefusal(
    _ a: [Instruction], with b: [Instruction], _ code: MergeError.Code,
    in modes: [PeerCompatibility] = [.convergent, .stockClients], sourceLocation: SourceLocation = #_sourceLocation
) {
    for mode in modes {
        for search in ConflictSearch.every {
            let error = #expect(throws: MergeError.self, sourceLocation: sourceLocation) {
                try merge(a, rank: 1, with: b, rank: 2, mode, search)
            }
            #expect(error?.code == code, sourceLocation: sourceLocation)
            let mirrored = #expect(throws: MergeError.self, sourceLocation: sourceLocation) {
                try merge(b, rank: 2, with: a, rank: 1, mode, search)
            }
            #expect(mirrored?.code == code, sourceLocation: sourceLocation)
        }
    }
}

extension ConflictSearch {
    static let every = [ConflictSearch.indexed, .indexedWithWholeLists, .indexedWithListPairs, .exhaustive]
}
