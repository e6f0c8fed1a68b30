/// The number of a string in its changeset's table. Meaningless beside any other changeset's table.
package struct InternedString: Hashable, Sendable {
    package var index: UInt32
    package init(_ index: UInt32) { self.index = index }
}

/// The strings of one changeset in the order of their numbers.
package struct InternTable: Sendable, Equatable {
    package private(set) var strings: [ByteString] = []
    /// The bytes of all strings together.
    package private(set) var byteCount = 0
    /// Only once there are many strings: most changesets have few, and there may be very many changesets.
    private var numbers: [ByteString: UInt32] = [:]
    private static let fewStrings = 16

    package init() {}

    package var count: Int { strings.count }

    /// The string behind a number, or nil for a number that was never given out (possible only with hostile input).
    package subscript(_ interned: InternedString) -> ByteString? {
        let index = Int(interned.index)
        return index < strings.count ? strings[index] : nil
    }

    package func find(_ string: ByteString) -> InternedString? {
        if strings.count > Self.fewStrings { return numbers[string].map(InternedString.init) }
        return strings.firstIndex(of: string).map { InternedString(UInt32(truncatingIfNeeded: $0)) }
    }

    /// The number of `string`, appending it to the table if it is new.
    package mutating func intern(_ string: ByteString) -> InternedString {
        if let known = find(string) { return known }
        let number = UInt32(truncatingIfNeeded: strings.count)
        strings.append(string)
        byteCount += string.count
        if strings.count > Self.fewStrings {
            // The first time, those before it too.
            for index in numbers.count..<strings.count {
                numbers[strings[index]] = UInt32(truncatingIfNeeded: index)
            }
        }
        return InternedString(number)
    }

    package static func == (left: InternTable, right: InternTable) -> Bool { left.strings == right.strings }
}
