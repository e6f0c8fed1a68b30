import Changesets
import ExtendedJSON

/// MongoDB's filters tried on a document as it is, without a schema.
enum PlainFilter {
    static func matches(_ document: BSONDocument, _ filter: BSONDocument) -> Bool {
        filter.allSatisfy { member in
            switch member.key {
            case "$and": filters(member.value).allSatisfy { matches(document, $0) }
            case "$or": filters(member.value).contains { matches(document, $0) }
            case "$nor": !filters(member.value).contains { matches(document, $0) }
            default: condition(member.value, on: values(.document(document), path(member.key)[...]))
            }
        }
    }

    private static func filters(_ value: BSONValue) -> [BSONDocument] { (value.array ?? []).compactMap(\.document) }

    private static func path(_ text: ByteString) -> [ByteString] {
        text.bytes.split(separator: UInt8(ascii: ".")).map { ByteString(Array($0)) }
    }

    /// What a path leads to: several values if it goes through an array; null where nothing is.
    private static func values(_ value: BSONValue, _ path: ArraySlice<ByteString>) -> [BSONValue] {
        guard let name = path.first else { return [value] }
        switch value {
        case .document(let document):
            return values(document[name] ?? .null, path.dropFirst())
        case .array(let items):
            if let index = Int(name.string) {
                return index < items.count ? values(items[index], path.dropFirst()) : [.null]
            }
            return items.flatMap { values($0, path) }
        default: return [.null]
        }
    }

    /// Whether any of the values meets a condition.
    private static func condition(_ operand: BSONValue, on values: [BSONValue]) -> Bool {
        guard case .document(let operators) = operand, operators.members.first?.key.bytes.first == UInt8(ascii: "$"),
            operators["$ref"] == nil
        else { return values.contains { equals($0, operand) } }
        return operators.allSatisfy { member in
            let operand = member.value
            return switch member.key {
            case "$eq": values.contains { equals($0, operand) }
            case "$ne": !values.contains { equals($0, operand) }
            case "$lt": values.contains { ordered($0, operand, [-1]) }
            case "$lte": values.contains { ordered($0, operand, [-1, 0]) }
            case "$gt": values.contains { ordered($0, operand, [1]) }
            case "$gte": values.contains { ordered($0, operand, [0, 1]) }
            case "$in": (operand.array ?? []).contains { one in values.contains { equals($0, one) } }
            case "$nin": !(operand.array ?? []).contains { one in values.contains { equals($0, one) } }
            case "$all":
                operand.array?.isEmpty == false
                    && (operand.array ?? []).allSatisfy { one in values.contains { equals($0, one) } }
            case "$exists": values.contains { !$0.isNull } == operand.bool
            case "$size": values.contains { $0.array.map { Int64($0.count) } == operand.integer }
            case "$not": !condition(operand, on: values)
            case "$regex": values.contains { contains($0, operand, operators["$options"] != nil) }
            case "$options": true
            default: false
            }
        }
    }

    private static func equals(_ value: BSONValue, _ operand: BSONValue) -> Bool {
        if value == operand || order(value, operand) == 0 { return true }
        if case .array(let items) = value {
            if case .array(let others) = operand {
                return items.count == others.count && zip(items, others).allSatisfy { $0 == $1 || order($0, $1) == 0 }
            }
            return items.contains { equals($0, operand) }
        }
        return false
    }

    private static func ordered(_ value: BSONValue, _ operand: BSONValue, _ wanted: [Int]) -> Bool {
        if value.isNull, operand.isNull { return wanted.contains(0) }
        if case .array(let items) = value { return items.contains { ordered($0, operand, wanted) } }
        return order(value, operand).map { wanted.contains($0) } ?? false
    }

    private static func contains(_ value: BSONValue, _ pattern: BSONValue, _ ignoresCase: Bool) -> Bool {
        if case .array(let items) = value { return items.contains { contains($0, pattern, ignoresCase) } }
        guard let text = value.string?.string, var part = pattern.string?.string else { return false }
        let isAnchored = part.hasPrefix("^")
        if isAnchored { part.removeFirst() }
        let isAnchoredAtEnd = part.hasSuffix("$")
        if isAnchoredAtEnd { part.removeLast() }
        let (whole, wanted) = ignoresCase ? (text.lowercased(), part.lowercased()) : (text, part)
        if isAnchored, isAnchoredAtEnd { return whole == wanted }
        if isAnchored { return whole.hasPrefix(wanted) }
        if isAnchoredAtEnd { return whole.hasSuffix(wanted) }
        return wanted.isEmpty || whole.firstRange(of: wanted) != nil
    }

    /// Whether `$pull` takes an element away.
    static func element(_ value: BSONValue, _ operand: BSONValue) -> Bool {
        if case .document(let fields) = operand, fields.members.first?.key.bytes.first != UInt8(ascii: "$"),
            case .document(let document) = value
        {
            return matches(document, fields)
        }
        return condition(operand, on: [value])
    }

    static func double(_ value: BSONValue) -> Double? {
        if case .double(let value) = value { value } else { value.integer.map { Double($0) } }
    }

    /// -1, 0 or 1; nil for values that have no order.
    static func order(_ left: BSONValue, _ right: BSONValue) -> Int? {
        func order<T: Comparable>(_ left: T, _ right: T) -> Int { left < right ? -1 : left == right ? 0 : 1 }
        if let left = left.integer, let right = right.integer { return order(left, right) }
        if let left = double(left), let right = double(right) {
            return left.isNaN || right.isNaN ? nil : order(left, right)
        }
        switch (left, right) {
        case (.string(let left), .string(let right)): return order(left, right)
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.date(let left), .date(let right)): return order(left, right)
        case (.objectID(let left), .objectID(let right)): return order(left, right)
        case (.uuid(let left), .uuid(let right)): return order(left, right)
        case (.binary(let left, _), .binary(let right, _)): return order(ByteString(left), ByteString(right))
        case (.decimal128(let left), .decimal128(let right)):
            guard let left = Double(left.text), let right = Double(right.text) else { return nil }
            return order(left, right)
        default: return nil
        }
    }
}
