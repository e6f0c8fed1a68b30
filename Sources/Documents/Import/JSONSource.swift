import ExtendedJSON

/// Documents in Extended JSON: one a line, several lines each, or as the elements of an array, all as mongoexport writes them.
///
/// A line that begins with `{` where no value can stand begins a document, unless the file is an array: so one that is cut off costs itself
/// alone.
package struct JSONSource: DocumentSource {
    private enum Form {
        case unknown
        case sequence
        case array
        /// The array has ended.
        case ended
    }

    private var queue = ByteQueue()
    private var form = Form.unknown
    /// How far the document at the front of the queue has been looked at.
    private var scanned = 0
    /// Braces and brackets that are open.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Lines that have ended, and the line of the document at the front.
    private var lines = 0
    private var firstLine = 1
    private var isLineStart = true
    /// The last byte of the document that is no space.
    private var previous = UInt8(ascii: "{")

    package init() {}

    package mutating func add(_ bytes: [UInt8]) { queue.add(bytes) }

    package mutating func next() throws(DocumentSourceError) -> SourceDocument? {
        while let byte = queue[scanned] {
            if depth == 0 {
                // The mark that some editors begin a file with has three bytes.
                if form == .unknown, byte == 0xEF, queue[2] == nil { return nil }
                if let found = try begin(byte) { return found }
            } else if startsAnother(byte) {
                return cut("expected the end of the document, came another one on line \(lines + 1)")
            } else if look(at: byte) {
                return document()
            }
            guard scanned <= SourceLimits.textBytes else {
                throw DocumentSourceError(
                    place: "line \(firstLine)",
                    message: "expected a document of at most \(SourceLimits.textBytes) bytes")
            }
        }
        return nil
    }

    package mutating func last() throws(DocumentSourceError) -> SourceDocument? {
        if depth > 0 { return cut("expected the end of the document, came the end of the file") }
        guard form != .array else {
            throw DocumentSourceError(place: "line \(lines + 1)", message: "expected ], came the end of the file")
        }
        return nil
    }

    /// Looks at a byte between documents.
    private mutating func begin(_ byte: UInt8) throws(DocumentSourceError) -> SourceDocument? {
        switch (byte, form) {
        case (UInt8(ascii: "\n"), _):
            lines += 1
            queue.drop(1)
            isLineStart = true
            return nil
        case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (UInt8(ascii: "\r"), _), (UInt8(ascii: ","), .array):
            queue.drop(1)
        case (0xEF, .unknown) where queue[1] == 0xBB && queue[2] == 0xBF:
            queue.drop(3)
        case (UInt8(ascii: "["), .unknown):
            form = .array
            queue.drop(1)
        case (UInt8(ascii: "]"), .array):
            form = .ended
            queue.drop(1)
        case (UInt8(ascii: "{"), .unknown), (UInt8(ascii: "{"), .sequence), (UInt8(ascii: "{"), .array):
            if form == .unknown { form = .sequence }
            enter(depth: 1)
        default:
            // Up to the end of the line, so that one that is no document costs itself alone.
            return try rest(of: byte)
        }
        isLineStart = false
        return nil
    }

    private mutating func rest(of byte: UInt8) throws(DocumentSourceError) -> SourceDocument? {
        let text = String(decoding: [byte], as: UTF8.self)
        guard form == .sequence || form == .unknown else {
            throw DocumentSourceError(
                place: "line \(lines + 1)",
                message: form == .ended
                    ? "expected the end of the file after ], came \(text.debugDescription)"
                    : "expected a document or ], came \(text.debugDescription)")
        }
        form = .sequence
        // No brace closes it, so the next line that begins with one ends it.
        enter(depth: Int.max / 2)
        previous = byte
        isLineStart = false
        return nil
    }

    /// Begins a document with the byte at the front of the queue.
    private mutating func enter(depth: Int) {
        firstLine = lines + 1
        self.depth = depth
        scanned = 1
        previous = UInt8(ascii: "{")
    }

    /// Whether a byte inside a document begins another one.
    private func startsAnother(_ byte: UInt8) -> Bool {
        guard isLineStart, !isInString, form == .sequence, byte == UInt8(ascii: "{") else { return false }
        // Behind these a value follows.
        return ![UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "[")].contains(previous)
    }

    /// Looks at a byte inside a document, and returns whether it is the document's last.
    private mutating func look(at byte: UInt8) -> Bool {
        scanned += 1
        isLineStart = byte == UInt8(ascii: "\n")
        if isLineStart { lines += 1 }
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n") {
                // No string goes over the end of a line.
                isInString = false
            }
            previous = byte
            return false
        }
        if byte > UInt8(ascii: " ") { previous = byte }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            return depth == 0
        default: break
        }
        return false
    }

    private mutating func document() -> SourceDocument {
        let bytes = takeScanned()
        do throws(ExtendedJSONError) {
            return SourceDocument(
                place: "line \(firstLine)", content: .success(try ExtendedJSONParser.parseDocument(bytes)))
        } catch {
            return SourceDocument(place: "line \(firstLine)", content: .failure(.init("\(error)", bytes)))
        }
    }

    private mutating func cut(_ reason: String) -> SourceDocument {
        let bytes = takeScanned()
        // The parser knows better what is wrong, unless the text is only not at its end.
        var reason = reason
        do throws(ExtendedJSONError) { _ = try ExtendedJSONParser.parseDocument(bytes) } catch { reason = "\(error)" }
        return SourceDocument(place: "line \(firstLine)", content: .failure(.init(reason, bytes)))
    }

    private mutating func takeScanned() -> [UInt8] {
        let bytes = Array(queue.take(scanned))
        scanned = 0
        depth = 0
        (isInString, isEscaped) = (false, false)
        return bytes
    }
}
