import AMQP
import ArgumentParser
import Foundation
import Inspection
import Messages
import Operations
import Storage

struct BrokerInit: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the exchanges, queues and bindings of a cluster, and a broker user for each role.",
        discussion: """
            With --management-url everything is made through the broker's management plugin, by a user with the tag \
            administrator. Without it nothing is changed at the broker: the commands that do it are printed, and the \
            definitions written that they import. What is there already stays; what is there and is something else \
            is named, and nothing is changed.

            Each role's password is taken from SLUICE_BROKER_GATEWAY_PASSWORD (and so on), else from ROLE.password \
            in the folder of credentials, else made. ROLE.env beside it has the role's SLUICE_AMQP_URL. Only their \
            owner may read these files.

            With --new-passwords the users get other passwords, also where the folder has theirs: one role after the \
            other, each followed by a restart of its processes \
            (docs/operations.md, "Changing the broker's passwords").
            """)

    @OptionGroup var common: ReportOptions
    @OptionGroup var management: ManagementOptions
    @Option(help: "The folder of the roles' passwords.") var credentials = "sluice-broker"
    @Option(
        help: "Where the definitions are written for an import, without --management-url; in that folder if left out.")
    var definitions: String?
    @Option(name: .customLong("cluster"), help: "The cluster's id, where this shell cannot read the store.")
    var clusterID: String?
    @Option(help: "What the names of the roles' users begin with; the prefix and a hyphen if left out.")
    var userPrefix: String?
    @Flag(help: "Give the users new passwords; with --role only those of these roles.")
    var newPasswords = false
    @Option(help: "With --new-passwords: a role whose user gets a new password; repeat it for several.")
    var role: [String] = []

    private struct Report: Encodable {
        struct User: Encodable {
            var role: String
            var user: String
            var passwordFile: String
            var configure: String
            var write: String
            var read: String
        }

        var broker: String
        var cluster: String
        var applied: Bool
        /// What was made, or would be.
        var changes: [String]
        var users: [User]
        var definitions: String?
        var commands: [String]?
    }

    func run(_ settings: ClusterSettings) async throws {
        let changing = try rolesWithNewPasswords()
        let host = try settings.amqp(name: "broker init").virtualHost
        let client = try management.client(settings)
        let facts = try await client?.facts(ofVirtualHost: host).facts
        let cluster = try await cluster(settings, facts)
        let plan = BrokerPlan(
            topology: settings.topology, slices: try settings.sliceCount(), virtualHost: host, cluster: cluster,
            userPrefix: userPrefix)
        if let facts { try refuseConflicts(plan, facts) }
        let folder = BrokerCredentials(folder: credentials, environment: ProcessInfo.processInfo.environment)
        let passwords = try passwords(folder, plan, facts, changing: changing)
        let document = BrokerDefinitions(plan, passwords: passwords, without: facts)
        for role in BrokerRole.allCases {
            guard let password = passwords[role] else { continue }
            try folder.keep(password, of: role)
            try folder.keepURL(
                try settings.brokerURL().revealed, user: plan.user(role), password: password, of: role)
        }
        var report = Report(
            broker: settings.brokerPlace, cluster: cluster, applied: client != nil, changes: document.changes,
            users: BrokerRole.allCases.map { role in
                let rights = plan.permissions(role)
                return Report.User(
                    role: role.rawValue, user: plan.user(role), passwordFile: folder.passwordFile(role),
                    configure: rights.configure.expression, write: rights.write.expression,
                    read: rights.read.expression)
            })
        if let client {
            if !document.changes.isEmpty { try await client.make(document) }
        } else {
            let file = definitions ?? "\(credentials)/definitions.json"
            try PrivateFile.write(try JSONEncoder.readable.encode(document), to: file)
            report.definitions = file
            report.commands = BrokerShell(plan: plan, credentials: folder, definitions: file).commands
        }
        try output.show(report, text(report))
    }

    private func text(_ report: Report) -> String {
        var lines = ["broker    \(report.broker)", "cluster   \(report.cluster)"]
        if report.applied {
            lines.append(
                "made      \(report.changes.isEmpty ? "nothing: all is there" : report.changes.joined(separator: ", "))"
            )
            lines.append("users     \(report.users.map(\.user).joined(separator: ", "))")
            lines.append("settings  \(credentials)/ROLE.env, with each role's SLUICE_AMQP_URL")
        } else {
            lines.append("nothing is changed at the broker; on one of its machines:")
            lines.append("")
            lines += report.commands ?? []
        }
        return lines.joined(separator: "\n")
    }

    // MARK: The cluster

    /// The id whose mark the broker is to bear: the store's. A store that has none yet gets one, as from the first process.
    private func cluster(_ settings: ClusterSettings, _ facts: BrokerFacts?) async throws -> String {
        if let clusterID {
            guard !clusterID.isEmpty, clusterID.allSatisfy(\.isHexDigit) else {
                throw CommandFailure(
                    .badInput, "--cluster: expected the id that sluice store show tells, in hexadecimal digits")
            }
            return clusterID
        }
        let stores = try settings.stores()
        guard let place = stores.inspector().place else {
            throw CommandFailure(
                .badInput, "a store in memory belongs to its process: set store.url, or give --cluster ID")
        }
        switch try await stores.inspector().cluster() {
        case .named(let cluster): return cluster.id
        case .unnamed:
            throw CommandFailure(
                .badInput,
                "the store at \(place) is of an earlier version and has no id yet: start a process of this one first")
        case .none:
            if facts?.host?.exchanges.contains(where: { $0.name == settings.topology.cluster }) == true {
                throw CommandFailure(
                    .badInput,
                    "there is no store at \(place), and the broker at \(settings.brokerPlace) keeps the queues of a cluster: see "
                        + "that store.url and amqp.prefix are right. Nothing was made")
            }
            return try await stores.control().cluster(orCreate: .new(prefix: settings.topology.prefix)).id
        }
    }

    /// - Throws: `badInput` if something at the broker would have to be deleted or taken from others first.
    private func refuseConflicts(_ plan: BrokerPlan, _ facts: BrokerFacts) throws {
        var conflicts = BrokerExamination(plan: plan, facts: facts).conflicts().map {
            "\($0.subject): \($0.finding)\($0.advice.map { " (\($0))" } ?? "")"
        }
        guard let accounts = facts.accounts else {
            throw CommandFailure(.notAllowed, "the management plugin tells and makes users for administrators only")
        }
        for role in BrokerRole.allCases {
            let name = plan.user(role)
            guard let user = accounts.users.first(where: { $0.name == name }) else { continue }
            let hosts = accounts.permissions.filter { $0.user == name }.map(\.vhost)
            if !user.tags.names.isEmpty || (!hosts.isEmpty && !hosts.contains(plan.virtualHost)) {
                conflicts.append(
                    "user \(name): it is somebody else's, with \(user.tags.names.isEmpty ? "" : "tags and ")rights in virtual hosts "
                        + "\(hosts.joined(separator: ", ")) (choose other names by --user-prefix)")
            }
        }
        guard conflicts.isEmpty else {
            throw CommandFailure(
                .badInput, "nothing was changed:\n        " + conflicts.joined(separator: "\n        "))
        }
    }

    // MARK: Passwords

    private func rolesWithNewPasswords() throws -> Set<BrokerRole> {
        guard newPasswords else {
            guard role.isEmpty else { throw CommandFailure(.badInput, "--role belongs to --new-passwords") }
            return []
        }
        let names = BrokerRole.allCases.map(\.rawValue).joined(separator: ", ")
        let roles = try role.map { name in
            guard let role = BrokerRole(rawValue: name) else {
                throw CommandFailure(.badInput, "--role: expected one of \(names), found \(name.prefix(40))")
            }
            return role
        }
        return Set(roles.isEmpty ? BrokerRole.allCases : roles)
    }

    private func passwords(
        _ folder: BrokerCredentials, _ plan: BrokerPlan, _ facts: BrokerFacts?, changing: Set<BrokerRole>
    ) throws -> [BrokerRole: String] {
        var passwords: [BrokerRole: String] = [:]
        var unknown: [String] = []
        for role in BrokerRole.allCases {
            let isThere = facts?.accounts?.users.contains { $0.name == plan.user(role) } == true
            if changing.contains(role) {
                passwords[role] = try folder.given(role) ?? BrokerCredentials.random()
            } else if let known = try folder.known(role) {
                passwords[role] = known
            } else if isThere {
                unknown.append(plan.user(role))
            } else {
                passwords[role] = BrokerCredentials.random()
            }
        }
        guard unknown.isEmpty else {
            throw CommandFailure(
                .badInput,
                "nothing was changed: \(unknown.joined(separator: ", ")) exist, and their passwords are not in \(credentials): name "
                    + "the folder by --credentials, or say --new-passwords, which shuts processes out that have the old ones"
            )
        }
        return passwords
    }
}
