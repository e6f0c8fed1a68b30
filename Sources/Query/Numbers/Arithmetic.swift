package import RealmState

/// `+ - * /` on values: in the wider type of int, float, double, decimal. Null for what is no number.
package enum Arithmetic {
    package static func apply(_ op: ArithmeticOperator, _ left: Value, _ right: Value) -> Value {
        switch (left, right) {
        case (.int(let left), .int(let right)): return .int(apply(op, left, right))
        case (.decimal, _), (_, .decimal):
            guard let left = decimal(left), let right = decimal(right) else { return .null }
            return .decimal(apply(op, left, right).value)
        case (.double, _), (_, .double):
            guard let left = double(left), let right = double(right) else { return .null }
            return .double(bits: apply(op, left, right).bitPattern)
        case (.float, _), (_, .float):
            guard let left = float(left), let right = float(right) else { return .null }
            return .float(bits: apply(op, left, right).bitPattern)
        default: return .null
        }
    }

    /// Wraps at 64 bits; a division by zero gives the greatest or least integer.
    private static func apply(_ op: ArithmeticOperator, _ left: Int64, _ right: Int64) -> Int64 {
        switch op {
        case .add: left &+ right
        case .subtract: left &- right
        case .multiply: left &* right
        case .divide: right == 0 ? (left >= 0 ? .max : .min) : left.dividedReportingOverflow(by: right).partialValue
        }
    }

    private static func apply<T: FloatingPoint>(_ op: ArithmeticOperator, _ left: T, _ right: T) -> T {
        switch op {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: left / right
        }
    }

    private static func apply(_ op: ArithmeticOperator, _ left: DecimalNumber, _ right: DecimalNumber) -> DecimalNumber
    {
        switch op {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: left / right
        }
    }

    package static func decimal(_ value: Value) -> DecimalNumber? {
        switch value {
        case .int(let value): DecimalNumber(value)
        case .float(let bits): DecimalNumber(Float(bitPattern: bits))
        case .double(let bits): DecimalNumber(Double(bitPattern: bits))
        case .decimal(let value): DecimalNumber(value)
        default: nil
        }
    }

    static func double(_ value: Value) -> Double? {
        switch value {
        case .int(let value): Double(value)
        case .float(let bits): Double(Float(bitPattern: bits))
        case .double(let bits): Double(bitPattern: bits)
        default: nil
        }
    }

    private static func float(_ value: Value) -> Float? {
        switch value {
        case .int(let value): Float(value)
        case .float(let bits): Float(bitPattern: bits)
        default: nil
        }
    }
}
