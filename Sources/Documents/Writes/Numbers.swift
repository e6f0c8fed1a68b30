import Changesets
import ExtendedJSON
import Query
import RealmState

/// Sums and products of properties' values.
enum Numbers {
    static func isNumber(_ value: Value) -> Bool {
        switch value {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    static func zero(like value: Value) -> Value {
        switch value {
        case .double: .double(bits: 0)
        case .float: .float(bits: 0)
        case .decimal: .decimal(Decimal128Value(0))
        default: .int(0)
        }
    }

    /// The sum in the wider type, rounded as that type rounds.
    static func sum(_ left: Value, _ right: Value) throws(DocumentError) -> Value {
        try finite(Arithmetic.apply(.add, left, right))
    }

    /// The product in the wider type; refused if a decimal has not enough digits for it.
    static func product(_ left: Value, _ right: Value) throws(DocumentError) -> Value {
        if case .decimal = left, let right = Arithmetic.decimal(right), let left = Arithmetic.decimal(left),
            left.kind == .finite, right.kind == .finite, !left.isProductExact(right)
        {
            throw DocumentError(.outOfRange, "expected a product of at most 34 digits")
        }
        return try finite(Arithmetic.apply(.multiply, left, right))
    }

    private static func finite(_ value: Value) throws(DocumentError) -> Value {
        let isFinite =
            switch value {
            case .float(let bits): Float(bitPattern: bits).isFinite
            case .double(let bits): Double(bitPattern: bits).isFinite
            case .decimal(let value): DecimalNumber(value).kind == .finite
            default: true
            }
        guard isFinite else { throw DocumentError(.outOfRange, "expected a finite result") }
        return value
    }
}

extension DecimalNumber {
    /// Whether no digit of the product is lost.
    fileprivate func isProductExact(_ other: DecimalNumber) -> Bool {
        let (left, right) = (digits, other.digits)
        guard left.count + right.count <= 38 else { return false }
        let product = left.value * right.value
        let digits = DecimalNumber(coefficient: product, exponent: 0).digits
        let exponent = exponent + left.zeros + other.exponent + right.zeros + digits.zeros
        return product == 0 || (digits.count <= 34 && (-6176...6111).contains(exponent))
    }

    /// The coefficient without the zeros at its end.
    private var digits: (value: UInt128, count: Int, zeros: Int) {
        var value = coefficient
        var zeros = 0
        while value != 0, value % 10 == 0 {
            value /= 10
            zeros += 1
        }
        return (value, value.digitCount, zeros)
    }
}
