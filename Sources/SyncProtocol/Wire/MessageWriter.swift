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

    mutating func number(_ value: UInt64) throws(SyncProtocolError) {
        guard value <= WireIntegerBounds.maximum else {
            throw SyncProtocolError(.badSyntax, fault: .sending, "\(subject): \(value) exceeds 63 bits")
        }
        bytes.append(HeadReader.space)
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func number(_ value: Int) throws(SyncProtocolError) {
        guard let unsigned = UInt64(exactly: value) else {
            throw SyncProtocolError(.badSyntax, fault: .sending, "\(subject): \(value) is negative")
        }
        try number(unsigned)
    }

    mutating func number(_ value: some WireInteger) throws(SyncProtocolError) { try number(value.rawValue) }

    mutating func bool(_ value: Bool) throws(SyncProtocolError) { try number(value ? 1 : 0) }

    mutating func word(_ text: String) {
        bytes.append(HeadReader.space)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func body(_ first: some Collection<UInt8>, _ second: [UInt8] = []) {
        bytes.append(HeadReader.lineFeed)
        bytes.append(contentsOf: first)
        bytes.append(contentsOf: second)
    }

    mutating func cursors(_ progress: SyncProgress) throws(SyncProtocolError) {
        try number(progress.download.serverVersion)
        try number(progress.download.clientVersion)
        try number(progress.latest.version)
        try number(progress.latest.salt)
        try number(progress.upload.clientVersion)
        try number(progress.upload.serverVersion)
    }

    mutating func sizes(of body: Body) throws(SyncProtocolError) {
        try bool(body.compressed)
        try number(body.plainSize)
        try number(body.packedSize)
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
