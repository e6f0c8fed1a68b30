/// A small recorded merge: two sides made over one state, and what the reference makes of them.
package struct RecordedPair: Decodable, Sendable {
    /// `hostile` and others; nothing but a name.
    package var kind: String?
    package var ours: [RecordedChangeset]
    package var theirs: [RecordedChangeset]
    package var recorded: Recorded

    package enum Recorded: Sendable {
        case merged(ours: [[UInt8]], theirs: [[UInt8]])
        /// The reference refused them, with this text if it had the time to say so.
        case refused(String?)
    }

    private enum CodingKeys: String, CodingKey { case kind, ours, theirs, ours_after, theirs_after, error }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decodeIfPresent(String.self, forKey: .kind)
        ours = try container.decode([RecordedChangeset].self, forKey: .ours)
        theirs = try container.decode([RecordedChangeset].self, forKey: .theirs)
        let oursAfter = try container.decodeIfPresent([HexBytes].self, forKey: .ours_after)
        let theirsAfter = try container.decodeIfPresent([HexBytes].self, forKey: .theirs_after)
        if let error = try container.decodeIfPresent(String.self, forKey: .error) {
            recorded = .refused(error)
        } else if let oursAfter, let theirsAfter {
            recorded = .merged(ours: oursAfter.map(\.bytes), theirs: theirsAfter.map(\.bytes))
            guard oursAfter.count == ours.count, theirsAfter.count == theirs.count else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath + [CodingKeys.ours_after],
                        debugDescription: "expected \(ours.count) and \(theirs.count) changesets after the merge,"
                            + " found \(oursAfter.count) and \(theirsAfter.count)"))
            }
        } else if oursAfter == nil, theirsAfter == nil {
            recorded = .refused(nil)
        } else {
            let missing = oursAfter == nil ? CodingKeys.ours_after : .theirs_after
            throw DecodingError.keyNotFound(
                missing, .init(codingPath: decoder.codingPath, debugDescription: "only one side is recorded"))
        }
    }

    /// The same with the roles exchanged.
    package var mirrored: RecordedPair {
        var mirrored = self
        swap(&mirrored.ours, &mirrored.theirs)
        if case .merged(let ours, let theirs) = recorded { mirrored.recorded = .merged(ours: theirs, theirs: ours) }
        return mirrored
    }
}
