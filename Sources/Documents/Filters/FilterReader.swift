import Changesets
import ExtendedJSON
import Query
import RealmState

/// Makes terms of queries of a filter's documents.
struct FilterReader {
    let mapping: DocumentMapping
    let table: TableSchema
    let limits: DocumentLimits
    private var terms = 0

    init(mapping: DocumentMapping, table: TableSchema, limits: DocumentLimits) {
        self.mapping = mapping
        self.table = table
        self.limits = limits
    }

    /// A whole filter: all of its members have to hold.
    mutating func filter(_ filter: BSONDocument, depth: Int) throws(DocumentError) -> QueryTerm {
        guard depth <= limits.filterDepth else {
            throw DocumentError(.limit, "expected conditions nested at most \(limits.filterDepth) deep")
        }
        var parts: [QueryTerm] = []
        for member in filter {
            parts.append(
                try at(.key(member.key)) { () throws(DocumentError) in try self.member(member, depth: depth) })
        }
        return parts.count == 1 ? parts[0] : parts.isEmpty ? .constant(true) : .all(parts)
    }

    private mutating func member(_ member: BSONDocument.Member, depth: Int) throws(DocumentError) -> QueryTerm {
        switch member.key {
        case "$and": return .all(try filters(member.value, depth: depth))
        case "$or": return .any(try filters(member.value, depth: depth))
        case "$nor": return .not(.any(try filters(member.value, depth: depth)))
        default: break
        }
        guard member.key.first != UInt8(ascii: "$") else {
            throw unsupported(member.key, "$and, $or, $nor or a field")
        }
        let path = try DocumentPath(member.key, maxElements: limits.pathElements)
        return try condition(member.value, on: try FilterPath(path, on: table, mapping), depth: depth)
    }

    private mutating func filters(_ value: BSONValue, depth: Int) throws(DocumentError) -> [QueryTerm] {
        guard case .array(let items) = value, !items.isEmpty else {
            throw DocumentError(.invalidWrite, "expected an array of filters, came \(text(of: value))")
        }
        var parts: [QueryTerm] = []
        for (index, item) in items.enumerated() {
            parts.append(
                try at(.index(index)) { () throws(DocumentError) in
                    guard case .document(let document) = item else {
                        throw DocumentError(.invalidWrite, "expected a filter, came \(item.typeName)")
                    }
                    return try filter(document, depth: depth + 1)
                })
        }
        return parts
    }

    /// What stands beside a field: operators, or a value that it equals.
    private mutating func condition(
        _ operand: BSONValue, on path: FilterPath, depth: Int
    ) throws(DocumentError) -> QueryTerm {
        guard case .document(let document) = operand, let first = document.members.first,
            first.key.first == UInt8(ascii: "$"), first.key != "$ref"
        else { return try counted(try equality(operand, on: path)) }
        guard depth <= limits.filterDepth else {
            throw DocumentError(.limit, "expected conditions nested at most \(limits.filterDepth) deep")
        }
        var parts: [QueryTerm] = []
        for member in document where member.key != "$options" {
            parts.append(
                try at(.key(member.key)) { () throws(DocumentError) in
                    try term(member, beside: document, on: path, depth: depth)
                })
        }
        if document["$options"] != nil, document["$regex"] == nil {
            throw DocumentError(.invalidWrite, "expected $options beside $regex", at: .root.key("$options"))
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func counted(_ term: QueryTerm) throws(DocumentError) -> QueryTerm {
        terms += 1
        guard terms <= limits.terms else {
            throw DocumentError(.limit, "expected at most \(limits.terms) conditions in a filter")
        }
        return term
    }

    private mutating func term(
        _ member: BSONDocument.Member, beside operators: BSONDocument, on path: FilterPath, depth: Int
    ) throws(DocumentError) -> QueryTerm {
        switch member.key {
        case "$eq": return try counted(try equality(member.value, on: path))
        case "$ne": return try counted(.not(try equality(member.value, on: path)))
        case "$lt": return try counted(try order(.less, member.value, on: path))
        case "$lte": return try counted(try order(.lessOrEqual, member.value, on: path))
        case "$gt": return try counted(try order(.greater, member.value, on: path))
        case "$gte": return try counted(try order(.greaterOrEqual, member.value, on: path))
        case "$in": return try membership(member.value, on: path)
        case "$nin": return .not(try membership(member.value, on: path))
        case "$all":
            var parts: [QueryTerm] = []
            for (index, item) in try array(member.value).enumerated() {
                parts.append(
                    try at(.index(index)) { () throws(DocumentError) in try counted(try equality(item, on: path)) })
            }
            // Nothing holds all of an empty list.
            return parts.isEmpty ? .constant(false) : .all(parts)
        case "$exists":
            guard let wanted = member.value.bool else {
                throw DocumentError(.invalidWrite, "expected true or false, came \(member.value.typeName)")
            }
            let exists = try counted(exists(path))
            return wanted ? exists : .not(exists)
        case "$size":
            guard let count = member.value.integer, count >= 0 else {
                throw DocumentError(.invalidWrite, "expected a number from 0 on, came \(member.value.typeName)")
            }
            guard path.collection == .list || path.collection == .set, !path.isMulti else {
                throw DocumentError(
                    .unsupportedOperator, "$size does not go with \(mapping.schema.text(of: path.element))")
            }
            return try counted(.count(QueryTerm.Path(path.steps), .equal, count))
        case "$not":
            if case .regularExpression = member.value { return try counted(.not(try equality(member.value, on: path))) }
            guard case .document(let document) = member.value,
                document.members.first?.key.first == UInt8(ascii: "$")
            else {
                throw DocumentError(
                    .invalidWrite, "expected operators or a regular expression, came \(member.value.typeName)")
            }
            return .not(try condition(member.value, on: path, depth: depth + 1))
        case "$regex":
            let options = operators["$options"]
            if let options, options.string == nil {
                throw DocumentError(.invalidWrite, "expected $options as a string, came \(options.typeName)")
            }
            return try counted(try regex(member.value, options?.string?.string, on: path))
        default:
            throw unsupported(
                member.key, "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $not, $all, $size or $regex")
        }
    }

    private func unsupported(_ name: ByteString, _ expected: String) -> DocumentError {
        DocumentError(
            .unsupportedOperator, "\(name.string.shortened) is not supported here, expected \(expected)")
    }

    private func text(of value: BSONValue) -> String {
        if case .array = value { "an empty one" } else { value.typeName }
    }

    private func array(_ value: BSONValue) throws(DocumentError) -> [BSONValue] {
        guard case .array(let items) = value else {
            throw DocumentError(.invalidWrite, "expected an array, came \(value.typeName)")
        }
        return items
    }
}

// MARK: Comparisons

extension FilterReader {
    private func equality(_ operand: BSONValue, on path: FilterPath) throws(DocumentError) -> QueryTerm {
        switch operand {
        case .null: return isNull(path)
        case .regularExpression(let pattern, let options):
            return try regex(BSONValue(pattern), options, on: path)
        case .array(let items) where path.collection == .list && !path.isMulti:
            // Without a quantifier, whole lists are compared.
            var values: [Value] = []
            for (index, item) in items.enumerated() {
                values.append(
                    try at(.index(index)) { () throws(DocumentError) in try constant(item, path) })
            }
            return .comparison(QueryTerm.Path(path.steps), .equal, .list(values))
        default: break
        }
        let value = try constant(operand, path)
        if path.isDirect, path.collection == .single, case .timestamp(let time) = value, path.element.type == .timestamp
        {
            let shown = time.shownAlike
            return .between(path.term, .timestamp(shown.lowerBound), .timestamp(shown.upperBound))
        }
        return .comparison(path.term, .equal, .value(value))
    }

    private func isNull(_ path: FilterPath) -> QueryTerm {
        // A whole collection is there, however many embedded objects the path goes through.
        guard path.collection == .single else { return .constant(false) }
        // An empty dictionary has no value at all, and neither has the slot behind a list's last.
        if path.isSparse, !path.isMulti { return .not(exists(path)) }
        return .comparison(path.term, .equal, .value(.null))
    }

    private func exists(_ path: FilterPath) -> QueryTerm {
        path.collection == .single ? .comparison(path.term, .notEqual, .value(.null)) : .constant(true)
    }

    private func order(
        _ op: ComparisonOperator, _ operand: BSONValue, on path: FilterPath
    ) throws(DocumentError) -> QueryTerm {
        if operand.isNull {
            return op == .lessOrEqual || op == .greaterOrEqual ? isNull(path) : .constant(false)
        }
        guard path.element.type != .link else {
            throw DocumentError(.unsupportedOperator, "links have no order")
        }
        var value = try constant(operand, path)
        if case .link = value { throw DocumentError(.unsupportedOperator, "links have no order") }
        if case .timestamp(let time) = value {
            let shown = time.shownAlike
            value = .timestamp(op == .less || op == .greaterOrEqual ? shown.lowerBound : shown.upperBound)
        }
        let term = QueryTerm.comparison(path.term, op, .value(value))
        guard path.isDirect, path.collection == .single, op == .less || op == .lessOrEqual,
            path.element.type == .string || path.element.isMixed
        else { return term }
        // Queries take null for the least of a class's own strings.
        return .all([term, .comparison(path.term, .notEqual, .value(.null))])
    }

    private mutating func membership(_ operand: BSONValue, on path: FilterPath) throws(DocumentError) -> QueryTerm {
        var values: [Value] = []
        var parts: [QueryTerm] = []
        for (index, item) in try array(operand).enumerated() {
            try at(.index(index)) { () throws(DocumentError) in
                terms += 1
                guard terms <= limits.terms else {
                    throw DocumentError(.limit, "expected at most \(limits.terms) conditions in a filter")
                }
                switch item {
                case .null, .regularExpression, .date, .array: parts.append(try equality(item, on: path))
                default: values.append(try constant(item, path))
                }
            }
        }
        if !values.isEmpty { parts.append(.comparison(path.term, .member, .list(values))) }
        return parts.count == 1 ? parts[0] : parts.isEmpty ? .constant(false) : .any(parts)
    }

    private func regex(
        _ pattern: BSONValue, _ options: String?, on path: FilterPath
    ) throws(DocumentError) -> QueryTerm {
        var text = pattern
        var options = options
        if case .regularExpression(let inner, let own) = pattern {
            text = BSONValue(inner)
            options = options ?? own
        }
        guard let text = text.string else {
            throw DocumentError(.invalidWrite, "expected a regular expression as a string, came \(pattern.typeName)")
        }
        guard path.element.type == .string || path.element.isMixed else {
            throw DocumentError(
                .wrongType, "expected a string to search in, the field is \(mapping.schema.text(of: path.element))")
        }
        let regex = try PlainRegex(text, options: options ?? "")
        return .comparison(
            path.term, regex.op, .value(.string(regex.text)), ignoresCase: regex.ignoresCase)
    }

    /// A constant beside a path: of the property's type, or any number beside a number.
    private func constant(_ operand: BSONValue, _ path: FilterPath) throws(DocumentError) -> Value {
        guard path.collection != .dictionary else {
            throw DocumentError(
                .unsupportedOperator, "a dictionary is not compared as a whole: name a key, as in field.key")
        }
        if mapping.schema.embeddedTarget(of: path.element) != nil {
            throw DocumentError(
                .unsupportedOperator, "an embedded object is not compared as a whole: name a property, as in field.name"
            )
        }
        switch operand {
        case .int32, .int64, .double, .decimal128:
            if let number = number(operand, path.element.type) { return number }
        case .array, .document:
            let value = try mapping.value(operand, path.element, inList: true)
            guard case .link = value else {
                throw DocumentError(
                    .unsupportedOperator,
                    "\(operand.typeName) cannot be compared with \(mapping.schema.text(of: path.element))")
            }
            return value
        default: break
        }
        return try mapping.value(operand, path.element, inList: true)
    }

    private func number(_ operand: BSONValue, _ type: PayloadType) -> Value? {
        guard [.int, .double, .float, .decimal].contains(type) else { return nil }
        switch operand {
        case .double(let value): return .double(bits: value.bitPattern)
        case .decimal128(let value): return .decimal(value)
        default: break
        }
        guard let integer = operand.integer else { return nil }
        if type == .double || type == .float, let double = Double(exactly: integer) {
            return .double(bits: double.bitPattern)
        }
        return .int(integer)
    }
}

extension TimestampValue {
    /// The times that documents show as this one.
    fileprivate var shownAlike: ClosedRange<TimestampValue> {
        let rest: Int32 = 999_999
        func moved(_ nanoseconds: Int32) -> TimestampValue {
            TimestampValue(seconds: seconds, nanoseconds: self.nanoseconds + nanoseconds)
        }
        return switch milliseconds {
        case 0: moved(-rest)...moved(rest)
        case 1...: self...moved(rest)
        default: moved(-rest)...self
        }
    }
}
