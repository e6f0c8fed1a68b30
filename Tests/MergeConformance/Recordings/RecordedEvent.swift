/// A line of a recorded scenario: a star of one server and several clients.
package enum RecordedEvent: Decodable, Sendable {
    case begin(Begin)
    case local(Local)
    case integrate(Integrate)
    /// What every peer holds at the end.
    case state(JSON)
    /// A kind that this version does not know.
    case other(String)

    package struct Begin: Decodable, Sendable {
        package var server: UInt64?
    }

    /// A peer's own write, applied to its state as it is.
    package struct Local: Decodable, Sendable {
        package var peer: UInt64
        package var version: UInt64
        package var timestamp: UInt64
        package var changeset: HexBytes
    }

    /// What a peer makes of another's changesets.
    package struct Integrate: Decodable, Sendable {
        package var peer: UInt64
        package var from: UInt64
        package var version: UInt64
        package var changesets: [RecordedChangeset]
        /// The transformed changesets, one after another in one buffer.
        package var result: HexBytes
    }

    private enum CodingKeys: String, CodingKey { case event, json }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(String.self, forKey: .event) {
        case "begin": self = .begin(try Begin(from: decoder))
        case "local": self = .local(try Local(from: decoder))
        case "integrate": self = .integrate(try Integrate(from: decoder))
        case "state": self = .state(try container.decode(JSON.self, forKey: .json))
        case let kind: self = .other(kind)
        }
    }
}
