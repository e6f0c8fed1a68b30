import MergeConformance
import SyncModel

/// What a gateway may answer over HTTP, whatever it was asked.
enum AnswerCheck {
    /// Checks the answers on one connection, up to one whose length its head does not say.
    static func check(_ bytes: [UInt8]) throws(BrokenLaw) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let head = head(of: rest) else {
                throw BrokenLaw("no answer: \(String(decoding: rest.prefix(200), as: UTF8.self))")
            }
            try BrokenLaw.check(
                head.status < 500 || head.status == 503 || head.status == 501 || head.status == 505,
                "status \(head.status)")
            guard let length = head.length else { return }
            let body = rest.dropFirst(head.bytes).prefix(length)
            // A HEAD is answered with the length alone.
            guard body.first == UInt8(ascii: "{") else { return }
            guard let json = try? JSONParser.parse(Array(body)).objectValue else {
                throw BrokenLaw("the answer is no JSON object: \(String(decoding: body.prefix(200), as: UTF8.self))")
            }
            try BrokenLaw.check(
                (head.status >= 400) == (json["error"]?.stringValue != nil), "status \(head.status) and body disagree")
            rest = rest.dropFirst(head.bytes + length)
        }
    }

    private struct Head {
        var status: Int
        var length: Int?
        var bytes: Int
    }

    private static func head(of bytes: ArraySlice<UInt8>) -> Head? {
        let end: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a]
        guard let last = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: bytes[..<last], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1."), let status = Int(first.dropFirst(9).prefix(3)) else {
            return nil
        }
        let lengths = lines.dropFirst().filter { $0.lowercased().hasPrefix("content-length:") }
            .compactMap { Int($0.dropFirst(15).trimmingPrefix(" ")) }
        return Head(status: status, length: lengths.first, bytes: last + 4 - bytes.startIndex)
    }
}
