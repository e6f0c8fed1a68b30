import SyncModel

/// Puts a message together; refuses numbers that do not fit the wire.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []
    private let subject: String

    init(_ word: String, capacity: Int = 0) {
        subject = word
        bytes.reserveCapacity(capacity + 160)
        bytes.append(contentsOf: word.utf8)
    }

    /// A writer of entry headers, which have a space after every number.
    init(entriesOf word: String, capacity: Int) {
        subject = word
        bytes.reserveCapacity(capacity)
    }

    /// A whole message: its word, the numbers of its head, and its body.
    static func message(
        _ word: String, _ numbers: [UInt64], _ body: some Collection<UInt8> = []
    ) throws(SyncProtocolError) -> [UInt8] {
        var writer = MessageWriter(word, capacity: body.count)
        try writer.numbers(numbers)
        writer.body(body)
        return writer.bytes
    }

    mutating func numbers(_ values: [UInt64]) throws(SyncProtocolError) {
        for value in values {
            guard value <= WireIntegerBounds.maximum else {
                throw SyncProtocolError(.badSyntax, fault: .sending, "\(subject): \(value) exceeds 63 bits")
            }
            word(String(value))
        }
    }

    mutating func word(_ text: String) {
        bytes.append(HeadReader.space)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func body(_ body: some Collection<UInt8>) {
        bytes.append(HeadReader.lineFeed)
        bytes.append(contentsOf: body)
    }

    /// One entry: its numbers, each followed by a space, then the changeset.
    mutating func entry(_ numbers: [UInt64], changeset: [UInt8]) throws(SyncProtocolError) {
        for value in numbers + [UInt64(changeset.count)] {
            guard value <= WireIntegerBounds.maximum else {
                throw SyncProtocolError(
                    .badChangesetHeaderSyntax, fault: .sending, "\(subject) entry: \(value) exceeds 63 bits")
            }
            bytes.append(contentsOf: String(value).utf8)
            bytes.append(HeadReader.space)
        }
        bytes.append(contentsOf: changeset)
    }
}

// How the values of a head become its numbers.

extension DownloadCursor {
    var wireNumbers: [UInt64] { [serverVersion.rawValue, clientVersion.rawValue] }
}

extension UploadCursor {
    var wireNumbers: [UInt64] { [clientVersion.rawValue, serverVersion.rawValue] }
}

extension SaltedServerVersion {
    var wireNumbers: [UInt64] { [version.rawValue, salt.rawValue] }
}

extension ClientFileIdent {
    var wireNumbers: [UInt64] { [ident.rawValue, salt.rawValue] }
}

extension ErrorCode {
    /// A negative number, which no code has, becomes one that does not fit the wire.
    var wireNumber: UInt64 { UInt64(exactly: rawValue) ?? .max }
}

extension String {
    var wireSize: UInt64 { UInt64(utf8.count) }
}
