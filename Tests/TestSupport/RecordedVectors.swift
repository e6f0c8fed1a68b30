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

/// Bytes that a recording writes in hexadecimal digits.
package struct HexBytes: Decodable, Hashable, Sendable {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let bytes = Self.bytes(of: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected hexadecimal digits")
        }
        self.bytes = bytes
    }

    package static func bytes(of text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }
}

/// A changeset in a recording.
package struct RecordedChangeset: Decodable, Sendable {
    /// The version at the peer that it comes from (pairs and benchmarks: `version`).
    package var version: UInt64
    package var lastIntegratedLocalVersion: UInt64
    package var timestamp: UInt64
    package var originFileIdent: UInt64
    package var changeset: HexBytes

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version =
            try container.decodeIfPresent(UInt64.self, forKey: .remote_version)
            ?? container.decode(UInt64.self, forKey: .version)
        lastIntegratedLocalVersion =
            try container.decodeIfPresent(UInt64.self, forKey: .last_integrated_local_version) ?? 0
        timestamp = try container.decode(UInt64.self, forKey: .timestamp)
        originFileIdent = try container.decode(UInt64.self, forKey: .origin_file_ident)
        changeset = try container.decode(HexBytes.self, forKey: .changeset)
    }

    private enum CodingKeys: String, CodingKey {
        case version, remote_version, last_integrated_local_version, timestamp, origin_file_ident, changeset
    }
}
