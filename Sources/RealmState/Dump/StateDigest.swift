package import Changesets

/// A fingerprint of a realm's schema and objects, for comparing copies. Objects may be added in any order, so a store
/// can compute it page by page. It detects accidents, not forgery.
package struct StateDigest: Hashable, Sendable, CustomStringConvertible {
    private var sum: UInt128 = 0

    package init(schema: Schema) {
        var form = CanonicalForm(schema: schema)
        form.writeSchema()
        sum = Self.hash(form.writer.bytes)
    }

    package mutating func add(_ address: ObjectAddress, _ object: StoredObject, schema: Schema) {
        guard let table = schema.table(address.className) else { return }
        var form = CanonicalForm(schema: schema)
        form.writer.write(lengthAnd: address.className)
        form.writer.write(detached: address.key)
        form.write(object, of: table)
        sum = sum &+ Self.hash(form.writer.bytes)
    }

    /// Thirty-two hexadecimal digits.
    package var description: String {
        hexText(UInt64(truncatingIfNeeded: sum >> 64), 16) + hexText(UInt64(truncatingIfNeeded: sum), 16)
    }

    /// FNV-1a, 128 bits, and a last multiplication so that sums of hashes mix well.
    private static func hash(_ bytes: [UInt8]) -> UInt128 {
        let prime: UInt128 = 1 << 88 | 0x13B
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in bytes {
            hash = (hash ^ UInt128(byte)) &* prime
        }
        hash ^= hash >> 61
        return hash &* 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835
    }
}
