package import SyncModel

/// How far a cluster is that gets more slices, as its control store has it. As long as that is recorded, no process uses the store.
package struct SliceGrowth: Sendable, Equatable {
    package enum Step: String, Sendable {
        /// The new slices are filled; the old ones still have everything.
        case copying
        /// The cluster has its new number of slices; what has moved is taken out of the old ones.
        case clearing
    }

    package var from: SliceCount
    package var to: SliceCount
    package var step: Step

    package init(from: SliceCount, to: SliceCount, step: Step) {
        self.from = from
        self.to = to
        self.step = step
    }

    /// The slices that the cluster gets.
    package var newSlices: [SliceNumber] { Array(to.all[from.value...]) }

    /// The setting of the control store that says so.
    package static let setting = "growth"

    package var text: String { "\(from.value) \(to.value) \(step.rawValue)" }

    /// - Throws: `corrupt`.
    package init(_ text: String) throws(StoreError) {
        let words = text.split(separator: " ")
        guard words.count == 3, let from = Int(words[0]).flatMap(SliceCount.init),
            let to = Int(words[1]).flatMap(SliceCount.init), let step = Step(rawValue: String(words[2])),
            to.value > from.value
        else { throw StoreError(.corrupt, "the recorded growth of the cluster cannot be read: \(text.prefix(80))") }
        self.init(from: from, to: to, step: step)
    }
}

extension StoreError {
    /// What a process, and every command but another growth, says of a store that has not got all its slices yet.
    package static func unfinishedGrowth(_ growth: SliceGrowth, at place: String) -> StoreError {
        let numbers = "\(growth.from.value) to \(growth.to.value)"
        let abort = growth.step == .copying ? "; sluice slices grow --abort leaves it with \(growth.from.value)" : ""
        return StoreError(
            .mismatch,
            """
            the cluster at \(place) is getting more slices, from \(numbers), and that was not finished: \
            sluice slices grow --to \(growth.to.value) goes on\(abort)
            """)
    }

    /// The setting that says so, if it does.
    package static func unfinishedGrowth(_ setting: String?, at place: String) throws(StoreError) {
        guard let setting else { return }
        throw unfinishedGrowth(try SliceGrowth(setting), at: place)
    }
}
