import RealmState
import SyncModel

/// How many objects classes of a realm have, about: counted in the store now and then, for what clients are told of a bootstrap's progress.
struct ObjectCounts {
    /// The objects of a class that are counted at most: a class with more is taken for one with twice as many.
    static let most = 1_000_000
    private static let leastVersions = 100

    private var counts: [TableID: (count: Int, at: ServerVersion)] = [:]

    /// Nil if the class has to be counted anew: since it was, about a tenth of its objects may have come or gone.
    func count(of table: TableID, at version: ServerVersion) -> Int? {
        guard let known = counts[table], known.at <= version else { return nil }
        return known.at.distance(to: version) <= max(Self.leastVersions, known.count / 10) ? known.count : nil
    }

    /// - Parameter counted: at most `most`.
    mutating func keep(_ counted: Int, of table: TableID, at version: ServerVersion) -> Int {
        let count = counted < Self.most ? counted : 2 * Self.most
        counts[table] = (count, version)
        return count
    }
}
