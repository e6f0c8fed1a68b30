import Changesets
import Query
import RealmState

/// A small class with a property of every kind, for tests.
enum TaskRealm {
    static let className: ByteString = "Task"

    static let schema: QuerySchema = {
        func column(
            _ name: ByteString, _ number: UInt32, _ type: QueryType, _ collection: CollectionType = .single,
            isNullable: Bool = false, target: ByteString? = nil, default value: Value = .null
        ) -> QueryProperty {
            QueryProperty(
                name: name, type: type, collection: collection, isNullable: isNullable, target: target,
                slot: .column(ColumnID(rawValue: number)), defaultValue: value)
        }
        let address = QueryClass(
            name: "Address", isEmbedded: true,
            properties: [
                column("city", 0, .string, default: .string("")), column("type", 1, .string, default: .string("")),
                column("coordinates", 2, .double, .list, default: .list([])),
            ])
        let task = QueryClass(
            name: className, isEmbedded: false,
            properties: [
                QueryProperty(name: "_id", type: .int, isNullable: false, slot: .key, defaultValue: .null),
                column("owner", 0, .string, default: .string("")), column("team", 1, .string, isNullable: true),
                column("priority", 2, .int, default: .int(0)), column("estimate", 3, .int, isNullable: true),
                column("progress", 4, .double, default: .double(bits: 0)),
                column("done", 5, .bool, default: .bool(false)),
                column("tags", 6, .string, .list, default: .list([])),
                column("scores", 7, .int, .list, default: .list([])),
                column("labels", 8, .string, .set, default: .set([])),
                column("meta", 9, .mixed, .dictionary, default: .dictionary([:])),
                column("value", 10, .mixed, isNullable: true),
                column("parent", 11, .link, isNullable: true, target: className),
                column("subtasks", 12, .link, .list, target: className, default: .list([])),
                column("address", 13, .link, isNullable: true, target: "Address"),
                column("cost", 14, .decimal, isNullable: true), column("at", 15, .timestamp, isNullable: true),
                column("rating", 16, .float, isNullable: true),
            ])
        return QuerySchema([task, address])
    }()

    static func column(_ name: ByteString) -> ColumnID? {
        guard case .column(let column)? = schema[className]?[name]?.slot else { return nil }
        return column
    }

    static func object(_ values: [ByteString: Value]) -> StoredObject {
        var columns: [ColumnID: Value] = [:]
        for (name, value) in values {
            if let column = column(name) { columns[column] = value }
        }
        return StoredObject(columns)
    }

    static func query(_ text: String, _ arguments: [QueryArgument] = [], limits: QueryLimits = QueryLimits())
        throws(QueryError)
        -> ObjectQuery
    {
        try ObjectQuery(ByteString(text), on: className, schema: schema, arguments: arguments, limits: limits)
    }

    static func error(_ text: String, _ arguments: [QueryArgument] = []) -> QueryError? {
        do throws(QueryError) {
            _ = try query(text, arguments)
            return nil
        } catch {
            return error
        }
    }
}
