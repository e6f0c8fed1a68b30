import Foundation

/// The amounts that an app has in a slice. The store keeps count with each commit.
package struct AppUsage: Sendable, Equatable {
    package var realms: Int
    /// The client files of whatever state.
    package var clientFiles: Int
    /// The bytes of objects, histories and bases; in flexible realms those of before images, and of what client files
    /// have asked for, too.
    package var bytes: Int

    package init(realms: Int = 0, clientFiles: Int = 0, bytes: Int = 0) {
        self.realms = realms
        self.clientFiles = clientFiles
        self.bytes = bytes
    }
}

/// A user of an app.
package struct AppUser: Hashable, Sendable {
    package var app: String
    package var user: String

    package init(app: String, user: String) {
        self.app = app
        self.user = user
    }
}

/// The amounts that a user adds to a slice: realms and client files made, bytes of changesets uploaded.
package struct UsageAmounts: Sendable, Equatable {
    package var realms: Double
    package var clientFiles: Double
    package var bytes: Double

    package init(realms: Double = 0, clientFiles: Double = 0, bytes: Double = 0) {
        self.realms = realms
        self.clientFiles = clientFiles
        self.bytes = bytes
    }

    package static func += (left: inout UsageAmounts, right: UsageAmounts) {
        left.realms += right.realms
        left.clientFiles += right.clientFiles
        left.bytes += right.bytes
    }
}

/// The amounts that a user has added to a slice lately: of what was added a week ago half is forgotten, and so on. So a user who goes on
/// like anybody never comes to a limit, however long, and what others or the operator have erased since need not be known.
package struct UserUsage: Sendable, Equatable {
    /// The time in which half of what was added is forgotten, in milliseconds.
    package static let halfLife: Double = 7 * 86_400_000
    /// The number of half-lives without an addition after which everything is forgotten: less is left than what is
    /// worth a row.
    package static let rememberedHalfLives = 8

    package var amounts: UsageAmounts
    /// When they were these; milliseconds of Unix time.
    package var at: UInt64

    package init(amounts: UsageAmounts = UsageAmounts(), at: UInt64) {
        self.amounts = amounts
        self.at = at
    }

    package func at(_ now: UInt64) -> UserUsage {
        guard now > at else { return self }
        let rest = pow(0.5, Double(now - at) / Self.halfLife)
        return UserUsage(
            amounts: UsageAmounts(
                realms: amounts.realms * rest, clientFiles: amounts.clientFiles * rest, bytes: amounts.bytes * rest),
            at: now)
    }

    package func adding(_ more: UsageAmounts, at now: UInt64) -> UserUsage {
        var sum = at(now)
        sum.amounts += more
        return sum
    }
}
