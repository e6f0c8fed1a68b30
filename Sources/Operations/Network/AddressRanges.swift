/// Addresses that are trusted: single ones and networks (`10.0.0.0/8`).
package struct AddressRanges: Sendable, Equatable, CustomStringConvertible {
    /// A text that names no address or network.
    package struct Invalid: Error, Equatable {
        package var entry: String
    }

    private struct Range: Sendable, Equatable {
        var first: IPAddress
        /// Bits that an address has in common with the first one.
        var bits: Int

        init?(_ text: Substring) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let address = parts.first.flatMap({ IPAddress($0) }), parts.count <= 2 else { return nil }
            let most = address.bytes.count * 8
            guard parts.count == 2 else {
                (first, bits) = (address, most)
                return
            }
            guard parts[1].allSatisfy(\.isNumber), let bits = Int(parts[1]), bits <= most else { return nil }
            (first, self.bits) = (address, bits)
        }

        func contains(_ address: IPAddress) -> Bool {
            guard address.bytes.count == first.bytes.count else { return false }
            let whole = bits / 8
            guard address.bytes.prefix(whole) == first.bytes.prefix(whole) else { return false }
            let rest = bits % 8
            return rest == 0 || (address.bytes[whole] ^ first.bytes[whole]) >> (8 - rest) == 0
        }
    }

    package private(set) var description = ""
    private var ranges: [Range] = []

    /// None.
    package init() {}

    /// - Parameter text: separated by commas.
    package init(_ text: String) throws(Invalid) {
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            let entry = entry.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            guard let range = Range(Substring(String(entry))) else { throw Invalid(entry: String(entry)) }
            ranges.append(range)
        }
        description = text
    }

    package func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }
}
