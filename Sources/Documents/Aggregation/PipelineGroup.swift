import Changesets
import ExtendedJSON
import Query
import RealmState

/// What `$group` makes: one document for each value of `_id`, with what its accumulators have come to.
struct PipelineGroup: Hashable, Sendable {
    enum Function: ByteString, Sendable, CaseIterable {
        case sum = "$sum"
        case average = "$avg"
        case least = "$min"
        case greatest = "$max"
        case first = "$first"
        case push = "$push"
    }

    struct Field: Hashable, Sendable {
        var name: ByteString
        var function: Function
        var operand: PipelineExpression
    }

    let key: PipelineExpression
    let fields: [Field]

    /// - Throws: `unsupportedOperator`, `invalidWrite` or `limit`.
    init(_ group: BSONDocument, _ limits: PipelineLimits) throws(DocumentError) {
        guard let id = group["_id"] else {
            throw DocumentError(.invalidWrite, "expected _id: what to group by, or null for all")
        }
        guard group.count <= limits.terms else {
            throw DocumentError(.limit, "expected at most \(limits.terms) fields, came \(group.count)")
        }
        key = try at(.key("_id")) { () throws(DocumentError) in try PipelineExpression(id, limits) }
        var fields: [Field] = []
        for member in group where member.key != "_id" {
            do throws(DocumentError) {
                fields.append(try Self.field(member, limits))
            } catch {
                throw error.within(.key(member.key))
            }
        }
        self.fields = fields
    }

    private static func field(_ member: BSONDocument.Member, _ limits: PipelineLimits) throws(DocumentError) -> Field {
        guard !member.key.bytes.contains(UInt8(ascii: ".")), member.key.first != UInt8(ascii: "$") else {
            throw DocumentError(.invalidWrite, "expected a name without dots and $")
        }
        guard let document = member.value.document, document.count == 1, let only = document.members.first else {
            throw DocumentError(.invalidWrite, "expected one accumulator, such as {\"$sum\": 1}")
        }
        guard let function = Function(rawValue: only.key) else {
            let names = Function.allCases.map(\.rawValue.string).joined(separator: ", ")
            throw DocumentError(
                .unsupportedOperator, "expected one of \(names), came \(only.key.string.shortened)",
                at: .root.key(only.key))
        }
        return Field(
            name: member.key, function: function,
            operand: try at(.key(only.key)) { () throws(DocumentError) in
                try PipelineExpression(only.value, limits)
            })
    }

    /// The fields of a document that are looked at; nil: all.
    var needed: Set<ByteString>? {
        guard var all = key.fields else { return nil }
        for field in fields {
            guard let fields = field.operand.fields else { return nil }
            all.formUnion(fields)
        }
        return all
    }

    // MARK: One group

    /// What one accumulator has come to.
    enum Accumulator {
        case number(NumberSum, isAverage: Bool)
        case extreme(BSONValue?, wantsLess: Bool)
        case first(BSONValue?)
        case values([BSONValue])

        init(_ function: Function) {
            switch function {
            case .sum: self = .number(NumberSum(), isAverage: false)
            case .average: self = .number(NumberSum(), isAverage: true)
            case .least: self = .extreme(nil, wantsLess: true)
            case .greatest: self = .extreme(nil, wantsLess: false)
            case .first: self = .first(nil)
            case .push: self = .values([])
            }
        }

        /// - Returns: by how many bytes what is held has grown.
        mutating func take(_ value: BSONValue?) -> Int {
            switch self {
            case .number(var sum, let isAverage):
                if let number = value?.number { sum.add(number) }
                self = .number(sum, isAverage: isAverage)
                return 0
            case .extreme(let known, let wantsLess):
                guard let value, !value.isNull else { return 0 }
                if let known {
                    let order = BSONOrder.compare(value, known)
                    guard wantsLess ? order < 0 : order > 0 else { return 0 }
                }
                self = .extreme(value, wantsLess: wantsLess)
                return value.weight - (known?.weight ?? 0)
            case .first(let known):
                guard known == nil else { return 0 }
                self = .first(value ?? .null)
                return value?.weight ?? 24
            case .values(var values):
                guard let value else { return 0 }
                self = .values([])
                values.append(value)
                self = .values(values)
                return value.weight
            }
        }

        var value: BSONValue {
            switch self {
            case .number(let sum, let isAverage): isAverage ? sum.average : sum.total
            case .extreme(let value, _), .first(let value): value ?? .null
            case .values(let values): .array(values)
            }
        }
    }
}

/// A sum of numbers of any types: exact as long as all are integers and their sum is one, else a double, or a decimal if any of them is.
struct NumberSum {
    private var sum = Value.int(0)
    private var count: Int64 = 0

    mutating func add(_ number: Value) {
        count += 1
        if case .int(let left) = sum, case .int(let right) = number {
            let (total, isTooLarge) = left.addingReportingOverflow(right)
            sum = isTooLarge ? .double(bits: (Double(left) + Double(right)).bitPattern) : .int(total)
        } else {
            sum = Arithmetic.apply(.add, sum, number)
        }
    }

    var total: BSONValue { BSONValue(number: sum) ?? .null }

    /// Null of no number.
    var average: BSONValue {
        guard count > 0 else { return .null }
        if case .int(let total) = sum { return .double(Double(total) / Double(count)) }
        return BSONValue(number: Arithmetic.apply(.divide, sum, .int(count))) ?? .null
    }
}
