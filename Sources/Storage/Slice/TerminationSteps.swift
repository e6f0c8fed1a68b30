/// A termination whose client files of a slice are marked, and then reported, in steps between messages; and how far that is.
///
/// Its generation is the app's from the beginning. So a client file of an earlier generation that is not marked yet has to reset
/// all the same: its row says so only later.
package struct TerminationSteps: Sendable, Equatable {
    package var app: String
    package var generation: UInt64
    package var campaign: String
    /// The last client file that was looked at: while they are marked, of all that the app has; then, while they are reported, of
    /// the campaign's. Nil before the first.
    package var last: ClientFileKey?
    /// All client files are marked.
    package var isMarked: Bool
    /// The number of parts in which the client files are reported, nil until they are counted; and how many parts were.
    package var chunks: Int?
    package var reported: Int

    package init(
        app: String, generation: UInt64, campaign: String, last: ClientFileKey? = nil, isMarked: Bool = false,
        chunks: Int? = nil, reported: Int = 0
    ) {
        self.app = app
        self.generation = generation
        self.campaign = campaign
        self.last = last
        self.isMarked = isMarked
        self.chunks = chunks
        self.reported = reported
    }

    /// Whether the termination will come to a client file that it makes reset, and has not yet.
    package func hasYetToMark(_ file: ClientFileRecord) -> Bool {
        guard !isMarked, file.generation < generation, file.state == .live || file.state == .resetRequired else {
            return false
        }
        return last.map { ($0.realm, $0.ident) < (file.realm, file.ident) } ?? true
    }

    /// How far it is after the client files up to `key`, which were marked.
    ///
    /// - Parameter isEnd: there are no others.
    package func marked(through key: ClientFileKey?, isEnd: Bool) -> TerminationSteps {
        var steps = self
        steps.last = isEnd ? nil : key ?? last
        steps.isMarked = isEnd
        return steps
    }
}
