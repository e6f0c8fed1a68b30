import LocalCluster
import Testing

/// `sluice slices --history --json`.
struct OwnedSlice: Decodable {
    var slice: Int
    var epoch: Int
    var worker: String
    var takenAt: UInt64
    var how: String
    var releasedAt: UInt64?
}

extension LocalCluster {
    func history(_ arguments: String...) async throws -> [OwnedSlice] {
        let text = try await operate(["slices", "--history", "--json"] + arguments)
        return try JSON.decode([OwnedSlice].self, text)
    }

    /// Returns the owners of the slice of the devices' realm, oldest first.
    func history(ofPartition partition: String) async throws -> [OwnedSlice] {
        try await history("--app", app, "--partition", partition)
    }
}

/// Requires that there is at most one writer at any time: every epoch belongs to one worker, none is missing, and none
/// began before the one it followed.
func requireOneWriterAtATime(_ history: [OwnedSlice], sourceLocation: SourceLocation = #_sourceLocation) {
    for changes in Dictionary(grouping: history, by: \.slice).values {
        #expect(changes.map(\.epoch) == Array(1...changes.count), sourceLocation: sourceLocation)
        for (earlier, later) in zip(changes, changes.dropFirst()) {
            #expect(earlier.takenAt <= later.takenAt, sourceLocation: sourceLocation)
            if earlier.releasedAt == nil {
                // Not let go, so taken: from one that was gone, or by the same worker again.
                let isTaken = ["dead", "lease"].contains(later.how) || later.worker == earlier.worker
                #expect(isTaken, sourceLocation: sourceLocation)
            }
        }
    }
}
