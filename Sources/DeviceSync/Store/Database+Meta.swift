internal import Foundation
internal import GRDB

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
}
