import Changesets
import Foundation
import MergeConformance
import TestSupport
import Testing

/// A recording with some of its lines changed.
struct Edited {
    private(set) var lines: [String]

    /// The first recording of a kind.
    init(_ kind: String) throws {
        let file = try #require(RecordedVectors.files(kind).first { $0.lastPathComponent != "hostile.ndjson" })
        lines = String(decoding: try InputFile(path: file.path).bytes, as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    var file: InputFile {
        InputFile(name: "edited.ndjson", bytes: Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Changes a line as a JSON object; returns its number, counted from 1.
    mutating func edit(
        _ name: String, where matches: ([String: Any]) -> Bool, _ change: (inout [String: Any]) throws -> Void
    ) throws -> Int {
        for (position, line) in lines.enumerated() {
            var object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard matches(object) else { continue }
            try change(&object)
            lines[position] = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
            return position + 1
        }
        Issue.record("there is no line with \(name)")
        return 0
    }

    /// Changes the result of the first integration whose changeset has some instructions.
    mutating func editResult(_ change: (inout Changeset) -> Void) throws -> Int {
        try edit(
            "a result",
            where: { line in
                guard let text = line["result"] as? String, let changeset = try? Self.changeset(text) else {
                    return false
                }
                return changeset.instructions.count > 4
            },
            { line in
                var changeset = try Self.changeset(try #require(line["result"] as? String))
                change(&changeset)
                line["result"] = Self.hex(changeset.encoded())
            })
    }

    mutating func cut(line number: Int, to count: Int) { lines[number - 1] = String(lines[number - 1].prefix(count)) }

    static func changeset(_ hex: String) throws -> Changeset {
        let bytes = try JSONDecoder().decode([HexBytes].self, from: Data("[\"\(hex)\"]".utf8))
        return try Changeset(parsing: bytes[0].bytes)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
