/// The rights of a user in the realm of one partition. Who may write may read.
package enum PartitionRights: UInt8, Sendable, Codable, Comparable, CaseIterable {
    case none = 0
    case read = 1
    case readWrite = 2

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package var mayRead: Bool { self >= .read }
}
