import Changesets
import ExtendedJSON
import Query
import RealmState

/// Records writes as instructions, one write after the other on what the ones before it have left.
struct WriteRecorder {
    private(set) var mapping: DocumentMapping
    let limits: DocumentLimits
    let options: WriteOptions
    var transaction: RecordingTransaction
    private var queries: QuerySchema?

    init(taking state: inout RealmState, _ options: WriteOptions) {
        mapping = DocumentMapping(schema: state.schema)
        limits = options.limits
        self.options = options
        transaction = RecordingTransaction(taking: &state, allowsMissingTargets: true)
    }

    mutating func add(_ additions: [SchemaAddition]) throws(DocumentError) {
        guard !additions.isEmpty else { return }
        try recording { () throws(RecordingError) in
            for addition in additions {
                switch addition {
                case .table(let name, let key): try transaction.createTable(name, key: key)
                case .column(let table, let name, let element, let collection):
                    try transaction.addColumn(table, name, element, collection: collection)
                }
            }
        }
        mapping = DocumentMapping(schema: transaction.state.schema)
        queries = nil
    }

    mutating func perform(_ write: DocumentWrite) throws(DocumentError) -> WriteResult {
        let table = try mapping.table(write.className)
        switch write.operation {
        case .insert(let document):
            return try at(.key("document")) { () throws(DocumentError) in try insert(document, table) }
        case .upsert(let document): return try upsert(document, table, write.onlyIf)
        case .replace(let id, let document): return try replace(id, document, table, write.onlyIf)
        case .update(let target, let updates):
            let result = try change(target, table, write.onlyIf) { recorder, address throws(DocumentError) in
                for update in updates { try recorder.apply(update, to: address, table) }
            }
            if result.matched == 0 { try check(updates, of: table) }
            return result
        case .delete(let target):
            return try change(target, table, write.onlyIf) { recorder, address throws(DocumentError) in
                try recording { () throws(RecordingError) in try recorder.transaction.eraseObject(address) }
            }
        }
    }

    // MARK: Whole objects

    private mutating func insert(_ document: BSONDocument, _ table: TableSchema) throws(DocumentError) -> WriteResult {
        let content = try mapping.content(document, of: table)
        _ = try mapping.object(content, of: table)
        let key = if let key = content.key { key } else { try newKey(of: table) }
        let address = ObjectAddress(table.name, key)
        guard try object(address) == nil else {
            let name = table.key?.name ?? ""
            throw DocumentError(
                .objectExists, "a \(table.name) with this primary key is there already", at: .root.key(name))
        }
        try create(address, content.fields)
        return WriteResult(matched: 0, modified: 0, inserted: DocumentMapping.value(of: address.key))
    }

    /// Makes an object with all that is given, but for nulls and empty collections, which are there anyway.
    private mutating func create(
        _ address: ObjectAddress, _ fields: [(column: ColumnSchema, value: Value)]
    ) throws(DocumentError) {
        let written = fields.filter {
            $0.value != .null && !($0.column.collection != .single && $0.value.isEmptyCollection)
        }
        let plain = written.filter { $0.column.collection == .single && $0.value.isNullOrScalar }
        try recording { () throws(RecordingError) in
            _ = try transaction.createIfMissing(address, with: plain.map { PlainValue($0.column, $0.value) })
        }
        for (column, value) in written where !(column.collection == .single && value.isNullOrScalar) {
            try at(.key(column.name)) { () throws(DocumentError) in
                try recording { () throws(RecordingError) in
                    try transaction.set(FieldAddress(address, column.name), to: value)
                }
            }
        }
    }

    private func newKey(of table: TableSchema) throws(DocumentError) -> ObjectKey {
        switch table.key?.type {
        case .objectID?: return .objectID(options.newObjectID())
        case .uuid?: return .uuid(options.newUUID())
        default:
            let name = table.key?.name ?? ""
            throw DocumentError(
                .missingField,
                "expected \(table.key?.type.documentName ?? "nothing"), the primary key of \(table.name)",
                at: .root.key(name))
        }
    }

    private mutating func upsert(
        _ document: BSONDocument, _ table: TableSchema, _ condition: BSONDocument?
    ) throws(DocumentError) -> WriteResult {
        let content = try at(.key("document")) { () throws(DocumentError) in try mapping.content(document, of: table) }
        if let key = content.key {
            let address = ObjectAddress(table.name, key)
            if let object = try object(address) {
                try check(condition, address, object, table)
                return try counting(address) { recorder throws(DocumentError) in
                    try at(.key("document")) { () throws(DocumentError) in
                        try recorder.assign(content.fields, to: address, from: object)
                    }
                }
            }
        }
        try requireNone(condition, table)
        return try at(.key("document")) { () throws(DocumentError) in try insert(document, table) }
    }

    private mutating func replace(
        _ id: BSONValue, _ document: BSONDocument, _ table: TableSchema, _ condition: BSONDocument?
    ) throws(DocumentError) -> WriteResult {
        let key = try at(.key("id")) { () throws(DocumentError) in try mapping.key(id, of: table) }
        let whole = try at(.key("document")) { () throws(DocumentError) in
            let content = try mapping.content(document, of: table)
            guard content.key == nil || content.key == key else {
                throw DocumentError(
                    .immutableKey, "expected the primary key of the object that is replaced, or none",
                    at: .root.key(table.key?.name ?? ""))
            }
            return try mapping.object(content, of: table)
        }
        let address = ObjectAddress(table.name, key)
        guard let object = try object(address) else {
            try requireNone(condition, table)
            return WriteResult()
        }
        try check(condition, address, object, table)
        return try counting(address) { recorder throws(DocumentError) in
            try at(.key("document")) { () throws(DocumentError) in
                try recorder.assign(table.columns.map { ($0, whole[$0]) }, to: address, from: object)
            }
        }
    }

    private mutating func assign(
        _ fields: [(column: ColumnSchema, value: Value)], to address: ObjectAddress, from object: StoredObject
    ) throws(DocumentError) {
        try NarrowWrite(mapping: mapping).assign(fields, to: address, from: object, in: &transaction)
    }

    // MARK: Objects that are there

    private mutating func change(
        _ target: DocumentWrite.Target, _ table: TableSchema, _ condition: BSONDocument?,
        _ body: (inout WriteRecorder, ObjectAddress) throws(DocumentError) -> Void
    ) throws(DocumentError) -> WriteResult {
        switch target {
        case .id(let id):
            let key = try at(.key("id")) { () throws(DocumentError) in try mapping.key(id, of: table) }
            let address = ObjectAddress(table.name, key)
            guard let object = try object(address) else {
                try requireNone(condition, table)
                return WriteResult()
            }
            try check(condition, address, object, table)
            return try counting(address) { recorder throws(DocumentError) in try body(&recorder, address) }
        case .filter(let filter, let many):
            var result = WriteResult()
            for key in try matches(filter, many, table) {
                let one = try counting(ObjectAddress(table.name, key)) { recorder throws(DocumentError) in
                    try body(&recorder, ObjectAddress(table.name, key))
                }
                result.matched += one.matched
                result.modified += one.modified
            }
            return result
        }
    }

    private mutating func matches(
        _ filter: BSONDocument, _ many: Bool, _ table: TableSchema
    ) throws(DocumentError) -> [ObjectKey] {
        let filter = try at(.key("filter")) { () throws(DocumentError) in
            try DocumentFilter(filter, on: table, mapping, querySchema(), limits)
        }
        let keys = try options.find(filter, transaction.state, many ? limits.matches + 1 : 1)
        guard keys.count <= limits.matches else {
            throw DocumentError(
                .limit, "expected at most \(limits.matches) objects for one write, the filter selects more",
                at: .root.key("filter"))
        }
        return keys
    }

    private mutating func check(
        _ condition: BSONDocument?, _ address: ObjectAddress, _ object: StoredObject, _ table: TableSchema
    ) throws(DocumentError) {
        guard let condition else { return }
        try at(.key("onlyIf")) { () throws(DocumentError) in
            let filter = try DocumentFilter(condition, on: table, mapping, querySchema(), limits)
            guard filter.matches(object, key: address.key) else {
                throw DocumentError(.conflict, "the \(table.name) is not as it is expected to be")
            }
        }
    }

    /// The schema as queries see it, made for the first filter of a batch.
    private mutating func querySchema() -> QuerySchema {
        if let queries { return queries }
        let made = QuerySchema(mapping.schema)
        queries = made
        return made
    }

    /// Makes sure that nothing is asked of an object that is not there.
    ///
    /// - Throws: also what is wrong with the condition itself.
    private mutating func requireNone(_ condition: BSONDocument?, _ table: TableSchema) throws(DocumentError) {
        guard let condition else { return }
        try at(.key("onlyIf")) { () throws(DocumentError) in
            _ = try DocumentFilter(condition, on: table, mapping, querySchema(), limits)
            throw DocumentError(
                .conflict, "expected the \(table.name) to be there, but there is none with this primary key")
        }
    }

    /// Runs a change of one object that is there.
    private mutating func counting(
        _ address: ObjectAddress, _ body: (inout WriteRecorder) throws(DocumentError) -> Void
    ) throws(DocumentError) -> WriteResult {
        let before = transaction.changeset.instructions.count
        try body(&self)
        let after = transaction.changeset.instructions.count
        guard after <= limits.instructions else {
            throw DocumentError(.limit, "expected a batch of at most \(limits.instructions) instructions")
        }
        return WriteResult(matched: 1, modified: after > before ? 1 : 0)
    }

    /// - Throws: `notLoaded`
    func object(_ address: ObjectAddress) throws(DocumentError) -> StoredObject? {
        guard transaction.state.isLoaded(address) else {
            throw DocumentError(.notLoaded, "the \(address.className) was not loaded before it was written")
        }
        return transaction.state.object(address)
    }
}

/// Runs what is recorded; its errors become those of documents.
func recording<Result>(_ body: () throws(RecordingError) -> Result) throws(DocumentError) -> Result {
    do throws(RecordingError) {
        return try body()
    } catch {
        let code: DocumentError.Code =
            switch error.code {
            case .noSuchClass: .unknownClass
            case .noSuchField: .unknownField
            case .wrongType, .wrongKey: .wrongType
            case .outOfRange: .outOfRange
            case .noSuchObject, .objectExists, .schemaMismatch, .invalid: .invalidValue
            }
        throw DocumentError(code, error.description)
    }
}
