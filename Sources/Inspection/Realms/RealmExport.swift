import Changesets
import Foundation
import Messages
import RealmState
package import Storage
package import SyncModel

/// Writes a stored realm as lines of JSON, page by page: memory does not grow with the realm.
package struct RealmExport {
    /// How much was written.
    package struct Count: Sendable, Equatable {
        package var objects = 0
        package var versions = 0
    }

    let reader: any SliceReader
    let name: RealmName

    package init(reader: any SliceReader, name: RealmName) {
        self.reader = reader
        self.name = name
    }

    /// Writes a line about the realm, a line for each class, and a line for each object, as MongoDB extended JSON.
    ///
    /// - Throws: `notFound`, `corrupt`.
    package func state(to write: (String) async throws -> Void) async throws -> Count {
        try await reader.withSnapshot { snapshot in
            let record = try await realm(in: snapshot)
            let schema = try record.storedSchema()
            try await write(Self.line(Head(record, "state")))
            for table in schema.tables.sorted(by: { $0.name < $1.name }) {
                try await write(Self.line(ClassLine(table)))
            }
            var count = Count()
            try await snapshot.forEachObjectPage(in: record.id) { page in
                let state = try await state(of: page, in: record.id, schema, from: snapshot)
                for (row, _) in page {
                    guard let address = schema.address(of: row), let json = StateDump.json(of: address, in: state)
                    else { throw InspectionError(.corrupt, "realm \(name) has an object that cannot be written") }
                    let className = try Self.line(address.className.string)
                    try await write(#"{"class":\#(className),"object":\#(json)}"#)
                    count.objects += 1
                }
            }
            return count
        }
    }

    /// Writes a line about the realm, then a line for each version with its changeset in hexadecimal. If the history was
    /// compacted, the changesets of its newest base come first, and then the versions that follow. Applied in their order, the
    /// lines always give the state.
    ///
    /// - Throws: `notFound`, `corrupt`.
    package func history(to write: (String) async throws -> Void) async throws -> Count {
        try await reader.withSnapshot { snapshot in
            let record = try await realm(in: snapshot)
            try await write(Self.line(Head(record, "history")))
            var count = Count()
            var after: ServerVersion = 0
            if record.historyBase > 0 {
                guard
                    let base = try await snapshot.newestBase(of: record.id, generation: record.generation)
                else { throw InspectionError(.corrupt, "realm \(name) has neither its whole history nor a base") }
                try await versions(
                    of: base.historyKey, after: 0, through: base.lastEntry, base.version, from: snapshot, write, &count)
                after = base.version
            }
            let key = HistoryKey(realm: record.id, generation: record.generation)
            try await versions(
                of: key, after: after, through: record.latest.version, nil, from: snapshot, write, &count)
            return count
        }
    }

    private func versions(
        of key: HistoryKey, after start: ServerVersion, through end: ServerVersion, _ base: ServerVersion?,
        from reader: any SliceReader, _ write: (String) async throws -> Void, _ count: inout Count
    ) async throws {
        let reached = try await reader.forEachHistoryPage(of: key, after: start, through: end) { page in
            for entry in page { try await write(Self.line(VersionLine(entry, base: base))) }
            count.versions += page.count
        }
        guard reached >= end else {
            throw InspectionError(.corrupt, "realm \(name) has no version \(reached + 1) in its history")
        }
    }

    private func realm(in reader: any SliceReader) async throws -> RealmRecord {
        guard let record = try await reader.realm(name) else {
            throw InspectionError(.notFound, "there is no realm \(name.partition) of app \(name.app)")
        }
        return record
    }

    /// A state with the page's objects and with the targets of their links that exist.
    private func state(
        of page: [(row: ObjectRow, body: [UInt8])], in realm: RealmID, _ schema: Schema,
        from reader: any SliceReader
    ) async throws -> RealmState {
        var state = RealmState(schema: schema, residency: .partial)
        var targets: Set<ObjectAddress> = []
        for (row, body) in page {
            guard let address = schema.address(of: row) else { continue }
            let object = try StoredObject(decoding: body)
            state.load(address, object)
            object.forEachLink { targets.insert($0) }
        }
        let missing = targets.filter { !state.contains($0) }
        for address in try await reader.objects(in: realm, at: missing, schema).keys {
            state.load(address, StoredObject())
        }
        return state
    }

    /// The objects of one page, as lines.
    func lines(
        of page: [(row: ObjectRow, body: [UInt8])], in realm: RealmID, _ schema: Schema
    ) async throws -> [RealmPages.ObjectLine] {
        let state = try await state(of: page, in: realm, schema, from: reader)
        return page.compactMap { row, _ in
            guard let address = schema.address(of: row), let json = StateDump.json(of: address, in: state) else {
                return nil
            }
            return RealmPages.ObjectLine(row: row, className: address.className.string, json: json)
        }
    }

    // MARK: Lines

    private struct Head: Encodable {
        var app: String
        var partition: String
        var generation: UInt64
        var version: ServerVersion
        var historyBase: ServerVersion
        var content: String

        init(_ record: RealmRecord, _ content: String) {
            app = record.name.app
            partition = record.name.partition
            generation = record.generation
            version = record.latest.version
            historyBase = record.historyBase
            self.content = content
        }
    }

    private struct ClassLine: Encodable {
        struct Column: Encodable {
            var name: String
            var type: String
            var collection: String
            var nullable: Bool
            var target: String?
        }

        struct Key: Encodable {
            var name: String
            var type: String
            var nullable: Bool
        }

        var schema: String
        var kind: String
        var primaryKey: Key?
        var columns: [Column]

        init(_ table: TableSchema) {
            schema = table.name.string
            kind = "\(table.kind)"
            primaryKey = table.key.map { Key(name: $0.name.string, type: "\($0.type)", nullable: $0.nullable) }
            columns = table.columns.sorted { $0.name < $1.name }.map {
                Column(
                    name: $0.name.string, type: $0.element.isMixed ? "mixed" : "\($0.element.type)",
                    collection: "\($0.collection)", nullable: $0.element.nullable, target: $0.element.target?.string)
            }
        }
    }

    private struct VersionLine: Encodable {
        var version: ServerVersion
        var originFile: FileIdent
        var clientVersion: ClientVersion
        var timestamp: SyncTimestamp
        var changeset: HexBytes
        /// The message id of the published event that made the version.
        var event: String?
        /// The version of the base that the changeset belongs to; `version` then counts the base's changesets.
        var base: ServerVersion?

        init(_ record: HistoryRecord, base: ServerVersion?) {
            self.base = base
            version = record.version
            originFile = record.entry.originFile
            clientVersion = record.entry.clientVersion
            timestamp = record.entry.timestamp
            event = record.event.isEmpty ? nil : record.event
            changeset = HexBytes(record.entry.changeset)
        }
    }

    private static func line(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder.message.encode(value), as: UTF8.self)
    }
}
