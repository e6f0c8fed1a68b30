import Foundation
import LocalCluster
import SyncModel

/// The flexible apps in which strangers may make users; their realms are in the slice of the honest flexible app's.
struct FlexibleTargets: Codable, Sendable {
    /// Every user may read and write everything, and query by every property.
    var open: String
    /// Every user has objects of their own; owner and status may be queried.
    var owned: String
    /// The same, and besides the objects of 9,000 teams that its rules list: some 99 kB of rules.
    var listed: String

    /// - Parameters:
    ///   - app: the app whose slice is shared.
    ///   - slices: how many slices the cluster has.
    init(besides app: String, slices: Int) throws {
        guard let count = SliceCount(slices) else { throw Refused("no cluster has \(slices) slices") }
        let slice = RealmName(flexible: app).slice(of: count)
        /// The first of a row of names whose realm is in the slice.
        func name(_ beginning: String) throws -> String {
            let names = (0..<1_000).lazy.map { "\(beginning)-\($0)" }
            guard let name = names.first(where: { RealmName(flexible: $0).slice(of: count) == slice }) else {
                throw Refused("no name of 1,000 leads to slice \(slice)")
            }
            return name
        }
        open = try name("stranger-flexible")
        owned = try name("stranger-owned")
        listed = try name("stranger-listed")
    }

    /// Makes the apps, with their rules.
    func create(in cluster: LocalCluster) async throws {
        let teams = (0..<9_000).map { #""v\#(String(format: "%06d", $0))""# }.joined(separator: ",")
        let rules = [
            (open, "open"),
            (owned, try Self.write(Self.rules(reading: #"{"owner":"%%user.id"}"#, values: "{}"), owned, cluster)),
            (
                listed,
                try Self.write(
                    Self.rules(
                        reading: #"{"$or":[{"owner":"%%user.id"},{"status":{"$in":"%%values.teams"}}]}"#,
                        values: #"{"teams":[\#(teams)]}"#), listed, cluster)
            ),
        ]
        for (app, rules) in rules {
            try await cluster.operate("apps", "create", app, "--sync-mode", "flexible", "--rules", rules)
        }
    }

    private static func rules(reading filter: String, values: String) -> String {
        """
        {"defaultRoles":[{"name":"own","apply_when":{},"document_filters":{"read":\(filter),"write":{"owner":"%%user.id"}},\
        "read":true,"write":true}],"values":\(values),"queryable":{"global":["owner","status"]}}
        """
    }

    private static func write(_ rules: String, _ app: String, _ cluster: LocalCluster) throws -> String {
        let path = "\(cluster.folder)/rules-\(app).json"
        try rules.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
