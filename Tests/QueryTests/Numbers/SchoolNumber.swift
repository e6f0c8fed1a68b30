import RealmState

@testable import Query

/// A decimal as one writes it on paper: any number of digits, and arithmetic digit by digit.
struct SchoolNumber: Equatable, CustomStringConvertible {
    enum Kind: Equatable { case finite, infinite, nan }

    var kind = Kind.finite
    var isNegative = false
    /// The highest first, without leading zeros; none: zero.
    var digits: [Int] = []
    /// The power of ten of the last digit.
    var exponent = 0

    static let nan = SchoolNumber(kind: .nan)
    static func infinity(_ isNegative: Bool) -> SchoolNumber { SchoolNumber(kind: .infinite, isNegative: isNegative) }

    init(kind: Kind = .finite, isNegative: Bool = false, digits: some Sequence<Int> = [], exponent: Int = 0) {
        self.kind = kind
        self.isNegative = isNegative
        self.digits = Array(digits.drop { $0 == 0 })
        self.exponent = exponent
    }

    init(_ number: DecimalNumber) {
        switch number.kind {
        case .nan: self = .nan
        case .infinite: self = .infinity(number.isNegative)
        case .finite:
            self.init(
                isNegative: number.isNegative, digits: "\(number.coefficient)".compactMap(\.wholeNumberValue),
                exponent: number.exponent)
        }
    }

    var isZero: Bool { kind == .finite && digits.isEmpty }

    var description: String {
        switch kind {
        case .nan: "NaN"
        case .infinite: isNegative ? "-Inf" : "Inf"
        case .finite: "\(isNegative ? "-" : "")\(digits.isEmpty ? "0" : digits.map(String.init).joined())E\(exponent)"
        }
    }

    // MARK: Rounding

    /// The nearest decimal128: 34 digits, exponents from -6176 to 6111, half to even.
    ///
    /// - Parameter hasMore: whether something other than zero follows the last digit.
    func rounded(hasMore: Bool = false) -> SchoolNumber {
        guard kind == .finite else { return self }
        var result = self
        let count = max(digits.count - 34, digits.isEmpty ? 0 : -6176 - exponent)
        if count > 0 {
            let padded = Array(repeating: 0, count: max(count - digits.count, 0)) + digits
            let tail = padded.suffix(count)
            result = SchoolNumber(
                isNegative: isNegative, digits: padded.dropLast(count), exponent: exponent + count)
            let isMore = hasMore || tail.dropFirst().contains { $0 != 0 }
            let first = tail.first ?? 0
            if first > 5 || first == 5 && (isMore || (result.digits.last ?? 0) % 2 == 1) {
                result.digits = Self.sum(result.digits, [1])
            }
            if result.digits.count > 34 {
                result.digits.removeLast()
                result.exponent += 1
            }
        }
        if result.digits.isEmpty {
            result.exponent = min(max(result.exponent, -6176), 6111)
        } else if result.exponent > 6111 {
            result.digits += Array(repeating: 0, count: result.exponent - 6111)
            result.exponent = 6111
            if result.digits.count > 34 { return .infinity(isNegative) }
        }
        return result
    }

    // MARK: Order

    /// -1, 0 or 1; NaN equals itself and is below all else, and zeros are equal.
    func compare(_ other: SchoolNumber) -> Int {
        if kind == .nan || other.kind == .nan { return kind == other.kind ? 0 : kind == .nan ? -1 : 1 }
        let signs = [self, other].map { $0.isZero ? 0 : $0.isNegative ? -1 : 1 }
        if signs[0] != signs[1] { return signs[0] < signs[1] ? -1 : 1 }
        if kind == .infinite || other.kind == .infinite {
            return kind == other.kind ? 0 : (kind == .infinite) == isNegative ? -1 : 1
        }
        let least = min(exponent, other.exponent)
        let order = Self.order(padded(to: least), other.padded(to: least))
        return isNegative ? -order : order
    }

    private func padded(to least: Int) -> [Int] {
        digits.isEmpty ? [] : digits + Array(repeating: 0, count: exponent - least)
    }

    private static func order(_ left: [Int], _ right: [Int]) -> Int {
        if left.count != right.count { return left.count < right.count ? -1 : 1 }
        for (left, right) in zip(left, right) where left != right { return left < right ? -1 : 1 }
        return 0
    }

    // MARK: Arithmetic, before rounding

    static func + (left: SchoolNumber, right: SchoolNumber) -> SchoolNumber {
        if left.kind == .nan || right.kind == .nan { return .nan }
        if left.kind == .infinite, right.kind == .infinite { return left == right ? left : .nan }
        if left.kind == .infinite { return left }
        if right.kind == .infinite { return right }
        let least = min(left.exponent, right.exponent)
        let (first, second) = (left.padded(to: least), right.padded(to: least))
        if left.isNegative == right.isNegative {
            return SchoolNumber(isNegative: left.isNegative, digits: sum(first, second), exponent: least)
        }
        switch order(first, second) {
        case 0: return SchoolNumber(exponent: least)
        case 1: return SchoolNumber(isNegative: left.isNegative, digits: difference(first, second), exponent: least)
        default: return SchoolNumber(isNegative: right.isNegative, digits: difference(second, first), exponent: least)
        }
    }

    static prefix func - (number: SchoolNumber) -> SchoolNumber {
        var result = number
        if number.kind != .nan { result.isNegative.toggle() }
        return result
    }

    static func * (left: SchoolNumber, right: SchoolNumber) -> SchoolNumber {
        if left.kind == .nan || right.kind == .nan { return .nan }
        let isNegative = left.isNegative != right.isNegative
        if left.kind == .infinite || right.kind == .infinite {
            return left.isZero || right.isZero ? .nan : .infinity(isNegative)
        }
        var product: [Int] = []
        for digit in right.digits {
            product.append(0)
            for _ in 0..<digit { product = sum(product, left.digits) }
        }
        return SchoolNumber(isNegative: isNegative, digits: product, exponent: left.exponent + right.exponent)
    }

    /// Returns as many digits of the quotient as decide, and whether others follow.
    func divided(by other: SchoolNumber) -> (quotient: SchoolNumber, hasMore: Bool) {
        if kind == .nan || other.kind == .nan || kind == .infinite && other.kind == .infinite { return (.nan, false) }
        let isNegative = isNegative != other.isNegative
        if kind == .infinite { return (.infinity(isNegative), false) }
        if other.kind == .infinite { return (SchoolNumber(isNegative: isNegative, exponent: -6176), false) }
        if other.isZero { return (isZero ? .nan : .infinity(isNegative), false) }
        var result = SchoolNumber(isNegative: isNegative, exponent: exponent - other.exponent)
        var rest: [Int] = []
        var next = digits[...]
        while !next.isEmpty || !rest.isEmpty && result.digits.count < 40 {
            if next.isEmpty { result.exponent -= 1 }
            rest = Array((rest + [next.popFirst() ?? 0]).drop { $0 == 0 })
            var digit = 0
            while Self.order(rest, other.digits) >= 0 {
                rest = Self.difference(rest, other.digits)
                digit += 1
            }
            if digit > 0 || !result.digits.isEmpty { result.digits.append(digit) }
        }
        return (result, !rest.isEmpty)
    }

    private static func sum(_ left: [Int], _ right: [Int]) -> [Int] {
        var result: [Int] = []
        var carry = 0
        for place in 1...max(left.count, right.count, 1) {
            carry += place <= left.count ? left[left.count - place] : 0
            carry += place <= right.count ? right[right.count - place] : 0
            result.append(carry % 10)
            carry /= 10
        }
        result.append(carry)
        return Array(result.reversed().drop { $0 == 0 })
    }

    /// - Parameter left: not less than the other.
    private static func difference(_ left: [Int], _ right: [Int]) -> [Int] {
        var result = left
        var borrow = 0
        for place in 1...max(left.count, 1) where place <= left.count {
            let digit = left[left.count - place] - (place <= right.count ? right[right.count - place] : 0) - borrow
            borrow = digit < 0 ? 1 : 0
            result[left.count - place] = digit + 10 * borrow
        }
        return Array(result.drop { $0 == 0 })
    }
}
