import Changesets
import Foundation
import Messages
import RealmState
import Rules
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// Items of owners 0, 1 and 2, as the tests of flexible realms have them.
enum FlexibleItems {
    struct Item: Equatable, CustomStringConvertible {
        var owner: Int64
        var a: Int64
        /// Only where the schema has them.
        var tags: [Int64] = []
        var description: String { "\(owner)/\(a)\(tags.isEmpty ? "" : "\(tags)")" }
    }

    static func schema(hasTags: Bool = false) -> [UInt8] {
        var changeset = Changeset()
        let item = changeset.strings.intern("Item")
        changeset.instructions.append(
            .addTable(
                .init(
                    table: item,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false,
                        asymmetric: false))))
        for name in ["owner", "a"] {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: item, field: changeset.strings.intern(ByteString(name)), type: .int, nullable: false,
                        collection: .single)))
        }
        if hasTags {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: item, field: changeset.strings.intern("tags"), type: .int, nullable: false,
                        collection: .list)))
        }
        return changeset.encoded()
    }

    /// - Parameter a: nil: the property is not set.
    static func create(_ key: Int64, owner: Int64, a: Int64?) -> (inout Changeset) -> Void {
        { changeset in
            let table = changeset.strings.intern("Item")
            changeset.instructions.append(.createObject(table: table, object: .int(key)))
            set(key, "owner", owner)(&changeset)
            if let a { set(key, "a", a)(&changeset) }
        }
    }

    static func set(_ key: Int64, _ field: ByteString, _ value: Int64) -> (inout Changeset) -> Void {
        { changeset in
            let path = FieldPath(
                table: changeset.strings.intern("Item"), object: .int(key), field: changeset.strings.intern(field))
            changeset.instructions.append(
                .update(.init(target: path, value: .int(value), qualifier: .isDefault(false))))
        }
    }

    static func add(_ key: Int64, _ field: ByteString, _ delta: Int64) -> (inout Changeset) -> Void {
        { changeset in
            let path = FieldPath(
                table: changeset.strings.intern("Item"), object: .int(key), field: changeset.strings.intern(field))
            changeset.instructions.append(.addInteger(path, delta: delta))
        }
    }

    /// Puts a tag in an item's list, or takes one out.
    ///
    /// - Parameters:
    ///   - tag: nil: the one at the index is taken out.
    ///   - count: how many there are before.
    static func tag(_ key: Int64, _ tag: Int64?, at index: Int, of count: Int) -> (inout Changeset) -> Void {
        { changeset in
            let path = FieldPath(
                table: changeset.strings.intern("Item"), object: .int(key), field: changeset.strings.intern("tags"),
                path: [.index(UInt32(index))])
            changeset.instructions.append(
                tag.map { .arrayInsert(path, value: .int($0), priorSize: UInt32(count)) }
                    ?? .arrayErase(path, priorSize: UInt32(count)))
        }
    }

    static func erase(_ key: Int64) -> (inout Changeset) -> Void {
        { changeset in
            let table = changeset.strings.intern("Item")
            changeset.instructions.append(.eraseObject(table: table, object: .int(key)))
        }
    }

    /// - Parameter minA: nil: whatever `a` is.
    static func query(_ owners: Set<Int64>, minA: Int64? = nil) -> String {
        var text =
            owners.isEmpty ? "FALSEPREDICATE" : owners.sorted().map { "owner == \($0)" }.joined(separator: " or ")
        if let minA { text = "(\(text)) and a >= \(minA)" }
        return "{\"Item\": \"\(text)\"}"
    }

    static func create(_ key: Int64, _ item: Item) -> (inout Changeset) -> Void {
        create(key, owner: item.owner, a: item.a)
    }

    /// The roles of a user who may read and write items of some owners.
    ///
    /// - Parameters:
    ///   - hidesA: but may neither read nor write their property `a`.
    ///   - maxA: but only those whose `a` is not greater.
    static func roles(
        reads: Set<Int64>, writes: Set<Int64>, hidesA: Bool = false, maxA: Int64? = nil
    ) throws -> String {
        func filter(_ owners: Set<Int64>) -> String {
            let owners = owners.sorted().map { "\($0)" }.joined(separator: ", ")
            return "{\"owner\": {\"$in\": [\(owners)]}\(maxA.map { ", \"a\": {\"$lte\": \($0)}" } ?? "")}"
        }
        let all = #""read": true, "write": true"#
        let access = hidesA ? #""fields": {"a": {"read": false, "write": false}, "owner": {\#(all)}}"# : all
        return try roles(access, read: filter(reads), write: filter(writes))
    }

    /// The roles of a user who may read and write the items of one owner, and read those with so great an `a`.
    static func ownRoles(of owner: Int64, publicA: Int64) throws -> String {
        let own = "{\"owner\": \(owner)}"
        return try roles(
            #""read": true, "write": true"#, read: "{\"$or\": [\(own), {\"a\": {\"$gte\": \(publicA)}}]}", write: own)
    }

    private static func roles(_ access: String, read: String, write: String) throws -> String {
        let text = """
            {"queryable": {"global": ["owner", "a"]}, "defaultRoles": [{"name": "r", "apply_when": {}, \(access),
             "document_filters": {"read": \(read), "write": \(write)}}]}
            """
        let check = RulesCheck(Array(text.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: "u")).text
    }

    /// The roles of a user who may read and write everything, whatever it is.
    static func openRoles() throws -> String {
        let check = RulesCheck(
            Array(
                #"""
                {"queryable": {"global": ["owner", "a"]}, "defaultRoles": [{"name": "r", "apply_when": {}, "read": true, "write": true,
                 "document_filters": {"read": true, "write": true}}]}
                """#.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: "u")).text
    }

    static func items(_ state: RealmState) -> [Int64: Item] {
        read(state.objects(of: "Item"), state.schema)
    }

    static func items(_ harness: OwnerHarness) async throws -> [Int64: Item] {
        let schema = try Schema(decoding: try await harness.record().schema)
        let rows = try await harness.store.objects(in: try await harness.record().id, after: nil, maxBytes: .max)
        let table = schema.table("Item")?.id.rawValue
        return read(
            try rows.filter { $0.row.table == table }.map { ($0.row.key, try StoredObject(decoding: $0.body)) }, schema)
    }

    private static func read(_ objects: [(key: ObjectKey, object: StoredObject)], _ schema: Schema) -> [Int64: Item] {
        var items: [Int64: Item] = [:]
        guard let table = schema.table("Item"), let owner = table.column("owner"), let a = table.column("a") else {
            return [:]
        }
        for (key, object) in objects {
            guard case .int(let key) = key, case .int(let owner) = object[owner] else { continue }
            var item = Item(owner: owner, a: 0)
            if case .int(let a) = object[a] { item.a = a }
            if let tags = table.column("tags"), case .list(let tags) = object[tags] {
                item.tags = tags.compactMap { if case .int(let tag) = $0 { tag } else { nil } }
            }
            items[key] = item
        }
        return items
    }

    /// Compares all entries of the realm's indexes with what its objects have, as far as the indexes are filled.
    ///
    /// - Returns: whether they are.
    @discardableResult
    static func expectSoundIndexes(_ harness: OwnerHarness) async throws -> Bool {
        let record = try await harness.record()
        let schema = try Schema(decoding: record.schema)
        let indexed = IndexedColumns(decoding: record.indexed, at: record.latest.salt)
        guard indexed.isClean else { return false }
        var expected: Set<IndexEntry> = []
        var possible: Set<IndexEntry> = []
        for (row, body) in try await harness.store.objects(in: record.id, after: nil, maxBytes: .max) {
            let table = try #require(schema.table(TableID(rawValue: row.table)))
            for (column, value) in indexed.values(of: try StoredObject(decoding: body), in: table) {
                let entry = IndexEntry(row: row, column: column.rawValue, value: value)
                possible.insert(entry)
                if indexed.isComplete(column, of: table.id) { expected.insert(entry) }
            }
        }
        let entries = try await harness.store.indexEntries(in: record.id, after: nil, limit: 1_000_000)
        expectEqual(Set(entries).count, entries.count)
        expectTrue(Set(entries).isSubset(of: possible) && expected.isSubset(of: entries))
        return !indexed.isBehind && !indexed.isEmpty
    }

    /// The owners that changesets speak of.
    static func owners(in changesets: [[UInt8]]) throws -> Set<Int64> { try values(of: "owner", in: changesets) }

    static func values(of field: ByteString, in changesets: [[UInt8]]) throws -> Set<Int64> {
        var values: Set<Int64> = []
        for bytes in changesets where !bytes.isEmpty {
            let changeset = try Changeset(parsing: bytes)
            for case .update(let update) in changeset.instructions
            where changeset.strings[update.target.field] == field {
                if case .int(let value) = update.value { values.insert(value) }
            }
        }
        return values
    }
}
