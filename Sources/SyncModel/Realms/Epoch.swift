/// A slice's ownership number. It grows at every change of owner; a write that names an older one is refused.
package struct Epoch: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var value: UInt64
    package init(_ value: UInt64) { self.value = value }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
    package var description: String { String(value) }
}
