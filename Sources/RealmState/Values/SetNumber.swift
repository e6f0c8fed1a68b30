import Changesets

/// A number of any type, compared by value. NaN comes before every other number and equals itself.
enum SetNumber {
    case int(Int64)
    case double(Double)
    case decimal(Decimal128Value)

    static func compare(_ left: SetNumber, _ right: SetNumber) -> Int {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.double(let left), .double(let right)): NumberOrder.compare(left, right)
        case (.int(let left), .double(let right)): NumberOrder.compare(left, right)
        case (.double(let left), .int(let right)): -NumberOrder.compare(right, left)
        case (.decimal(let left), .decimal(let right)): DecimalNumber(left).compare(DecimalNumber(right))
        case (.decimal(let left), .int(let right)): DecimalNumber(left).compare(DecimalNumber(right))
        case (.int(let left), .decimal(let right)): DecimalNumber(left).compare(DecimalNumber(right))
        // A decimal equals the binary number that its digits read as: 0.1 is one member, whichever came first.
        case (.decimal(let left), .double(let right)): NumberOrder.compare(DecimalNumber(left).double, right)
        case (.double(let left), .decimal(let right)): NumberOrder.compare(left, DecimalNumber(right).double)
        }
    }
}

/// The order of binary numbers by what they amount to. NaN comes before every other number and equals itself.
package enum NumberOrder {
    @inlinable package static func compare(_ left: Double, _ right: Double) -> Int {
        if left.isNaN || right.isNaN { return left.isNaN == right.isNaN ? 0 : left.isNaN ? -1 : 1 }
        return left < right ? -1 : left == right ? 0 : 1
    }

    /// Compares without loss: numbers of 2^63 and beyond have no Int64, and inside that range the whole part is exact.
    @inlinable package static func compare(_ left: Int64, _ right: Double) -> Int {
        if right.isNaN { return 1 }
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = right.rounded(.towardZero)
        let wholeInt = Int64(whole)
        if left != wholeInt { return left < wholeInt ? -1 : 1 }
        return right > whole ? -1 : right < whole ? 1 : 0
    }
}
