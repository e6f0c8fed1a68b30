import Changesets
import Foundation
import RealmState
import SyncModel
import TestSupport
import Testing

@testable import DeviceSync
@testable import MergeConformance
@testable import Query

/// What the reference engine was recorded to select, through filters of a realm in a file. What it was recorded on is the language of servers, not that of predicates.
@Suite(.hangGuard)
struct RecordedFilterTests {
    /// Checks a part of long recordings: what they say of queries is checked on the query module, and here the way there. The check runs on a thread of its
    /// own, since it computes for long.
    @Test(arguments: RecordedVectors.files("queries"))
    func filtersSelectAsRecorded(file: URL) async throws {
        let checked = try await onThread { try Self.check(file) }
        expectTrue(checked > 70)
    }

    /// - Returns: how many queries were checked.
    private static func check(_ file: URL) throws -> Int {
        let lines = Array(try InputFile(path: file.path).lines)
        let head = try JSONParser.parse(Array(try #require(lines.first).bytes))
        let recording = try Recording(head)
        var checked = 0
        let step = max(1, lines.count / 150)
        for line in lines.dropFirst() where (line.number ?? 0) % step == 0 {
            let members = try #require(try JSONParser.parse(Array(line.bytes)).objectValue)
            let query = try #require(RecordedQuery(members, defaultClass: recording.className))
            guard query.accident == nil, !query.isAbort, let arguments = recording.arguments(of: query) else {
                continue
            }
            checked += 1
            let difference = recording.difference(query, arguments)
            expectTrue(difference == nil, "line \(line.number ?? 0): \(query.text)")
        }
        return checked
    }

    /// The check itself tells a wrong recording from a right one.
    @Test(arguments: [
        (#"{"q":"i == 1","canonical":"i == 1","ids":[1]}"#, true),
        (#"{"q":"i == 1","canonical":"i == 1","ids":[2]}"#, false),
        (#"{"q":"i == 1","error":{"kind":"query","why":"x"}}"#, false),
        (#"{"q":"i == 'x'","error":{"kind":"query","why":"x"}}"#, true),
        (#"{"q":"i == $0","args":[{"$numberLong":"1"}],"canonical":"i == 1","ids":[1]}"#, true),
    ])
    func theCheckTellsWrongRecordings(line: String, holds: Bool) throws {
        let head = """
            {"class":"A","schema":[{"name":"A","primaryKey":"_id","properties":[{"name":"_id","type":"int"},
            {"name":"i","type":"int"}]}],"objects":{"A":[{"_id":{"$numberLong":"1"},"i":{"$numberLong":"1"}},
            {"_id":{"$numberLong":"2"},"i":{"$numberLong":"2"}}]}}
            """
        let recording = try Recording(try JSONParser.parse(head))
        let members = try #require(try JSONParser.parse(line).objectValue)
        let query = try #require(RecordedQuery(members, defaultClass: recording.className))
        let arguments = try #require(recording.arguments(of: query))
        expectEqual((recording.difference(query, arguments) == nil), holds)
    }

    @Test func sortLimitAndDistinctAreNoFilters() throws {
        let folder = Folder()
        let realm = try Realm(configuration: folder.configuration)
        let tasks = realm.dynamicObjects("Task")
        for text in ["count > 1 SORT(count ASC)", "count > 1 LIMIT(1)", "count > 1 DISTINCT(count)"] {
            let error = #expect(throws: Realm.Error.self) { try tasks.filter(checking: text) }
            expectEqual(error?.localizedDescription.contains("sorted(by:)"), true)
        }
    }
}

/// A realm with the schema and the objects of a recording.
private struct Recording {
    private let folder = Folder()
    private let recorded: RecordedRealm
    private let realm: Realm

    var className: ByteString { recorded.className }

    init(_ head: JSONValue) throws {
        recorded = try #require(RecordedRealm(head))
        let classes = recorded.schema.classes.values.sorted { $0.name < $1.name }.map(Self.description)
        realm = try Realm(configuration: Realm.Configuration(fileURL: folder.file, dynamicSchema: classes))
        try realm.write {
            for (name, rows) in recorded.rows {
                for row in rows {
                    realm.instance.edit { try $0.createObject(ObjectAddress(name, row.key)) }
                }
            }
            for (name, rows) in recorded.rows {
                let type = try #require(recorded.schema[name])
                for row in rows {
                    let object = try #require(row.object as? StoredObject)
                    for (property, value) in fields(object, type) {
                        let place = FieldAddress(ObjectAddress(name, row.key), property.name)
                        let stored = stored(value, property)
                        realm.instance.edit { try $0.set(place, to: stored) }
                    }
                }
            }
        }
    }

    /// What an app passes for a query's arguments; nil if one of them has no such form: a date beyond what `Date` can tell apart.
    func arguments(of query: RecordedQuery) -> [Any]? {
        var result: [Any] = []
        for argument in query.arguments {
            switch argument {
            case .value(let value):
                guard let value = passed(value) else { return nil }
                result.append(value)
            case .list(let values):
                let items = values.compactMap(passed)
                guard items.count == values.count else { return nil }
                result.append(items)
            }
        }
        return result
    }

    private func passed(_ value: Value) -> Any? {
        switch value {
        case .null: NSNull()
        case .timestamp(let time): TimestampValue(time.date) == time ? time.date : nil
        default: realm.instance.reading.single(value).scalar
        }
    }

    /// How the objects that the filter selects differ from those recorded; nil if they do not.
    func difference(_ query: RecordedQuery, _ arguments: [Any]) -> String? {
        let objects = realm.dynamicObjects(query.className.string)
        let found: [ObjectKey]
        do {
            let parsed = try? ObjectQuery(
                ByteString(query.text), on: query.className, schema: recorded.schema, arguments: query.arguments)
            let text = QueryText(
                text: query.text, arguments: try arguments.map(PredicateFormat.argument), dialect: .language)
            let results = try objects.filtered { .text(text) }
            if parsed?.arrangement.isEmpty == false { return "expected a refusal of what orders objects" }
            if query.isRefused { return "expected a refusal (\(query.reason))" }
            found = results.map(\.address.key)
        } catch {
            let isOrdering = "\(error)".contains("sorted(by:)")
            let isFullText = query.text.contains(" TEXT ")
            return query.isRefused || isOrdering || isFullText ? nil : "found the error \(error)"
        }
        return found == query.ids ? nil : "expected \(query.ids.map(\.text)), found \(found.map(\.text))"
    }

    // MARK: Schema and values

    private static func description(_ type: QueryClass) -> ObjectSchemaDescription {
        let properties = type.properties.values.sorted { $0.name < $1.name }
        let others = properties.filter { $0.slot != .key }.map(Self.description)
        guard !type.isEmbedded else { return ObjectSchemaDescription(embedded: type.name.string, properties: others) }
        return ObjectSchemaDescription(
            name: type.name.string, kind: .topLevel,
            primaryKey: properties.first { $0.slot == .key }.map(Self.description), properties: others)
    }

    private static func description(_ property: QueryProperty) -> PropertyDescription {
        let type: PropertyContent =
            switch property.type {
            case .int: .int
            case .bool: .bool
            case .string: .string
            case .binary: .data
            case .timestamp: .date
            case .float: .float
            case .double: .double
            case .decimal: .decimal128
            case .objectID: .objectId
            case .uuid: .uuid
            case .link: .object(property.target?.string ?? "")
            case .mixed, .typeName, .null: .any
            }
        let collection: PropertyCollection =
            switch property.collection {
            case .single: .none
            case .list: .list
            case .set: .set
            case .dictionary: .map
            }
        return PropertyDescription(
            property.name.string, type, isOptional: property.isNullable, collection: collection)
    }

    private func fields(_ object: StoredObject, _ type: QueryClass) -> [(QueryProperty, Value)] {
        object.entries.compactMap { entry in
            type.properties.values.first { $0.slot == .column(entry.column) }.map { ($0, entry.value) }
        }
    }

    /// The value with the realm's own columns.
    private func stored(_ value: Value, _ property: QueryProperty) -> Value {
        switch value {
        case .list(let items): return .list(items.map { stored($0, property) })
        case .dictionary(let entries): return .dictionary(entries.mapValues { stored($0, property) })
        case .embedded(let object):
            guard let name = property.target, let type = recorded.schema[name],
                let table = realm.instance.schema.table(name)
            else { return .null }
            var result = StoredObject()
            for (property, value) in fields(object, type) {
                if let column = table.column(property.name) { result[column.id] = stored(value, property) }
            }
            return .embedded(result)
        default: return value
        }
    }
}
