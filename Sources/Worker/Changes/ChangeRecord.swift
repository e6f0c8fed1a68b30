import AMQP
import Foundation
import Messages
import Storage
import SyncModel

/// Messages that tell changes of one realm and that one record of the outbox holds, until all of them have arrived.
struct ChangeRecord: Equatable {
    /// The first byte of a record, which no JSON begins with: other records of the outbox are JSON.
    private static let mark: UInt8 = 2
    /// The bytes of a record, but for one that has a single message.
    static let maxBytes = 1 << 20

    var messages: [ToldChangesMessage]
    /// Seconds of Unix time.
    var at: UInt64

    /// - Returns: records for all messages, in their order.
    static func records(_ messages: [ToldChangesMessage], at: UInt64) -> [ChangeRecord] {
        var records: [ChangeRecord] = []
        var bytes = 0
        for message in messages {
            if records.isEmpty || bytes + message.size > maxBytes {
                records.append(ChangeRecord(messages: [], at: at))
                bytes = 0
            }
            records[records.count - 1].messages.append(message)
            bytes += message.size
        }
        return records
    }

    /// Has the outbox keep a realm's changes until they have arrived.
    ///
    /// - Parameter now: milliseconds of Unix time.
    /// - Returns: what to publish once the batch is durable.
    static func stage(
        _ changes: [PlacedChange], of realm: RealmName, at now: UInt64, in batch: inout SliceBatch
    ) -> [Publication] {
        guard !changes.isEmpty else { return [] }
        return records(ToldChangesMessage.messages(of: changes, in: realm), at: now / 1_000).flatMap { record in
            let id = UUID().uuidString
            batch.outbox.append(OutboxRecord(id: id, body: record.encoded()))
            return record.publications(outboxID: id)
        }
    }

    init(messages: [ToldChangesMessage], at: UInt64) {
        self.messages = messages
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
        self.init(messages: [], at: at)
        while !rest.isEmpty {
            guard let count = number(4), let key = string(), let id = string(), let body = string() else { return nil }
            messages.append(
                ToldChangesMessage(
                    routingKey: String(decoding: key, as: UTF8.self), id: String(decoding: id, as: UTF8.self),
                    body: body, count: Int(count)))
        }
    }

    func encoded() -> [UInt8] {
        var bytes = [Self.mark]
        bytes.reserveCapacity(messages.reduce(9) { $0 + $1.size })
        func append(_ value: UInt64, _ count: Int) {
            for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
        }
        func append(_ string: [UInt8]) {
            append(UInt64(string.count), 4)
            bytes += string
        }
        append(at, 8)
        for message in messages {
            append(UInt64(message.count), 4)
            append(Array(message.routingKey.utf8))
            append(Array(message.id.utf8))
            append(message.body)
        }
        return bytes
    }

    /// - Parameter outboxID: the id of the record.
    func publications(outboxID: String) -> [Publication] {
        messages.map { message in
            let properties = AMQPProperties(
                type: ChangesMessage.type, messageID: message.id, timestamp: at, contentType: ContentType.json,
                persistent: true)
            var publication = Publication(
                .changes(key: message.routingKey), AMQPMessage(body: message.body, properties: properties))
            publication.outboxID = outboxID
            publication.changes = message.count
            return publication
        }
    }
}
