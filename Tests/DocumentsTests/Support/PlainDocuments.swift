import Changesets
import Documents
import ExtendedJSON
import RealmState

/// Documents as plain JSON, written by an interpreter that knows nothing of objects and instructions: what batches are compared with.
///
/// The schema is asked for two things only: what a document lacks, and which arrays are sets.
struct PlainDocuments {
    let schema: Schema
    var documents: [ByteString: [BSONValue: BSONDocument]] = [:]

    init(schema: Schema) { self.schema = schema }

    subscript(_ className: ByteString, _ key: BSONValue) -> BSONDocument? {
        get { documents[className]?[key] }
        set { documents[className, default: [:]][key] = newValue }
    }

    private func keyName(_ className: ByteString) -> ByteString { schema.table(className)?.key?.name ?? "" }

    /// What a document lacks, optional properties and collections.
    private func completed(_ document: BSONDocument, _ className: ByteString) -> BSONDocument {
        var result = BSONDocument()
        guard let table = schema.table(className) else { return document }
        if let name = table.key?.name, let key = document[name] { result[name] = key }
        for column in table.columns {
            let value = document[column.name] ?? missing(column)
            result[column.name] = column.collection == .set ? unique(value) : embedded(value, column)
        }
        return result
    }

    /// An embedded object that was made on the way of a path lacks the rest.
    private func embedded(_ value: BSONValue, _ column: ColumnSchema) -> BSONValue {
        guard column.collection == .single, case .document(let document) = value, let target = column.element.target,
            schema.isEmbedded(target)
        else { return value }
        return .document(completed(document, target))
    }

    private func missing(_ column: ColumnSchema) -> BSONValue {
        switch column.collection {
        case .single: .null
        case .list, .set: []
        case .dictionary: [:]
        }
    }

    private func unique(_ value: BSONValue) -> BSONValue {
        guard case .array(let items) = value else { return value }
        var seen: Set<BSONValue> = []
        return .array(items.filter { seen.insert($0).inserted })
    }

    /// - Returns: false if the write is to be refused.
    mutating func perform(_ write: DocumentWrite) -> Bool {
        let name = keyName(write.className)
        switch write.operation {
        case .insert(let document):
            guard let key = document[name], self[write.className, key] == nil else { return false }
            self[write.className, key] = completed(document, write.className)
        case .upsert(let document):
            guard let key = document[name] else { return false }
            guard var old = self[write.className, key] else {
                self[write.className, key] = completed(document, write.className)
                return true
            }
            for member in document { old[member.key] = member.value }
            self[write.className, key] = completed(old, write.className)
        case .replace(let key, var document):
            guard self[write.className, key] != nil else { return true }
            document[name] = key
            self[write.className, key] = completed(document, write.className)
        case .update(let target, let updates):
            for key in keys(target, write.className) {
                guard let old = self[write.className, key] else { continue }
                var value = BSONValue.document(old)
                for update in updates {
                    guard let new = apply(update.op, update.path.elements[...], to: value, write.className) else {
                        return false
                    }
                    value = new
                }
                self[write.className, key] = value.document.map { completed($0, write.className) }
            }
        case .delete(let target):
            for key in keys(target, write.className) { self[write.className, key] = nil }
        }
        return true
    }

    private func keys(_ target: DocumentWrite.Target, _ className: ByteString) -> [BSONValue] {
        switch target {
        case .id(let key): return self[className, key] == nil ? [] : [key]
        case .filter(let filter, let many):
            let found = (documents[className] ?? [:]).filter { PlainFilter.matches($0.value, filter) }.keys
            let sorted = found.sorted { $0.integer ?? 0 < $1.integer ?? 0 }
            return many ? sorted : Array(sorted.prefix(1))
        }
    }

    // MARK: Operators

    /// Nil if the operator cannot be applied.
    ///
    /// - Parameter className: that of the object; nil for a dictionary, whose entries go if they are unset.
    private func apply(
        _ op: FieldUpdate.Operator, _ path: ArraySlice<ByteString>, to value: BSONValue, _ className: ByteString?
    ) -> BSONValue? {
        guard let name = path.first else { return result(of: op, on: value) }
        let rest = path.dropFirst()
        switch value {
        case .document(var document):
            if rest.isEmpty, case .unset = op {
                let column = className.flatMap { schema.table($0)?.column(name) }
                document[name] = column.map { missing($0) }
                return .document(document)
            }
            let column = className.flatMap { schema.table($0)?.column(name) }
            let inner = column?.collection == .dictionary ? nil : column?.element.target
            document[name] = apply(op, rest, to: document[name] ?? .null, inner)
            return document[name] == nil ? nil : .document(document)
        case .array(var items):
            guard let index = Int(name.string), index <= items.count else { return nil }
            guard let new = apply(op, rest, to: index < items.count ? items[index] : .null, className) else {
                return nil
            }
            if index < items.count { items[index] = new } else { items.append(new) }
            return .array(items)
        case .null:
            guard let new = apply(op, rest, to: .null, nil) else { return nil }
            return .document([name: new])
        default: return nil
        }
    }

    private func result(of op: FieldUpdate.Operator, on value: BSONValue) -> BSONValue? {
        switch op {
        case .set(let new): return new
        case .unset: return .null
        case .increment(let operand): return value.isNull ? operand : Self.sum(value, operand)
        case .multiply(let operand): return value.isNull ? Self.product(operand, 0) : Self.product(value, operand)
        case .min(let operand): return value.isNull || PlainFilter.order(operand, value) == -1 ? operand : value
        case .max(let operand): return value.isNull || PlainFilter.order(operand, value) == 1 ? operand : value
        case .push(let new, let position):
            guard case .array(var items) = value.isNull ? [] : value else { return nil }
            items.insert(contentsOf: new, at: min(position ?? items.count, items.count))
            return .array(items)
        case .addToSet(let new):
            guard case .array(var items) = value.isNull ? [] : value else { return nil }
            for item in new where !items.contains(item) { items.append(item) }
            return .array(items)
        case .pull(let operand):
            guard case .array(let items) = value else { return value }
            return .array(items.filter { !PlainFilter.element($0, operand) })
        }
    }

    private static func sum(_ left: BSONValue, _ right: BSONValue) -> BSONValue? {
        if let left = left.integer, let right = right.integer {
            let (sum, overflow) = left.addingReportingOverflow(right)
            return overflow ? nil : BSONValue(sum)
        }
        return PlainFilter.double(left).flatMap { left in PlainFilter.double(right).map { .double(left + $0) } }
    }

    private static func product(_ left: BSONValue, _ right: BSONValue) -> BSONValue? {
        if let left = left.integer, let right = right.integer {
            let (product, overflow) = left.multipliedReportingOverflow(by: right)
            return overflow ? nil : BSONValue(product)
        }
        return PlainFilter.double(left).flatMap { left in PlainFilter.double(right).map { .double(left * $0) } }
    }
}
