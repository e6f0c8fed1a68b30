import Changesets
import RealmState

/// Constants in canonical text.
enum CanonicalValue {
    /// How many digits of binary numbers are written.
    enum Digits {
        /// So many that they read back as the same number of the same type.
        case full
        /// So many that they read back as an equal number, whatever its type.
        case exact
        /// Six, as beside mixed properties and in lists.
        case short

        fileprivate func count(_ full: Int) -> Int {
            switch self {
            case .full: full
            case .exact: NumberText.doubleDigits
            case .short: NumberText.shortDigits
            }
        }
    }

    static func text(_ value: Value, digits: Digits) -> String {
        switch value {
        case .null: "NULL"
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let text): string(text.bytes)
        case .binary(let bytes): "binary(\(string(bytes)))"
        case .timestamp(let value): "T\(value.seconds):\(value.nanoseconds)"
        case .float(let bits):
            NumberText.text(Double(Float(bitPattern: bits)), digits: digits.count(NumberText.floatDigits))
        case .double(let bits):
            NumberText.text(Double(bitPattern: bits), digits: digits.count(NumberText.doubleDigits))
        case .decimal(let value): DecimalNumber(value).queryText
        case .objectID(let value): key(.objectID(value))
        case .uuid(let value): key(.uuid(value))
        case .link(let address): "obj(\(string(Array("class_".utf8) + address.className.bytes)),\(key(address.key)))"
        case .set, .embedded: "NULL"
        // Predicates alone have these: nothing reads them from a text.
        case .list(let items): "[\(items.map { self.text($0, digits: digits) }.joined(separator: ", "))]"
        case .dictionary(let entries):
            "[\(entries.sorted { $0.key < $1.key }.map { "\(key($0.key.bytes)): \(self.text($0.value, digits: digits))" }.joined(separator: ", "))]"
        }
    }

    private static func key(_ key: ObjectKey) -> String {
        switch key {
        case .null: "NULL"
        case .int: key.plainText
        case .string(let text): string(text.bytes)
        case .objectID: "oid(\(key.plainText))"
        case .uuid: "uuid(\(key.plainText))"
        case .globalKey: "\"\(key.plainText)\""
        }
    }

    /// Returns the string in quotes if every byte may stand there, else as base64.
    static func string(_ bytes: [UInt8]) -> String {
        isPlain(bytes) ? "\"\(String(decoding: bytes, as: UTF8.self))\"" : "B64\"\(Base64Text.encode(bytes))\""
    }

    /// A dictionary's key, which stands in single quotes.
    static func key(_ bytes: [UInt8]) -> String {
        isPlain(bytes) ? "'\(String(decoding: bytes, as: UTF8.self))'" : "B64\"\(Base64Text.encode(bytes))\""
    }

    private static let special = Set(" {|}~:;<=>?@!#$%&()*+,-./[]^_`".utf8)

    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        for byte in bytes where byte < 0x80 {
            let isLetter = byte.asciiLowercase >= UInt8(ascii: "a") && byte.asciiLowercase <= UInt8(ascii: "z")
            guard isLetter || byte.decimalDigit != nil || special.contains(byte) else { return false }
        }
        return String(validating: bytes, as: UTF8.self) != nil
    }

    // MARK: Regions

    /// - Parameter isExact: whether all digits are written, and not six.
    static func region(_ region: GeoRegion, isExact: Bool = false) -> String {
        func number(_ value: Double) -> String {
            NumberText.text(value, digits: isExact ? NumberText.doubleDigits : NumberText.shortDigits)
        }
        func point(_ point: GeoRegion.Point) -> String {
            "[\(number(point.longitude)), \(number(point.latitude))]"
        }
        return switch region {
        case .circle(let center, let radius): "GeoCircle(\(point(center)), \(number(radius)))"
        case .polygon(let loops):
            "GeoPolygon(\(loops.map { "{\($0.map(point).joined(separator: ", "))}" }.joined(separator: ", ")))"
        }
    }
}
