internal import Foundation
internal import GRDB
internal import RealmState
import SyncModel

/// What a realm's file has by name, in the table `meta`.
extension Database {
    func meta(_ name: String) throws -> Data? {
        try Data.fetchOne(self, sql: "SELECT value FROM meta WHERE name = ?", arguments: [name])
    }

    /// A value that is stored as JSON.
    func meta<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value? {
        try meta(name).map { try JSONDecoder().decode(type, from: $0) }
    }

    func number(_ name: String) throws -> UInt64? {
        try meta(name).flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
    }

    /// - Parameter value: nil to delete what is there.
    func setMeta(_ name: String, _ value: Data?) throws {
        guard let value else { return try execute(sql: "DELETE FROM meta WHERE name = ?", arguments: [name]) }
        try cachedStatement(
            sql: "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value"
        ).execute(arguments: [name, value])
    }

    func setMeta(_ name: String, encoding value: some Encodable) throws {
        try setMeta(name, JSONEncoder().encode(value))
    }

    func setNumber(_ name: String, _ number: UInt64) throws { try setMeta(name, Data(String(number).utf8)) }

    func storedSchema() throws -> StoredSchema {
        try meta("schema").map { try StoredSchema(decoding: [UInt8]($0)) } ?? StoredSchema()
    }

    func realmVersion() throws -> ClientVersion { ClientVersion(try number("version") ?? 1) }
}

extension SyncFileState {
    static func stored(in database: Database) throws -> Self {
        try database.meta("sync", as: Self.self) ?? Self()
    }

    func store(in database: Database) throws { try database.setMeta("sync", encoding: self) }

    /// What a closed file knows of its server.
    static func stored(at file: URL) throws -> Self {
        let database = try DatabaseQueue(path: file.path, configuration: .waiting(10))
        defer { try? database.close() }
        return try database.read { try $0.tableExists("meta") ? .stored(in: $0) : Self() }
    }

    /// What a closed file knows of its server; nil if the file is damaged or encrypted.
    static func readable(at file: URL) throws -> Self? {
        // Do not open a file that is no SQLite database: SQLite would remove its log.
        guard try RealmFileSet.isPlainDatabase(file) else { return nil }
        do {
            return try stored(at: file)
        } catch {
            guard FileFailure.isDamage(error) else { throw error }
            return nil
        }
    }
}

extension IndexedProperties {
    static func stored(in database: Database) throws -> Self {
        try database.meta("indexes", as: Self.self) ?? Self()
    }

    func store(in database: Database) throws { try database.setMeta("indexes", encoding: self) }
}
