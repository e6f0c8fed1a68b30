import Changesets
import ExtendedJSON
import RealmState

/// What `$pull` takes away: elements that equal a value, or meet a condition.
indirect enum ElementCondition {
    case equals(BSONValue)
    case ordered(isLess: Bool, orEqual: Bool, Value)
    case isIn(Set<BSONValue>)
    case not(ElementCondition)
    case all([ElementCondition])
    /// A property of an embedded object.
    case field(ColumnSchema, ElementCondition)
    /// The values as documents show them.
    case mapped(DocumentMapping, ElementType, ElementCondition)

    private static let operators = "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin"

    init(_ operand: BSONValue, _ element: ElementType, _ mapping: DocumentMapping) throws(DocumentError) {
        if case .document(let document) = operand, document["$ref"] == nil,
            document.members.first?.key.first == UInt8(ascii: "$")
        {
            self = .mapped(mapping, element, try Self.operators(document, element, mapping))
            return
        }
        if let table = mapping.schema.embeddedTarget(of: element) {
            self = try Self.fields(operand, table, mapping)
            return
        }
        self = .mapped(mapping, element, .equals(try Self.constant(operand, element, mapping)))
    }

    private static func fields(
        _ operand: BSONValue, _ table: TableSchema, _ mapping: DocumentMapping
    ) throws(DocumentError) -> ElementCondition {
        guard case .document(let document) = operand else {
            throw DocumentError(
                .wrongType, "expected an object with properties of \(table.name), came \(operand.typeName)")
        }
        var parts: [ElementCondition] = []
        for member in document {
            parts.append(
                try at(.key(member.key)) { () throws(DocumentError) in
                    guard let column = table.column(member.key) else { throw mapping.unknownField(member.key, table) }
                    guard column.collection == .single else {
                        throw DocumentError(
                            .unsupportedOperator, "$pull does not look into \(mapping.schema.text(of: column))")
                    }
                    return .field(column, try ElementCondition(member.value, column.element, mapping))
                })
        }
        return .all(parts)
    }

    private static func operators(
        _ document: BSONDocument, _ element: ElementType, _ mapping: DocumentMapping
    ) throws(DocumentError) -> ElementCondition {
        var parts: [ElementCondition] = []
        for member in document {
            parts.append(
                try at(.key(member.key)) { () throws(DocumentError) in
                    func constant() throws(DocumentError) -> BSONValue {
                        try Self.constant(member.value, element, mapping)
                    }
                    func ordered(_ isLess: Bool, _ orEqual: Bool) throws(DocumentError) -> ElementCondition {
                        .ordered(
                            isLess: isLess, orEqual: orEqual, try mapping.value(member.value, element, inList: true))
                    }
                    func list() throws(DocumentError) -> ElementCondition {
                        guard case .array(let items) = member.value else {
                            throw DocumentError(.wrongType, "expected an array, came \(member.value.typeName)")
                        }
                        var values: Set<BSONValue> = []
                        for (index, item) in items.enumerated() {
                            values.insert(
                                try at(.index(index)) { () throws(DocumentError) in
                                    try Self.constant(item, element, mapping)
                                })
                        }
                        return .isIn(values)
                    }
                    switch member.key {
                    case "$eq": return .equals(try constant())
                    case "$ne": return .not(.equals(try constant()))
                    case "$lt": return try ordered(true, false)
                    case "$lte": return try ordered(true, true)
                    case "$gt": return try ordered(false, false)
                    case "$gte": return try ordered(false, true)
                    case "$in": return try list()
                    case "$nin": return .not(try list())
                    default:
                        throw DocumentError(
                            .unsupportedOperator,
                            "\(member.key.string.shortened) is not supported in $pull, expected one of \(operators)")
                    }
                })
        }
        return .all(parts)
    }

    /// A value of the element's type as documents show it.
    private static func constant(
        _ value: BSONValue, _ element: ElementType, _ mapping: DocumentMapping
    ) throws(DocumentError) -> BSONValue {
        // What no element can be is no mistake.
        if value.isNull { return .null }
        return mapping.value(try mapping.value(value, element, inList: true), element)
    }

    func matches(_ value: Value) -> Bool { matches(value, .null) }

    private func matches(_ value: Value, _ form: BSONValue) -> Bool {
        switch self {
        case .equals(let constant): return form == constant
        case .isIn(let constants): return constants.contains(form)
        case .not(let condition): return !condition.matches(value, form)
        case .all(let parts): return parts.allSatisfy { $0.matches(value, form) }
        case .mapped(let mapping, let element, let condition):
            return condition.matches(value, mapping.value(value, element))
        case .field(let column, let condition):
            guard case .embedded(let object) = value else { return false }
            return condition.matches(object[column], .null)
        case .ordered(let isLess, let orEqual, let constant):
            guard let order = Self.order(value, constant) else { return false }
            return order == 0 ? orEqual : (order < 0) == isLess
        }
    }

    /// Negative, zero or positive; nil for values that have no order, null among them.
    static func order(_ left: Value, _ right: Value) -> Int? {
        if case .timestamp(let left) = left, case .timestamp(let right) = right {
            return left.milliseconds < right.milliseconds ? -1 : left.milliseconds == right.milliseconds ? 0 : 1
        }
        guard let type = left.scalarType, let other = right.scalarType, type != .link else { return nil }
        guard type == other || (Numbers.isNumber(left) && Numbers.isNumber(right)) else { return nil }
        return Value.compare(left, right)
    }
}
