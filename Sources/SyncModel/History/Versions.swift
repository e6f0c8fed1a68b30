/// A position in a history. Positions follow each other without gaps, so they can be counted and iterated over.
package protocol HistoryVersion: WireInteger, Strideable where Stride == Int {}

/// A position in a realm's history on the server; 0 is before the first changeset.
package struct ServerVersion: HistoryVersion {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A position in one client realm's own history; 0 is before its first change.
package struct ClientVersion: HistoryVersion {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Stored with a server version; another salt for the same version means that the two histories have diverged.
package struct VersionSalt: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A server version with the salt that ties it to one line of history.
package struct SaltedServerVersion: Hashable, Codable, Sendable {
    package var version: ServerVersion
    package var salt: VersionSalt

    package init(version: ServerVersion = 0, salt: VersionSalt = 0) {
        self.version = version
        self.salt = salt
    }
}

extension HistoryVersion {
    @inlinable package static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }
    @inlinable package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// How many versions lie between the two; negative if `other` comes first.
    @inlinable package func distance(to other: Self) -> Int { Int(truncatingIfNeeded: other.rawValue &- rawValue) }
    @inlinable package func advanced(by count: Int) -> Self {
        Self(rawValue: rawValue &+ UInt64(truncatingIfNeeded: count))
    }

    /// The version that is `count` versions later. Wraps, as the versions in a message may be any number.
    @inlinable package static func &+ (version: Self, count: UInt64) -> Self {
        Self(rawValue: version.rawValue &+ count)
    }
    @inlinable package static func + (version: Self, count: UInt64) -> Self { Self(rawValue: version.rawValue + count) }
    @inlinable package static func - (version: Self, count: UInt64) -> Self { Self(rawValue: version.rawValue - count) }
    @inlinable package static func += (version: inout Self, count: UInt64) { version = version + count }
    @inlinable package static func &+= (version: inout Self, count: UInt64) { version = version &+ count }
}
