import Foundation
import SyncModel

/// The one realm of the measurements' app in flexible mode, as one of its clients fills it.
///
/// Touched on its loop's thread only.
struct FlexibleRealm {
    static let everything = ["Task": "TRUEPREDICATE"]
    private let cluster: BenchCluster
    private let loop: LoadLoop

    init(_ cluster: BenchCluster, _ loop: LoadLoop) {
        self.cluster = cluster
        self.loop = loop
    }

    /// Selects the tasks of one title, of which there need not be any.
    static func own(_ title: String) -> [String: String] { ["Task": "title == '\(title)'"] }

    /// Makes the class: queries can only name classes that there are.
    func declare() throws {
        let author = LoadClient(subscribingTo: [:])
        try Fleet([author], on: loop).open(cluster)
        author.clientVersion = 10
        try upload(
            try Workload(client: 0, changesets: 1, objects: 0, first: 11, seen: author.head.serverVersion), by: author)
        author.disconnect()
    }

    /// Adds objects, a hundred in a changeset; each tenth has the same `priority`.
    func fill(from first: Int, to count: Int, run: Int) throws {
        let author = LoadClient(subscribingTo: Self.everything)
        // Nothing is there yet, or the author would be sent all of it.
        guard first < count else { return }
        try Fleet([author], on: loop).open(cluster)
        author.clientVersion = 0
        var left = count - first
        while left > 0 {
            let objects = min(100, left)
            let changesets = max(min(50, left / objects), 1)
            try upload(
                try Workload(
                    client: 1, changesets: changesets, objects: objects, first: author.clientVersion + 1,
                    seen: author.head.serverVersion, schema: false, run: run), by: author)
            left -= objects * changesets
            progress("\(count - left) of \(count) objects")
        }
        author.disconnect()
    }

    private func upload(_ load: Workload, by author: LoadClient) throws {
        author.clientVersion = load.lastVersion
        author.sendFrames(load.frames)
        try loop.serve("the author's changesets are acknowledged", upTo: .seconds(600)) {
            author.head.uploadedClientVersion >= load.lastVersion
        }
    }
}
