import Foundation

/// A line of a recording: one JSON object.
package struct InputLine: Sendable {
    package let file: String
    /// Counted from 1; nil for a file that is not made of lines.
    package let number: Int?
    package let bytes: ArraySlice<UInt8>

    package func decode<Value: Decodable>(_ type: Value.Type) throws(ConformanceError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw malformed(Self.text(error, size: bytes.count))
        }
    }

    package func malformed(_ message: String) -> ConformanceError {
        ConformanceError(.malformed, message, file: file, line: number)
    }

    private static func text(_ error: any Error, size: Int) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        func place(_ path: [any CodingKey]) -> String {
            path.isEmpty
                ? "" : " at \(path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: "."))"
        }
        switch error {
        case .keyNotFound(let key, let context):
            return "expected \"\(key.stringValue)\"\(place(context.codingPath)), found no such member"
        case .valueNotFound(let type, let context):
            return "expected \(type)\(place(context.codingPath)), found null"
        case .typeMismatch(let type, let context):
            return "expected \(type)\(place(context.codingPath)), found another type of value"
        case .dataCorrupted(let context):
            // Well-formed, but for instance a number that is out of range.
            if !context.debugDescription.contains("not valid JSON") {
                return "\(context.debugDescription)\(place(context.codingPath))"
            }
            let cause = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey]
            return "expected one JSON object, found \(size) bytes that are none, or a number that is out of range"
                + (cause.map { ": \($0)" } ?? context.underlyingError.map { ": \($0)" } ?? "")
        @unknown default:
            return "\(error)"
        }
    }
}
