import Changesets
import Foundation
import MergeConformance
import TestSupport

/// The changesets in the recordings, by the form in which they were written.
enum RecordedBytes {
    struct Scenario: Decodable {
        var event: String
        var changeset: HexBytes?
        var changesets: [RecordedChangeset]?
        var result: HexBytes?
    }

    struct Pair: Decodable {
        var kind: String
        var ours: [RecordedChangeset]
        var theirs: [RecordedChangeset]
        var ours_after: [HexBytes]?
        var theirs_after: [HexBytes]?
    }

    struct Benchmark: Decodable {
        var ours: [RecordedChangeset]
        var theirs: [RecordedChangeset]
    }

    struct Message: Decodable {
        var head: String?
        var body_base64: String?
    }

    static func scenario(_ file: URL) throws -> [Scenario] { try RecordedVectors.lines(of: file, as: Scenario.self) }

    /// Uploads and downloads of a transcript whose body is not compressed.
    static func transcript(_ file: URL) throws -> (uploaded: [[UInt8]], downloaded: [[UInt8]]) {
        var uploaded: [[UInt8]] = []
        var downloaded: [[UInt8]] = []
        for message in try RecordedVectors.lines(of: file, as: Message.self) {
            guard let head = message.head, let body = message.body_base64.flatMap({ Data(base64Encoded: $0) }),
                body.first != 0x78
            else { continue }
            if head.hasPrefix("upload ") { uploaded += entries(of: body, fieldCount: 5) }
            if head.hasPrefix("download ") { downloaded += entries(of: body, fieldCount: 6) }
        }
        return (uploaded, downloaded)
    }

    /// Each entry is some decimal numbers, of which the last is a size, each followed by a space, and so many bytes.
    private static func entries(of body: Data, fieldCount: Int) -> [[UInt8]] {
        var rest = body[...]
        var result: [[UInt8]] = []
        while !rest.isEmpty {
            var size = 0
            for _ in 0..<fieldCount {
                guard let space = rest.firstIndex(of: 0x20) else { return result }
                size = Int(String(decoding: rest[rest.startIndex..<space], as: UTF8.self)) ?? 0
                rest = rest[(space + 1)...]
            }
            result.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return result
    }
}
