import Changesets
import RealmState
import Storage

/// The classes of realms that become one, with the property that says which partition an object is of. Pure.
struct MovedSchema {
    let field: ByteString
    /// The property's type; nil while no partition has one.
    private(set) var type: PayloadType?
    private struct Known {
        var kind: TableType
        var key: KeySchema?
        var columns: [ByteString: ColumnSchema] = [:]
    }
    private var classes: [ByteString: Known] = [:]

    init(field: String) { self.field = ByteString(field) }

    /// Takes a realm in.
    ///
    /// - Throws: `MoveProblem` if its classes and those of the others do not go together.
    mutating func add(_ schema: Schema, of key: PartitionKey) throws(MoveProblem) {
        if let wanted = key.type {
            guard type == nil || type == wanted else {
                throw MoveProblem("the app's partitions are of several types, and \(field.string) can have one")
            }
            type = wanted
        }
        for table in schema.tables {
            guard table.kind != .asymmetric else {
                throw MoveProblem("class \(table.name.string) is asymmetric: its objects are not kept anywhere")
            }
            var known = classes[table.name] ?? Known(kind: table.kind, key: table.key)
            guard known.kind == table.kind, known.key == table.key else {
                throw MoveProblem("class \(table.name.string) has several primary keys")
            }
            for column in table.columns {
                if let other = known.columns[column.name] {
                    guard other.element == column.element, other.collection == column.collection else {
                        throw MoveProblem(
                            "property \(column.name.string) of class \(table.name.string) has several types")
                    }
                } else {
                    known.columns[column.name] = column
                }
            }
            classes[table.name] = known
        }
        for table in schema.tables where table.kind == .topLevel {
            if table.key?.name == field {
                throw MoveProblem(
                    "the primary key of class \(table.name.string) is \(field.string): name another field")
            }
            guard let column = table.columns.first(where: { $0.name == field }) else { continue }
            guard column.collection == .single, type == nil || column.element.type == type, column.element.target == nil
            else {
                throw MoveProblem(
                    "property \(field.string) of class \(table.name.string) cannot hold a partition: name another field"
                )
            }
        }
    }

    /// A realm's schema, with the property in each of its top-level classes.
    ///
    /// - Parameter type: of the property where it is new.
    static func extended(_ schema: Schema, by field: ByteString, _ type: PayloadType) throws -> Schema {
        var changeset = Changeset()
        for table in schema.tables where table.kind == .topLevel {
            guard !table.columns.contains(where: { $0.name == field }) else { continue }
            let name = changeset.strings.intern(table.name)
            let property = changeset.strings.intern(field)
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: name, field: property, type: type, nullable: true, collection: .single, linkTarget: nil,
                        keyType: nil)))
        }
        guard !changeset.instructions.isEmpty else { return schema }
        var state = RealmState(schema: schema)
        try state.apply(changeset)
        return state.schema
    }
}

/// Why an app cannot move to the other sync mode.
struct MoveProblem: Error, Equatable {
    var reason: String
    init(_ reason: String) { self.reason = reason }
}

extension CoordinatorContext {
    /// The slices' stores, which an app is moved from.
    func storesToMove() throws(MoveProblem) -> any StoreInspector {
        guard let stores = configuration.stores else {
            throw MoveProblem("this coordinator cannot read the slices' stores")
        }
        return stores
    }
}

extension PartitionKey {
    /// A partition as an object's property holds it; nil for what no partition can be.
    init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .string(let text): self = .string(text.string)
        case .int(let number): self = .int(number)
        case .objectID(let id): self = .objectID(id)
        case .uuid(let id): self = .uuid(id)
        default: return nil
        }
    }

    var value: Value {
        switch self {
        case .null: .null
        case .string(let text): .string(ByteString(text))
        case .int(let number): .int(number)
        case .objectID(let id): .objectID(id)
        case .uuid(let id): .uuid(id)
        }
    }
}
