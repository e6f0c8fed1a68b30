package import SyncModel

/// A realm, or what is left of an erased one, as far as it matters where it goes.
package struct StoredRealm: Sendable, Equatable {
    package var id: RealmID
    package var name: RealmName
    /// The bytes that are stored of the realm, roughly.
    package var bytes: Int

    package init(id: RealmID, name: RealmName, bytes: Int) {
        self.id = id
        self.name = name
        self.bytes = bytes
    }
}

/// A realm that goes to another slice, where it has another number.
package struct RealmMove: Sendable, Equatable {
    package var old: RealmID
    package var new: RealmID
    package var bytes: Int

    package init(old: RealmID, new: RealmID, bytes: Int) {
        self.old = old
        self.new = new
        self.bytes = bytes
    }
}

/// The choice of the realms that leave their slices for new ones, and of the numbers that they get there. Shown the
/// same realms in the same order, the division says the same, so what was interrupted can be gone through again. Pure.
package struct RealmDivision: Sendable {
    private let count: SliceCount
    /// How many realms each new slice has got so far.
    package private(set) var realms: [SliceNumber: Int] = [:]
    package private(set) var bytes: [SliceNumber: Int] = [:]

    /// - Parameter count: the number of slices that the cluster gets.
    package init(among count: SliceCount) { self.count = count }

    /// The realms of a page that leave their slice, by where they go, in chunks that one transaction should move.
    package mutating func moves(
        of page: [StoredRealm], in slice: SliceNumber
    ) -> [(target: SliceNumber, chunks: [[RealmMove]])] {
        var moves: [SliceNumber: [RealmMove]] = [:]
        for realm in page {
            let target = realm.name.slice(of: count)
            guard target != slice else { continue }
            let number = realms[target, default: 0] + 1
            realms[target] = number
            bytes[target, default: 0] += realm.bytes
            moves[target, default: []].append(
                RealmMove(old: realm.id, new: RealmID(Int64(number)), bytes: realm.bytes))
        }
        return moves.sorted { $0.key < $1.key }.map { ($0.key, RealmMove.chunks($0.value)) }
    }
}

extension RealmMove {
    /// What one transaction moves: as many realms, and about as many bytes, but at least one realm.
    private static let most = (realms: 500, bytes: 32 << 20)

    package static func chunks(_ moves: [RealmMove]) -> [[RealmMove]] {
        var chunks: [[RealmMove]] = []
        var bytes = 0
        for move in moves {
            if let last = chunks.last, last.count < most.realms, bytes + move.bytes <= most.bytes {
                chunks[chunks.count - 1].append(move)
            } else {
                chunks.append([move])
                bytes = 0
            }
            bytes += move.bytes
        }
        return chunks
    }
}
