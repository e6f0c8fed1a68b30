package import Foundation

/// What the reference engine was recorded to do: the folder that `SLUICE_VECTORS` names, else the few recordings in
/// `Tests/Fixtures/vectors`.
package enum RecordedVectors {
    /// The recordings of a kind (`merge`, `pairs`, `bench`, `transcripts`) in order of their names.
    package static func files(_ kind: String) -> [URL] {
        let folder = root.appending(path: kind)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted().map { folder.appending(path: $0) }
    }

    /// Whether every recording is at hand, and not only the fixtures.
    package static var isComplete: Bool { configured != nil }

    /// A file's lines, each a JSON object.
    package static func lines<Line: Decodable>(of file: URL, as type: Line.Type) throws -> [Line] {
        let decoder = JSONDecoder()
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { line in
            try decoder.decode(type, from: Data(line))
        }
    }

    private static var configured: URL? {
        let value = ProcessInfo.processInfo.environment["SLUICE_VECTORS"]
        return value.flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
    }

    private static var root: URL {
        configured
            ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/vectors")
    }
}
