extension ObjectKey {
    /// The key as people write it, without quotation marks.
    package var plainText: String {
        switch self {
        case .null: "null"
        case .int(let value): String(value)
        case .string(let value): value.string
        case .globalKey(let high, let low): "\(high)-\(low)"
        case .objectID(let value): hexText(value.high, 16) + hexText(UInt64(value.low), 8)
        case .uuid(let value):
            [
                hexText(value.high >> 32, 8), hexText(value.high >> 16 & 0xffff, 4), hexText(value.high & 0xffff, 4),
                hexText(value.low >> 48, 4), hexText(value.low & 0xffff_ffff_ffff, 12),
            ].joined(separator: "-")
        }
    }
}

/// Hexadecimal digits: so many, or as many as the number has.
package func hexText(_ value: UInt64, _ digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
