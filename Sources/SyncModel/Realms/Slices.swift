/// The number of one of the shares of all realms, `0 ..< count`.
package struct SliceNumber: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    package var value: Int
    package init(_ value: Int) { self.value = value }

    package init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
    package var description: String { String(value) }
}

/// How many slices a cluster has, 1 ... 4,096: the same in all its processes.
package struct SliceCount: Hashable, Sendable {
    package let value: Int

    package init?(_ value: Int) {
        guard (1...4096).contains(value) else { return nil }
        self.value = value
    }

    package var all: [SliceNumber] { (0..<value).map(SliceNumber.init) }
}
