import Changesets
import RealmState
import Storage
import SyncModel

/// The classes and properties of an app that its realms declare, and those of them that some object uses. Both are
/// known by name: the same name may have several types in several realms.
///
/// A class is used if there is an object of it, embedded ones among them; a property if some object has a value for it other than
/// its default. Objects of asymmetric classes are not kept, so such a class always counts as used.
struct SchemaSurvey {
    struct Name: Hashable {
        var className: String
        /// Nil for the class itself.
        var property: String?
    }

    private(set) var declared: Set<Name> = []
    private(set) var used: Set<Name> = []

    /// Whether every element of the schema is known to be used: then its realm's objects say nothing new.
    func isUsed(_ schema: Schema) -> Bool {
        schema.tables.allSatisfy { table in
            used.contains(Name(table)) && table.columns.allSatisfy { used.contains(Name(table, $0)) }
        }
    }

    /// Takes in what a realm declares.
    mutating func add(_ schema: Schema) {
        for table in schema.tables {
            declare(Name(table), isUsed: table.kind == .asymmetric)
            for column in table.columns { declare(Name(table, column), isUsed: table.kind == .asymmetric) }
            if let key = table.key { declare(Name(className: table.name.string, property: key.name.string)) }
        }
    }

    /// Takes in an object of one of the realm's classes.
    mutating func add(_ object: StoredObject, of table: TableSchema, in schema: Schema) {
        used.insert(Name(table))
        if let key = table.key { used.insert(Name(className: table.name.string, property: key.name.string)) }
        for column in table.columns {
            guard let value = object[column.id] else { continue }
            used.insert(Name(table, column))
            if let target = column.element.target.flatMap(schema.table), target.kind == .embedded {
                addEmbedded(value, of: target, in: schema)
            }
        }
    }

    private mutating func addEmbedded(_ value: Value, of table: TableSchema, in schema: Schema) {
        switch value {
        case .embedded(let object): add(object, of: table, in: schema)
        case .list(let values): for value in values { addEmbedded(value, of: table, in: schema) }
        case .dictionary(let values): for value in values.values { addEmbedded(value, of: table, in: schema) }
        default: break
        }
    }

    private mutating func declare(_ name: Name, isUsed: Bool = false) {
        declared.insert(name)
        if isUsed { used.insert(name) }
    }
}

extension SchemaSurvey.Name {
    init(_ table: TableSchema) { self.init(className: table.name.string) }
    init(_ table: TableSchema, _ column: ColumnSchema) {
        self.init(className: table.name.string, property: column.name.string)
    }
    init(_ element: SchemaElement) { self.init(className: element.className, property: element.property) }
}

extension SchemaSurvey {
    /// Bytes of objects that are held at once.
    static let pageBytes = 1 << 20

    /// Reads what the app's realms in a slice declare, and as many of their objects as it takes to tell what of it is used.
    mutating func read(_ app: String, in reader: any SliceReader) async throws {
        try await reader.forEachRealm(app: app) { realm in
            guard !realm.schema.isEmpty else { return }
            let schema = try Schema(decoding: realm.schema)
            add(schema)
            var last: ObjectRow?
            while !isUsed(schema) {
                let page = try await reader.objects(in: realm.id, after: last, maxBytes: Self.pageBytes)
                guard let end = page.last else { break }
                for (row, body) in page {
                    guard let table = schema.table(TableID(rawValue: row.table)) else { continue }
                    add(try StoredObject(decoding: body), of: table, in: schema)
                }
                last = end.row
            }
        }
    }

    /// What may be taken back of an app's schema: what no object uses. In development mode a client that declares it again brings
    /// it back; without, it would be refused, so what some realm declares stays.
    ///
    /// - Parameter declaredToo: whether also that goes.
    func unused(of elements: [SchemaElement], inDevelopmentMode: Bool, declaredToo: Bool) -> [SchemaElement] {
        elements.filter { element in
            let name = Name(element)
            guard !used.contains(name) else { return false }
            return !declared.contains(name) || inDevelopmentMode || declaredToo
        }
    }
}
