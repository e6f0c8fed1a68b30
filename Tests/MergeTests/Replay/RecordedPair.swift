import Changesets
import Foundation
import Merge
import TestSupport

/// A small recorded merge: two sides made over one state, and what the reference makes of them.
struct RecordedPair: Sendable {
    var ours: [IncomingChangeset]
    var theirs: [IncomingChangeset]
    var expected: Result

    enum Result: Equatable, Sendable {
        case merged(ours: [[UInt8]], theirs: [[UInt8]])
        /// The recorded texts are the reference's own, so refusals are compared only as such.
        case refused
    }

    /// Every recorded pair by file; read once.
    static let all: [URL: [RecordedPair]] = {
        var all: [URL: [RecordedPair]] = [:]
        for file in RecordedVectors.files("pairs") { all[file] = try? read(file) }
        return all
    }()

    private struct Line: Decodable {
        var ours: [RecordedChangeset]
        var theirs: [RecordedChangeset]
        var ours_after: [HexBytes]?
        var theirs_after: [HexBytes]?
        var error: String?
    }

    private static func read(_ file: URL) throws -> [RecordedPair] {
        try RecordedVectors.lines(of: file, as: Line.self).map { line in
            var expected = Result.refused
            if line.error == nil, let ours = line.ours_after, let theirs = line.theirs_after {
                expected = .merged(ours: ours.map(\.bytes), theirs: theirs.map(\.bytes))
            }
            return RecordedPair(
                ours: try line.ours.map(IncomingChangeset.init), theirs: try line.theirs.map(IncomingChangeset.init),
                expected: expected)
        }
    }

    func merge(_ engine: MergeEngine) -> Result {
        let local = ours.map(LocalChangeset.init)
        do throws(MergeError) {
            let result = try engine.transform(
                incoming: theirs, over: local, currentLocalVersion: local.last?.version ?? 0)
            let modified = Dictionary(uniqueKeysWithValues: result.modifiedLocal.map { ($0.version, $0.changeset) })
            return .merged(
                ours: local.map { (modified[$0.version] ?? $0.changeset).encoded() },
                theirs: result.incoming.map { $0.encoded() })
        } catch {
            return .refused
        }
    }

    /// The same with the roles exchanged.
    var mirrored: RecordedPair {
        var mirrored = RecordedPair(ours: theirs, theirs: ours, expected: expected)
        if case .merged(let ours, let theirs) = expected { mirrored.expected = .merged(ours: theirs, theirs: ours) }
        return mirrored
    }

    /// Which of the intended differences the pair could show, judged by the instructions in it.
    var possibleDifferences: [String] {
        let ours = ours.flatMap(\.changeset.instructions)
        let theirs = theirs.flatMap(\.changeset.instructions)
        func meet(_ one: (Instruction) -> Bool, _ other: (Instruction) -> Bool) -> Bool {
            ours.contains(where: one) && theirs.contains(where: other)
                || theirs.contains(where: one) && ours.contains(where: other)
        }
        func isSetMarker(_ instruction: Instruction) -> Bool {
            if case .update(let update) = instruction { update.value == .set } else { false }
        }
        var differences: [String] = []
        if meet({ $0.code == 9 }, { ($0.fieldPath?.path.count ?? 0) > 1 }) { differences.append("D1") }
        if meet({ $0.code == 13 }, { $0.code == 13 }) { differences.append("D2") }
        if meet({ $0.code == 7 || $0.code == 1 }, { $0.fieldPath != nil }) { differences.append("D3") }
        if meet({ $0.code == 11 }, isSetMarker) { differences.append("D6") }
        if meet({ $0.code == 11 && !($0.fieldPath?.path.isEmpty ?? true) }, { (8...10).contains($0.code) }) {
            differences.append("clear")
        }
        return differences
    }
}

extension LocalChangeset {
    init(_ incoming: IncomingChangeset) {
        self.init(
            version: incoming.version, originTimestamp: incoming.originTimestamp,
            originFileIdent: incoming.originFileIdent, changeset: incoming.changeset)
    }
}
