package import SyncModel

/// The rows of the control store's table `settings` about the cluster as a whole: a text for each name, so that an older version, too,
/// can tell what is there.
package struct ClusterSettings: Sendable {
    package let values: [String: String]

    /// - Parameter rows: each a `name` and a `value`.
    package init(rows: [any ControlRow]) throws {
        values = try rows.reduce(into: [:]) { $0[try $1.text("name")] = try $1.text("value") }
    }

    package init(_ values: [String: String]) { self.values = values }

    package static let selectingCluster = """
        SELECT name, value FROM settings WHERE name IN ('cluster', 'cluster.prefix', 'cluster.broker')
        """
    /// What begins with `slice.`.
    package static let selectingSlices = "SELECT name, value FROM settings WHERE name > 'slice.' AND name < 'slice/'"

    /// Nil if no cluster is recorded.
    package var cluster: ClusterRecord? {
        guard let id = values["cluster"], let prefix = values["cluster.prefix"] else { return nil }
        return ClusterRecord(id: id, prefix: prefix, hasMarkedBroker: values["cluster.broker"] != nil)
    }

    /// The setting of the moment that the last backup would bring back.
    package static let backup = "backup"

    /// How many slices the cluster was created with.
    package var sliceCount: Int? { values["slices"].flatMap { Int($0) } }

    /// The cluster of which the store is an unfinished copy; nil if it is none.
    package var copied: String? { values[CopyMark.cluster] }

    /// The epochs that are recorded of slices that were made.
    /// - Throws: `corrupt`.
    package func slicesMade() throws(StoreError) -> [SliceNumber: Epoch] {
        var made: [SliceNumber: Epoch] = [:]
        for (name, value) in values where name.hasPrefix("slice.") {
            guard let number = Int(name.dropFirst("slice.".count)), let epoch = UInt64(value) else {
                throw StoreError(.corrupt, "the recorded epoch of \(name) is not a number")
            }
            made[SliceNumber(number)] = Epoch(epoch)
        }
        return made
    }

    /// The cluster, and how far its growth is.
    /// - Throws: `notFound` if there is no cluster, `mismatch` if the store is an unfinished copy.
    package func growth(at place: String) throws(StoreError) -> (cluster: ClusterRecord, growth: SliceGrowth?) {
        if let copied { throw StoreError.unfinishedCopy(of: copied, at: place) }
        guard let cluster else {
            throw StoreError(.notFound, "there is no cluster at \(place) yet: none of its processes has started")
        }
        guard let growth = values[SliceGrowth.setting] else { return (cluster, nil) }
        return (cluster, try SliceGrowth(growth))
    }

    /// How many slices a cluster has that may get more.
    /// - Throws: `corrupt`.
    package func growingCount() throws(StoreError) -> SliceCount {
        guard let count = sliceCount.flatMap(SliceCount.init) else {
            throw StoreError(.corrupt, "the recorded number of slices is not a number")
        }
        return count
    }
}

extension SliceGrowth {
    /// The settings that record how far the growth is. With `.clearing`, the cluster has its new number of slices, and has made those.
    package func settings(made: [SliceNumber: Epoch]) -> [String: String] {
        var values = [Self.setting: text]
        guard step == .clearing else { return values }
        values["slices"] = String(to.value)
        for (slice, epoch) in made { values["slice.\(slice)"] = String(epoch.value) }
        return values
    }
}
