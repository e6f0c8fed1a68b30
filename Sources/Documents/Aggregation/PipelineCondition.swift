import Changesets
import ExtendedJSON

/// A filter of documents that have no schema, such as those that a group makes: `$eq $ne $gt $gte $lt $lte $in $nin $exists $not` on fields, and
/// `$and $or $nor`. Null is what is not there; values of two types are neither less nor greater than each other, numbers apart.
indirect enum PipelineCondition: Hashable, Sendable {
    enum Comparison: Hashable, Sendable {
        case equal, less, lessOrEqual, greater, greaterOrEqual
    }

    case all([PipelineCondition])
    case any([PipelineCondition])
    case not(PipelineCondition)
    case comparison(PipelinePath, Comparison, BSONValue)
    case exists(PipelinePath)

    /// - Throws: `unsupportedOperator`, `invalidWrite` or `limit`.
    init(_ filter: BSONDocument, _ limits: PipelineLimits) throws(DocumentError) {
        var terms = 0
        self = try Self.filter(filter, limits, depth: 0, &terms)
    }

    private static func filter(
        _ filter: BSONDocument, _ limits: PipelineLimits, depth: Int, _ terms: inout Int
    ) throws(DocumentError) -> PipelineCondition {
        guard depth <= limits.conditionDepth else {
            throw DocumentError(.limit, "expected conditions nested at most \(limits.conditionDepth) deep")
        }
        var parts: [PipelineCondition] = []
        for member in filter {
            let step = JSONPlace.Step.key(member.key)
            switch member.key {
            case "$and", "$or", "$nor":
                let inner = try self.filters(member, limits, depth: depth, &terms)
                switch member.key {
                case "$and": parts.append(.all(inner))
                case "$or": parts.append(.any(inner))
                default: parts.append(.not(.any(inner)))
                }
            default:
                if member.key.first == UInt8(ascii: "$") {
                    throw DocumentError(
                        .unsupportedOperator,
                        "\(member.key.string.shortened) is not supported here, expected a field, $and, $or or $nor",
                        at: .root.key(member.key))
                }
                do throws(DocumentError) {
                    let path = try PipelinePath(member.key, limits)
                    parts.append(try condition(member.value, on: path, limits, depth: depth + 1, &terms))
                } catch {
                    throw error.within(step)
                }
            }
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private static func filters(
        _ member: BSONDocument.Member, _ limits: PipelineLimits, depth: Int, _ terms: inout Int
    ) throws(DocumentError) -> [PipelineCondition] {
        guard let items = member.value.array, !items.isEmpty else {
            throw DocumentError(
                .invalidWrite, "expected filters in an array, came \(member.value.typeName)",
                at: .root.key(member.key))
        }
        var parts: [PipelineCondition] = []
        for (index, item) in items.enumerated() {
            do throws(DocumentError) {
                guard let document = item.document else {
                    throw DocumentError(.invalidWrite, "expected a filter, came \(item.typeName)")
                }
                parts.append(try filter(document, limits, depth: depth + 1, &terms))
            } catch {
                throw error.within(.index(index)).within(.key(member.key))
            }
        }
        return parts
    }

    private static func condition(
        _ operand: BSONValue, on path: PipelinePath, _ limits: PipelineLimits, depth: Int, _ terms: inout Int
    ) throws(DocumentError) -> PipelineCondition {
        guard depth <= limits.conditionDepth else {
            throw DocumentError(.limit, "expected conditions nested at most \(limits.conditionDepth) deep")
        }
        func count(_ more: Int) throws(DocumentError) {
            terms += more
            guard terms <= limits.terms else {
                throw DocumentError(.limit, "expected at most \(limits.terms) conditions in a filter")
            }
        }
        guard case .document(let operators) = operand, let first = operators.members.first,
            first.key.first == UInt8(ascii: "$"), first.key != "$ref"
        else {
            try count(1)
            return .comparison(path, .equal, operand)
        }
        var parts: [PipelineCondition] = []
        for member in operators {
            do throws(DocumentError) {
                switch member.key {
                case "$eq", "$ne", "$lt", "$lte", "$gt", "$gte":
                    try count(1)
                    let comparison = PipelineCondition.comparison(path, Self.comparison(member.key), member.value)
                    parts.append(member.key == "$ne" ? .not(comparison) : comparison)
                case "$in", "$nin":
                    guard let items = member.value.array else {
                        throw DocumentError(.invalidWrite, "expected an array, came \(member.value.typeName)")
                    }
                    try count(items.count)
                    let any = PipelineCondition.any(items.map { .comparison(path, .equal, $0) })
                    parts.append(member.key == "$in" ? any : .not(any))
                case "$exists":
                    guard let wanted = member.value.bool else {
                        throw DocumentError(.invalidWrite, "expected true or false, came \(member.value.typeName)")
                    }
                    try count(1)
                    parts.append(wanted ? .exists(path) : .not(.exists(path)))
                case "$not":
                    guard case .document(let inner) = member.value,
                        inner.members.first?.key.first == UInt8(ascii: "$")
                    else {
                        throw DocumentError(.invalidWrite, "expected operators, came \(member.value.typeName)")
                    }
                    parts.append(
                        .not(try condition(member.value, on: path, limits, depth: depth + 1, &terms)))
                default:
                    throw DocumentError(
                        .unsupportedOperator,
                        "\(member.key.string.shortened) is not supported behind the first stage, expected $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists or $not"
                    )
                }
            } catch {
                throw error.within(.key(member.key))
            }
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private static func comparison(_ name: ByteString) -> Comparison {
        switch name {
        case "$lt": .less
        case "$lte": .lessOrEqual
        case "$gt": .greater
        case "$gte": .greaterOrEqual
        default: .equal
        }
    }

    func holds(for document: BSONDocument) -> Bool {
        switch self {
        case .all(let parts): parts.allSatisfy { $0.holds(for: document) }
        case .any(let parts): parts.contains { $0.holds(for: document) }
        case .not(let part): !part.holds(for: document)
        case .exists(let path): path.candidates(in: document).contains { !$0.isNull }
        case .comparison(let path, let comparison, let constant):
            Self.holds(path.candidates(in: document), comparison, constant)
        }
    }

    private static func holds(_ values: [BSONValue], _ comparison: Comparison, _ constant: BSONValue) -> Bool {
        if constant.isNull {
            guard comparison != .less, comparison != .greater else { return false }
            return values.isEmpty || values.contains(where: \.isNull)
        }
        return values.contains { value in
            guard value.typeName == constant.typeName || value.number != nil && constant.number != nil else {
                return false
            }
            let order = BSONOrder.compare(value, constant)
            return switch comparison {
            case .equal: order == 0
            case .less: order < 0
            case .lessOrEqual: order <= 0
            case .greater: order > 0
            case .greaterOrEqual: order >= 0
            }
        }
    }

    /// The fields of a document that the condition looks at.
    var fields: Set<ByteString> {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.fields) }
        case .not(let part): part.fields
        case .comparison(let path, _, _), .exists(let path): [path.field]
        }
    }
}
