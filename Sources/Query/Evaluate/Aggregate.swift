import RealmState

/// `@min @max @sum @avg` of some values of one type. Nulls count for nothing, and NaN neither.
enum Aggregate {
    static func apply(_ function: AggregateFunction, _ values: [Value], _ type: QueryType) -> Value {
        switch function {
        case .min: least(values.filter { counts($0, type) }) { ValueOrder.total($0, $1) < 0 }
        case .max: least(values.filter { counts($0, type) }) { ValueOrder.total($0, $1) > 0 }
        case .sum: sum(values.filter { counts($0, type) }, type)
        case .average: average(values.filter { counts($0, type) }, type)
        }
    }

    private static func counts(_ value: Value, _ type: QueryType) -> Bool {
        switch value {
        case .null, .embedded: false
        case .float(let bits): type == .mixed || !Float(bitPattern: bits).isNaN
        case .double(let bits): type == .mixed || !Double(bitPattern: bits).isNaN
        case .decimal(let value): DecimalNumber(value).kind != .nan
        default: true
        }
    }

    private static func least(_ values: [Value], by precedes: (Value, Value) -> Bool) -> Value {
        values.dropFirst().reduce(values.first ?? .null) { precedes($1, $0) ? $1 : $0 }
    }

    private static func sum(_ values: [Value], _ type: QueryType) -> Value {
        switch type {
        case .int:
            return .int(
                values.reduce(0) { sum, value in if case .int(let value) = value { sum &+ value } else { sum } })
        case .float, .double: return .double(bits: values.compactMap(Arithmetic.double).reduce(0, +).bitPattern)
        default: return .decimal(values.compactMap(Arithmetic.decimal).reduce(.zero, +).value)
        }
    }

    private static func average(_ values: [Value], _ type: QueryType) -> Value {
        switch type {
        case .int, .float, .double:
            let numbers = values.compactMap(Arithmetic.double)
            return numbers.isEmpty ? .null : .double(bits: (numbers.reduce(0, +) / Double(numbers.count)).bitPattern)
        default:
            let numbers = values.compactMap(Arithmetic.decimal)
            guard !numbers.isEmpty else { return .null }
            return .decimal((numbers.reduce(.zero, +) / DecimalNumber(Int64(numbers.count))).value)
        }
    }
}
