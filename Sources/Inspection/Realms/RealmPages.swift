import Changesets
import RealmState
package import Storage
package import SyncModel

/// A stored realm, looked at page by page beside its owner: for pages that people turn.
package struct RealmPages: Sendable {
    /// The most bytes of objects or changesets that one page reads.
    static let bytes = 1 << 20

    /// A class of the realm.
    package struct ClassSummary: Codable, Sendable, Equatable {
        package var name: String
        package var kind: String
        package var primaryKey: String?
        package var properties: [Property]

        package struct Property: Codable, Sendable, Equatable {
            package var name: String
            package var type: String
        }
    }

    /// A version of the history, without its content.
    package struct VersionSummary: Codable, Sendable, Equatable {
        package var version: ServerVersion
        /// The client file that has written the version; 1 is the server.
        package var clientFile: FileIdent
        package var user: String?
        /// When it was written by the writer's clock, in milliseconds of Unix time.
        package var at: Int64
        package var bytes: Int
        /// How many instructions it has by class.
        package var touches: [Touch]

        package struct Touch: Codable, Sendable, Equatable {
            package var className: String
            package var instructions: Int
        }
    }

    /// An object as MongoDB extended JSON: what a user wrote.
    package struct ObjectLine: Sendable {
        package var row: ObjectRow
        package var className: String
        package var json: String
    }

    let reader: any SliceReader
    package let record: RealmRecord

    package init(reader: any SliceReader, record: RealmRecord) {
        self.reader = reader
        self.record = record
    }

    package func classes() throws -> [ClassSummary] {
        try record.storedSchema().tables.sorted { $0.name < $1.name }.map { table in
            ClassSummary(
                name: table.name.string, kind: "\(table.kind)", primaryKey: table.key?.name.string,
                properties: table.columns.sorted { $0.name < $1.name }.map { column in
                    let type =
                        column.element.target?.string ?? (column.element.isMixed ? "mixed" : "\(column.element.type)")
                    let suffix = column.element.nullable && !column.element.isMixed ? "?" : ""
                    let collection = "\(column.collection)"
                    return .init(
                        name: column.name.string,
                        type: collection == "single" ? type + suffix : "\(collection) of \(type)\(suffix)")
                })
        }
    }

    /// The versions below `before`, the newest first; as far as the history is kept.
    package func versions(before: ServerVersion?, limit: Int) async throws -> [VersionSummary] {
        let end = min(before.map { $0.rawValue > 0 ? $0.rawValue - 1 : 0 } ?? .max, record.latest.version.rawValue)
        let start = max(record.historyBase.rawValue, end > UInt64(limit) ? end - UInt64(limit) : 0)
        guard end > start else { return [] }
        let key = HistoryKey(realm: record.id, generation: record.generation)
        var found: [VersionSummary] = []
        var users: [FileIdent: String?] = [:]
        try await reader.forEachHistoryPage(
            of: key, after: ServerVersion(start), through: ServerVersion(end)
        ) { page in
            for entry in page.map(\.entry) {
                if users[entry.originFile] == nil {
                    let file = try await reader.clientFile(ClientFileKey(realm: record.id, ident: entry.originFile))
                    users[entry.originFile] = .some(file?.user)
                }
                found.append(
                    VersionSummary(
                        version: entry.serverVersion, clientFile: entry.originFile,
                        user: users[entry.originFile] ?? nil,
                        at: entry.timestamp.unixMilliseconds, bytes: entry.changeset.count,
                        touches: Self.touches(of: entry.changeset)))
            }
        }
        return found.reversed()
    }

    private static func touches(of bytes: [UInt8]) -> [VersionSummary.Touch] {
        // A changeset that cannot be read is shown with its size alone: sluice realms verify says what is wrong with
        // it.
        guard let changeset = try? Changeset(parsing: bytes) else { return [] }
        var counts: [String: Int] = [:]
        for instruction in changeset.instructions {
            counts[changeset.strings[instruction.target.table]?.string ?? "?", default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.map { .init(className: $0.key, instructions: $0.value) }
    }

    /// A page of objects in the order in which they are stored.
    /// - Parameter className: only this class's; nil: all.
    package func objects(ofClass className: String?, after: ObjectRow?, limit: Int) async throws -> (
        objects: [ObjectLine], next: ObjectRow?
    ) {
        let schema = try record.storedSchema()
        let wanted = try className.map { name in
            guard let table = schema.tables.first(where: { $0.name.string == name }) else {
                throw InspectionError(.notFound, "realm \(record.name) has no class \(name)")
            }
            return table.id.rawValue
        }
        // The objects of the tables before are passed over: rows come by table.
        var last =
            after
            ?? wanted.flatMap { $0 > 0 ? ObjectRow(table: $0 - 1, key: .uuid(UUIDValue(high: .max, low: .max))) : nil }
        var found: [ObjectLine] = []
        while found.count < limit {
            let page = try await reader.objects(in: record.id, after: last, maxBytes: Self.bytes)
            guard !page.isEmpty else { return (found, nil) }
            let export = RealmExport(reader: reader, name: record.name)
            for line in try await export.lines(of: page, in: record.id, schema) {
                if let wanted, line.row.table > wanted { return (found, nil) }
                last = line.row
                if wanted == nil || line.row.table == wanted { found.append(line) }
                if found.count == limit { return (found, last) }
            }
            last = page.last?.row
        }
        return (found, last)
    }
}
