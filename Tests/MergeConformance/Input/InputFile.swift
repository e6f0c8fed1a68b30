import Foundation

/// A file of a recording, plain or gzip.
package struct InputFile: Sendable {
    /// Far beyond any recording there is, and a bound on what a file can make this process hold.
    package static let defaultLimit = 1 << 30

    /// The name for reports: the last part of the path.
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    package init(path: String, limit: Int = InputFile.defaultLimit) throws(ConformanceError) {
        name = URL(fileURLWithPath: path).lastPathComponent
        let stored = try Self.read(path, limit: limit)
        guard Gzip.isGzip(stored) else {
            bytes = stored
            return
        }
        do throws(Gzip.Failure) {
            bytes = try Gzip.decompress(stored, limit: limit)
        } catch {
            throw ConformanceError(error.isTooLarge ? .limitExceeded : .unreadable, error.message, file: path)
        }
    }

    /// Piece by piece: a pipe has no size to ask for.
    private static func read(_ path: String, limit: Int) throws(ConformanceError) -> [UInt8] {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw ConformanceError(.unreadable, "expected a file that can be opened", file: path)
        }
        defer { try? handle.close() }
        var bytes: [UInt8] = []
        do {
            while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
                guard bytes.count + piece.count <= limit else {
                    throw ConformanceError(.limitExceeded, "expected at most \(limit) bytes, more came", file: path)
                }
                bytes.append(contentsOf: piece)
            }
        } catch let error as ConformanceError {
            throw error
        } catch {
            throw ConformanceError(
                .unreadable, "expected to read to the end: \(error.localizedDescription)", file: path)
        }
        return bytes
    }

    /// The lines that are not blank.
    package var lines: some Sequence<InputLine> {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).lazy.enumerated()
            .filter { !$0.element.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
            .map { InputLine(file: name, number: $0.offset + 1, bytes: $0.element) }
    }

    /// The whole file as one JSON value.
    package func decode<Value: Decodable>(_ type: Value.Type) throws(ConformanceError) -> Value {
        try InputLine(file: name, number: nil, bytes: bytes[...]).decode(type)
    }
}
