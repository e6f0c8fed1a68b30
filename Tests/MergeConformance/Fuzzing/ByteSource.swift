/// Decisions that an input makes; zeros once it is used up.
struct ByteSource {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func next() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    /// A number below `count`, which is at least 1.
    mutating func choice(_ count: Int) -> Int { Int(next()) % max(1, count) }

    mutating func element<Element>(of array: [Element], or other: Element) -> Element {
        array.isEmpty ? other : array[choice(array.count)]
    }
}
