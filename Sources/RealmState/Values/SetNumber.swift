import Changesets

/// A number of any type, compared by value. NaN comes before every other number and equals itself.
enum SetNumber {
    case int(Int64)
    case double(Double)
    case decimal(Decimal128Value)

    static func compare(_ left: SetNumber, _ right: SetNumber) -> Int {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.double(let left), .double(let right)): compare(left, right)
        case (.int(let left), .double(let right)): compare(left, right)
        case (.double(let left), .int(let right)): -compare(right, left)
        case (.decimal(let left), .decimal(let right)): DecimalNumber(left).compare(DecimalNumber(right))
        case (.decimal(let left), .int(let right)): DecimalNumber(left).compare(DecimalNumber(right))
        case (.int(let left), .decimal(let right)): DecimalNumber(left).compare(DecimalNumber(right))
        // A decimal equals the binary number that its digits read as: 0.1 is one member, whichever came first.
        case (.decimal(let left), .double(let right)): compare(DecimalNumber(left).double, right)
        case (.double(let left), .decimal(let right)): compare(left, DecimalNumber(right).double)
        }
    }

    private static func compare(_ left: Double, _ right: Double) -> Int {
        if left.isNaN || right.isNaN { return left.isNaN == right.isNaN ? 0 : left.isNaN ? -1 : 1 }
        return left < right ? -1 : left == right ? 0 : 1
    }

    private static func compare(_ left: Int64, _ right: Double) -> Int {
        if right.isNaN { return 1 }
        // 2^63 and beyond have no Int64; inside, the whole part is exact.
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = right.rounded(.towardZero)
        let wholeInt = Int64(whole)
        if left != wholeInt { return left < wholeInt ? -1 : 1 }
        return right > whole ? -1 : right < whole ? 1 : 0
    }
}

/// A decimal taken apart for comparing and printing.
struct DecimalNumber {
    enum Kind { case finite, infinite, nan }
    var kind: Kind
    var isNegative: Bool
    var coefficient: UInt128
    var exponent: Int

    init(_ value: Decimal128Value) {
        isNegative = value.high >> 63 != 0
        coefficient = UInt128(value.high & 0x0001_FFFF_FFFF_FFFF) << 64 | UInt128(value.low)
        exponent = Int(value.high >> 49 & 0x3FFF) - 6176
        switch value.high >> 58 & 0x1F {
        case 0x1F: kind = .nan
        case 0x1E: kind = .infinite
        default: kind = .finite
        }
    }

    init(_ value: Int64) {
        kind = .finite
        isNegative = value < 0
        coefficient = UInt128(value.magnitude)
        exponent = 0
    }

    /// Digits, exponent and sign as in a program's source.
    var text: String {
        switch kind {
        case .nan: "NaN"
        case .infinite: isNegative ? "-Inf" : "Inf"
        case .finite: "\(isNegative ? "-" : "")\(coefficient)E\(exponent)"
        }
    }

    var double: Double {
        switch kind {
        case .nan: .nan
        case .infinite: isNegative ? -.infinity : .infinity
        case .finite: Double(text) ?? 0
        }
    }

    func compare(_ other: DecimalNumber) -> Int {
        if kind == .nan || other.kind == .nan { return kind == other.kind ? 0 : kind == .nan ? -1 : 1 }
        let signs = (sign, other.sign)
        guard signs.0 == signs.1 else { return signs.0 < signs.1 ? -1 : 1 }
        return signs.0 < 0 ? other.compareMagnitude(self) : compareMagnitude(other)
    }

    private var sign: Int { kind == .finite && coefficient == 0 ? 0 : isNegative ? -1 : 1 }

    private func compareMagnitude(_ other: DecimalNumber) -> Int {
        if kind == .infinite || other.kind == .infinite {
            return kind == other.kind ? 0 : kind == .infinite ? 1 : -1
        }
        guard coefficient != 0, other.coefficient != 0 else { return 0 }
        let digits = String(coefficient).utf8.count
        let otherDigits = String(other.coefficient).utf8.count
        let orders = (digits + exponent, otherDigits + other.exponent)
        guard orders.0 == orders.1 else { return orders.0 < orders.1 ? -1 : 1 }
        // Same number of digits before the point: padding the shorter one to the longer keeps both within 35 digits.
        let width = max(digits, otherDigits)
        let left = coefficient.padded(by: width - digits)
        let right = other.coefficient.padded(by: width - otherDigits)
        return left < right ? -1 : left == right ? 0 : 1
    }
}

extension UInt128 {
    fileprivate func padded(by zeros: Int) -> UInt128 {
        var result = self
        for _ in 0..<zeros {
            result = result &* 10
        }
        return result
    }
}
