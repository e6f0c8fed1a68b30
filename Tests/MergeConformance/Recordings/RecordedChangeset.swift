package import Changesets
package import Merge

/// A changeset in a recording.
package struct RecordedChangeset: Decodable, Sendable {
    /// The version at the peer that it comes from (pairs and benchmarks: `version`).
    package var version: UInt64
    package var lastIntegratedLocalVersion: UInt64
    package var timestamp: UInt64
    package var originFileIdent: UInt64
    package var changeset: HexBytes

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version =
            try container.decodeIfPresent(UInt64.self, forKey: .remote_version)
            ?? container.decode(UInt64.self, forKey: .version)
        lastIntegratedLocalVersion =
            try container.decodeIfPresent(UInt64.self, forKey: .last_integrated_local_version) ?? 0
        timestamp = try container.decode(UInt64.self, forKey: .timestamp)
        originFileIdent = try container.decode(UInt64.self, forKey: .origin_file_ident)
        changeset = try container.decode(HexBytes.self, forKey: .changeset)
    }

    private enum CodingKeys: String, CodingKey {
        case version, remote_version, last_integrated_local_version, timestamp, origin_file_ident, changeset
    }

    /// Returns the changeset as the side that comes in.
    package func incoming() throws(ChangesetError) -> IncomingChangeset {
        IncomingChangeset(
            version: version, lastIntegratedLocalVersion: lastIntegratedLocalVersion, originTimestamp: timestamp,
            originFileIdent: originFileIdent, changeset: try Changeset(parsing: changeset.bytes))
    }

    /// Returns the changeset as the side that is here.
    package func local() throws(ChangesetError) -> LocalChangeset {
        LocalChangeset(
            version: version, originTimestamp: timestamp, originFileIdent: originFileIdent,
            changeset: try Changeset(parsing: changeset.bytes))
    }
}
