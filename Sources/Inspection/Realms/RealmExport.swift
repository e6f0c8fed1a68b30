import Changesets
import Foundation
import Messages
import RealmState
package import Storage
package import SyncModel

/// Writes a stored realm as lines of JSON, page by page: memory does not grow with the realm.
package struct RealmExport {
    /// What is written, for the end of the command.
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

    /// A first line about the realm, one line with each class, then one line an object as MongoDB extended JSON.
    ///
    /// - Throws: `notFound`, `corrupt`.
    package func state(to write: (String) async throws -> Void) async throws -> Count {
        try await reader.withSnapshot { snapshot in
            let record = try await realm(in: snapshot)
            let schema = try record.schema.isEmpty ? Schema() : Schema(decoding: record.schema)
            try await write(Self.line(Head(record, "state")))
            for table in schema.tables.sorted(by: { $0.name < $1.name }) {
                try await write(Self.line(ClassLine(table)))
            }
            var count = Count()
            var last: ObjectRow?
            while true {
                let page = try await snapshot.objects(in: record.id, after: last, maxBytes: 1 << 20)
                guard let end = page.last else { return count }
                let state = try await state(of: page, in: record.id, schema, from: snapshot)
                for (row, _) in page {
                    guard let table = schema.table(TableID(rawValue: row.table)),
                        let json = StateDump.json(of: ObjectAddress(table.name, row.key), in: state)
                    else { throw InspectionError(.corrupt, "realm \(name) has an object that cannot be written") }
                    try await write(#"{"class":\#(Self.quoted(table.name.string)),"object":\#(json)}"#)
                    count.objects += 1
                }
                last = end.row
            }
        }
    }

    /// A first line about the realm, then one line a version, its changeset in hexadecimal. Where the history was compacted,
    /// the changesets of its newest base come first, and then the versions that follow that: applied in their order, the lines
    /// always make the state.
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
        var after = start
        while after < end {
            let page = try await reader.history(of: key, after: after, through: end, maxBytes: 1 << 20)
            guard let last = page.last else {
                throw InspectionError(.corrupt, "realm \(name) has no version \(after + 1) in its history")
            }
            for entry in page { try await write(Self.line(VersionLine(entry, base: base))) }
            count.versions += page.count
            after = last.version
        }
    }

    private func realm(in reader: any SliceReader) async throws -> RealmRecord {
        guard let record = try await reader.realm(name) else {
            throw InspectionError(.notFound, "there is no realm \(name.partition) of app \(name.app)")
        }
        return record
    }

    /// The page's objects, and those that their links lead to, which are needed to know whether they exist.
    private func state(
        of page: [(row: ObjectRow, body: [UInt8])], in realm: RealmID, _ schema: Schema,
        from reader: any SliceReader
    ) async throws -> RealmState {
        var state = RealmState(schema: schema, residency: .partial)
        var targets: Set<ObjectAddress> = []
        for (row, body) in page {
            guard let table = schema.table(TableID(rawValue: row.table)) else { continue }
            let object = try StoredObject(decoding: body)
            state.load(ObjectAddress(table.name, row.key), object)
            for entry in object.entries { entry.value.collectLinks(into: &targets) }
        }
        var rows: [ObjectRow: ObjectAddress] = [:]
        for target in targets where !state.contains(target) {
            guard let table = schema.table(target.className)?.id else { continue }
            rows[ObjectRow(table: table.rawValue, key: target.key)] = target
        }
        for row in try await reader.objects(in: realm, at: Array(rows.keys)).keys {
            if let address = rows[row] { state.load(address, StoredObject()) }
        }
        return state
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
        /// The version of the base that it is a part of; then `version` counts the base's changesets.
        var base: ServerVersion?

        init(_ record: HistoryRecord, base: ServerVersion?) {
            self.base = base
            version = record.version
            originFile = record.entry.originFile
            clientVersion = record.entry.clientVersion
            timestamp = record.entry.timestamp
            changeset = HexBytes(record.entry.changeset)
        }
    }

    private static func line(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder.message.encode(value), as: UTF8.self)
    }

    private static func quoted(_ text: String) throws -> String { try line(text) }
}

extension Value {
    fileprivate func collectLinks(into targets: inout Set<ObjectAddress>) {
        switch self {
        case .link(let address): targets.insert(address)
        case .list(let items), .set(let items): for item in items { item.collectLinks(into: &targets) }
        case .dictionary(let entries): for entry in entries { entry.value.collectLinks(into: &targets) }
        case .embedded(let object): for entry in object.entries { entry.value.collectLinks(into: &targets) }
        default: break
        }
    }
}
