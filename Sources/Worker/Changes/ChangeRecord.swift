import AMQP
import Foundation
import Messages
import Storage
import SyncModel

/// A change with its place, ready to be published.
struct PlacedChange: Equatable {
    var routingKey: String
    /// The message's id.
    var id: String
    var body: [UInt8]

    /// What it takes in a record.
    fileprivate var size: Int { routingKey.utf8.count + id.utf8.count + body.count + 12 }
}

/// Changes of one realm that one record of the outbox holds, until all of them have arrived.
struct ChangeRecord: Equatable {
    /// The first byte of a record, which no JSON begins with: other records of the outbox are JSON.
    private static let mark: UInt8 = 1
    /// What a record holds, but for one that has a single change.
    static let maxBytes = 1 << 20

    var changes: [PlacedChange]
    /// Seconds of Unix time.
    var at: UInt64

    /// - Returns: records for all changes, in their order.
    static func records(_ changes: [PlacedChange], at: UInt64) -> [ChangeRecord] {
        var records: [ChangeRecord] = []
        var bytes = 0
        for change in changes {
            if records.isEmpty || bytes + change.size > maxBytes {
                records.append(ChangeRecord(changes: [], at: at))
                bytes = 0
            }
            records[records.count - 1].changes.append(change)
            bytes += change.size
        }
        return records
    }

    /// Has the outbox keep changes until they have arrived.
    ///
    /// - Parameter now: milliseconds of Unix time.
    /// - Returns: what to publish once the batch is durable.
    static func stage(_ changes: [PlacedChange], at now: UInt64, in batch: inout SliceBatch) -> [Publication] {
        records(changes, at: now / 1_000).flatMap { record in
            let id = UUID().uuidString
            batch.outbox.append(OutboxRecord(id: id, body: record.encoded()))
            return record.publications(outboxID: id)
        }
    }

    init(changes: [PlacedChange], at: UInt64) {
        self.changes = changes
        self.at = at
    }

    /// Nil for what is no such record.
    init?(decoding bytes: [UInt8]) {
        var rest = bytes[...]
        func number(_ count: Int) -> UInt64? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
        func string() -> [UInt8]? {
            guard let count = number(4), count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(Int(count)) }
            return Array(rest.prefix(Int(count)))
        }
        guard number(1) == UInt64(Self.mark), let at = number(8) else { return nil }
        self.init(changes: [], at: at)
        while !rest.isEmpty {
            guard let key = string(), let id = string(), let body = string() else { return nil }
            changes.append(
                PlacedChange(
                    routingKey: String(decoding: key, as: UTF8.self), id: String(decoding: id, as: UTF8.self),
                    body: body))
        }
    }

    func encoded() -> [UInt8] {
        var bytes = [Self.mark]
        bytes.reserveCapacity(changes.reduce(9) { $0 + $1.size })
        func append(_ value: UInt64, _ count: Int) {
            for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
        }
        func append(_ string: [UInt8]) {
            append(UInt64(string.count), 4)
            bytes += string
        }
        append(at, 8)
        for change in changes {
            append(Array(change.routingKey.utf8))
            append(Array(change.id.utf8))
            append(change.body)
        }
        return bytes
    }

    /// - Parameter outboxID: the id of the record.
    func publications(outboxID: String) -> [Publication] {
        changes.map { change in
            let properties = AMQPProperties(
                type: ChangeMessage.type, messageID: change.id, timestamp: at, contentType: ContentType.json,
                persistent: true)
            var publication = Publication(
                .changes(key: change.routingKey), AMQPMessage(body: change.body, properties: properties))
            publication.outboxID = outboxID
            return publication
        }
    }
}
