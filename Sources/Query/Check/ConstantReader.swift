import Changesets
import RealmState

/// A constant's value before the other side's type is applied to it.
private struct RawConstant {
    var value: Value
    var isArgument = false
    /// The digits of a double as they were written.
    var digits: ByteString?
    /// Whether it names an object.
    var isObject = false
}

/// Gives constants, and arguments that stand for constants, the types of what they are compared with.
struct ConstantReader {
    let schema: QuerySchema
    let arguments: QueryArguments
    /// Whether an object exists that a query names; one that does not counts as null.
    let exists: (@Sendable (ObjectAddress) -> Bool)?
    let dialect: QueryDialect

    /// A constant, or the list that an argument is.
    func side(_ located: LocatedConstant, _ hint: QueryType) throws(QueryError) -> Side {
        if case .argument(let number, let quantifier) = located.constant {
            switch try arguments.argument(number, located.offset) {
            case .list(let values):
                let elements = try values.map { value throws(QueryError) in
                    try element(RawConstant(value: value, isArgument: true), hint, located.offset)
                }
                return .list(ConstantList(elements: elements, quantifier: quantifier, type: .mixed))
            case .value:
                guard quantifier == nil else {
                    throw .query(
                        "expected a list for $\(number), since a quantifier stands before it", at: located.offset)
                }
            }
        }
        return .constant(try constant(located, hint))
    }

    func list(_ syntax: ListSyntax, _ hint: QueryType) throws(QueryError) -> ConstantList {
        let elements = try syntax.elements.map { element throws(QueryError) in try constant(element, hint) }
        if hint == .typeName, let other = elements.first(where: { $0.type != .typeName }) {
            throw .query("expected names of types in the list, found \(other.type.rawValue)", at: syntax.offset)
        }
        return ConstantList(
            elements: elements, quantifier: syntax.quantifier, type: hint == .typeName ? .typeName : .mixed)
    }

    private func constant(_ located: LocatedConstant, _ hint: QueryType) throws(QueryError) -> Constant {
        let raw = try self.raw(located.constant, located.offset)
        if raw.value == .null {
            return Constant(.null, hint == .string ? .string : hint == .binary ? .binary : .null)
        }
        let constant = try element(raw, hint, located.offset)
        if hint == .typeName, case .string(let name)? = constant.value {
            guard let types = TypeNames(named: name) else {
                throw .argument("\"\(name)\" is the name of no type", at: located.offset)
            }
            return Constant(types)
        }
        if raw.isArgument, !raw.isObject, !constant.type.isComparable(with: hint) {
            throw .argument(
                "an argument of type \(constant.type.rawValue) cannot be compared with \(hint.rawValue)",
                at: located.offset)
        }
        return constant
    }

    private func raw(_ syntax: ConstantSyntax, _ offset: Int) throws(QueryError) -> RawConstant {
        switch syntax {
        case .value(let value): return RawConstant(value: value)
        case .double(let value, let text): return RawConstant(value: .double(bits: value.bitPattern), digits: text)
        case .argument(let number, let quantifier):
            guard case .value(let value) = try arguments.argument(number, offset), quantifier == nil else {
                throw .argument("expected one value for $\(number), found a list", at: offset)
            }
            if case .link(let address) = value { return RawConstant(value: target(address), isArgument: true) }
            return RawConstant(value: value, isArgument: true)
        case .element(let number, let position):
            guard case .list(let values) = try arguments.argument(number, offset), values.indices.contains(position)
            else { throw .argument("expected a list for $\(number)", at: offset) }
            return RawConstant(value: values[position], isArgument: true)
        case .object(let className, let key):
            var raw = RawConstant(value: try object(className, try self.raw(key, offset).value, offset))
            raw.isObject = true
            return raw
        }
    }

    private func object(_ className: ByteString, _ key: Value, _ offset: Int) throws(QueryError) -> Value {
        let prefix = Array("class_".utf8)
        var type = schema[className]
        if type == nil, className.bytes.starts(with: prefix) {
            type = schema[ByteString(Array(className.bytes.dropFirst(prefix.count)))]
        }
        guard let type else { throw .unknownClass(className, offset) }
        let objectKey: ObjectKey
        switch (key, type.keyType) {
        case (.int(let value), .int): objectKey = .int(value)
        case (.string(let value), .string): objectKey = .string(value)
        case (.objectID(let value), .objectID): objectKey = .objectID(value)
        case (.uuid(let value), .uuid): objectKey = .uuid(value)
        case (.null, .some): objectKey = .null
        // A key of another type is that of no object.
        default: return .null
        }
        return target(ObjectAddress(type.name, objectKey))
    }

    /// The link, or null if there is no such object.
    private func target(_ address: ObjectAddress) -> Value {
        guard let exists, !exists(address) else { return .link(address) }
        return .null
    }

    /// The constant as the other side's type makes it.
    private func element(_ raw: RawConstant, _ hint: QueryType, _ offset: Int) throws(QueryError) -> Constant {
        let value = try converted(raw, hint, offset)
        if dialect == .predicate, raw.isArgument, hint == .mixed {
            switch value {
            case .list, .dictionary: return Constant(value, .mixed)
            default: break
            }
        }
        guard let type = QueryType(value) else {
            throw .argument("a collection or embedded object cannot be a constant", at: offset)
        }
        return Constant(value, type)
    }

    private func converted(_ raw: RawConstant, _ hint: QueryType, _ offset: Int) throws(QueryError) -> Value {
        if dialect == .predicate, let value = bridged(raw.value, hint) { return value }
        switch raw.value {
        case .int(let value):
            return hint == .decimal ? .decimal(DecimalNumber(value).value) : raw.value
        case .double(let bits):
            let value = Double(bitPattern: bits)
            if value.isInfinite, hint == .int || !(hint.isNumeric || hint == .mixed) {
                throw .query("infinity cannot be compared with \(hint.rawValue)", at: offset)
            }
            switch hint {
            case .float: return .float(bits: Float(value).bitPattern)
            case .decimal:
                let exact = raw.digits.flatMap { DecimalNumber(parsing: $0.bytes) }
                return .decimal((raw.isArgument ? DecimalNumber(value) : exact ?? DecimalNumber(value)).value)
            case .int: return Int64(exactly: value).map { .int($0) } ?? raw.value
            default: return raw.value
            }
        case .float(let bits):
            guard hint == .int else { return raw.value }
            let value = Float(bitPattern: bits)
            guard value.isFinite else {
                throw .query("infinity and NaN cannot be compared with int", at: offset)
            }
            return Int64(exactly: value).map { .int($0) } ?? raw.value
        case .string(let text):
            switch hint {
            case .int: return NumberReading.int(text.bytes).map { .int($0) } ?? raw.value
            case .float: return NumberReading.double(text.bytes).map { .float(bits: Float($0).bitPattern) } ?? raw.value
            case .double: return NumberReading.double(text.bytes).map { .double(bits: $0.bitPattern) } ?? raw.value
            case .decimal: return DecimalNumber(parsing: text.bytes).map { .decimal($0.value) } ?? raw.value
            default: return raw.value
            }
        default: return raw.value
        }
    }
}

extension ConstantReader {
    /// What predicates take for a value of another type, as Objective-C's numbers and strings do: Boolean values and 0 and 1 for each other, strings for UUIDs.
    /// No text is a binary number.
    private func bridged(_ value: Value, _ hint: QueryType) -> Value? {
        switch (value, hint) {
        case (.bool(let value), .int): return .int(value ? 1 : 0)
        case (.int(0), .bool): return .bool(false)
        case (.int(1), .bool): return .bool(true)
        case (.string, .int), (.string, .float), (.string, .double): return value
        case (.string(let text), .uuid):
            var scan = Scan(text.bytes, 0)
            guard let uuid = scan.uuid(), scan.position == text.count else { return nil }
            return .uuid(uuid)
        default: return nil
        }
    }
}

extension QueryType {
    /// The type of a value; null has a type of its own, collections and embedded objects none.
    init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .list, .dictionary, .set, .embedded: return nil
        default:
            guard let type = value.scalarType, let known = QueryType(type) else { return nil }
            self = known
        }
    }
}
