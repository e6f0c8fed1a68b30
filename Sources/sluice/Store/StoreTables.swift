import ArgumentParser
import Foundation
import Operations
import Storage
import StoragePostgreSQL

extension ClusterSettings {
    /// Runs `body` with the PostgreSQL store that `store.url` names, as the operator's role sees it.
    fileprivate func withInstallation<Value>(
        _ body: (PostgresInstallation) async throws -> Value
    ) async throws -> Value {
        let client = try storeURL().postgresClient(for: "store.url", logger: quietLogger)
        return try await client.closing { try await body(PostgresInstallation($0)) }
    }
}

struct StoreInit: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the tables of a store in PostgreSQL, and the database roles of its processes.",
        discussion: """
            store.url names the database with a role that may make schemas and roles. What is there already stays; \
            rights are given anew. The roles are SCHEMA_gateway, SCHEMA_worker and SCHEMA_coordinator: each may do \
            what its processes need and no more. Their passwords are read from SLUICE_STORE_GATEWAY_PASSWORD, \
            SLUICE_STORE_WORKER_PASSWORD and SLUICE_STORE_COORDINATOR_PASSWORD; the server gets their SCRAM-SHA-256 \
            verifiers, never the passwords. A role without one logs in by whatever else pg_hba.conf allows.
            """)

    @OptionGroup var common: ReportOptions
    @Flag(help: "Print the statements that make the roles, and do not run them.") var printRoles = false
    @Flag(help: "Make tables only.") var withoutRoles = false

    private struct Report: Encodable {
        var store: String
        var tables: String
        var roles: [String]
    }

    func run(_ settings: ClusterSettings) async throws {
        let passwords = withoutRoles ? [:] : try Self.passwords(ProcessInfo.processInfo.environment)
        try await settings.withInstallation { installation in
            let isNew = try await installation.make()
            var report = Report(store: installation.place, tables: isNew ? "made" : "there already", roles: [])
            if !withoutRoles {
                report.roles = try await installation.makeRoles(passwords: passwords, applying: !printRoles)
            }
            let lines = printRoles ? report.roles.map { "\($0);" } : []
            let roles = withoutRoles || printRoles ? "" : "\nroles    given their rights"
            try output.show(
                report,
                (["store    \(report.store)\ntables   \(report.tables)\(roles)"] + lines).joined(separator: "\n"))
        }
    }

    /// - Throws: `badInput` for a password that cannot be made into a verifier.
    static func passwords(_ environment: [String: String]) throws -> [PostgresRole: ScramVerifier] {
        var passwords: [PostgresRole: ScramVerifier] = [:]
        for role in PostgresRole.allCases {
            let name = "SLUICE_STORE_\(role.rawValue.uppercased())_PASSWORD"
            guard let password = environment[name], !password.isEmpty else { continue }
            guard password.utf8.count >= 12, let verifier = ScramVerifier(password: password) else {
                throw CommandFailure(.badInput, "\(name): expected 12 or more printable ASCII characters")
            }
            passwords[role] = verifier
        }
        return passwords
    }
}

struct StoreMigrate: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Bring the tables of a store in PostgreSQL to this version.",
        discussion: """
            Forward only. What sluice store check calls additions is added while processes of the release before \
            run: migrate first, then replace them one by one, or go back to them. Otherwise processes of older \
            versions refuse the tables afterwards: run it when all of them are stopped.
            """)

    @OptionGroup var common: ReportOptions

    private struct Report: Encodable {
        var store: String
        var changed: [String]
    }

    func run(_ settings: ClusterSettings) async throws {
        try await settings.withInstallation { installation in
            let changed = try await installation.migrate()
            let words = changed.map { "\($0.name) \($0.version ?? 0) -> \($0.latest)" }
            try output.show(
                Report(store: installation.place, changed: words),
                words.isEmpty
                    ? "the tables at \(installation.place) are of this version already" : words.joined(separator: "\n"))
        }
    }
}

struct StoreCheck: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say what a store in PostgreSQL is, and what is wrong with it.",
        discussion: "Changes nothing. Exit codes: 0 all well, 1 something to look at, 2 processes cannot use the store."
    )

    @OptionGroup var common: ReportOptions

    private struct Report: Encodable {
        var store: String
        var server: String
        var control: String
        var slice: String
        var acknowledgedMeans: String
        var faults: [String]
        var warnings: [String]
    }

    func run(_ settings: ClusterSettings) async throws {
        let (place, facts) = try await settings.withInstallation { ($0.place, try await $0.facts()) }
        func words(_ part: PostgresInstallation.Part) -> String {
            part.version.map { "version \($0) of \(part.latest)" } ?? "not there"
        }
        var faults: [String] = []
        var warnings: [String] = []
        for part in facts.parts {
            switch part.version {
            case nil: faults.append("there are no \(part.name) tables: sluice store init")
            case let version? where version < part.latest:
                let when =
                    part.lacksAdditionsOnly
                    ? "additions, which processes of the release before go on with"
                    : "when all processes of older versions are stopped"
                faults.append("the \(part.name) tables are of version \(version): sluice store migrate (\(when))")
            case _? where part.isTooNew:
                faults.append("the \(part.name) tables are of a newer version of Sluice: run that one")
            default: break
            }
        }
        if facts.isReadOnly {
            faults.append("the server takes no writes: name all hosts in store.url, or promote a standby")
        }
        if let obstacle = facts.obstacle { faults.append(obstacle) }
        if facts.durability == .memory {
            warnings.append(
                "commits do not wait for the disk (fsync, synchronous_commit): acknowledged changes can be lost")
        }
        if facts.mayChangeTables {
            warnings.append("this role may change tables: processes should use the roles that sluice store init makes")
        }
        let report = Report(
            store: place, server: facts.server, control: words(facts.parts[0]), slice: words(facts.parts[1]),
            acknowledgedMeans: facts.durability.meaning, faults: faults, warnings: warnings)
        try output.show(
            report,
            """
            store         \(report.store)
            server        PostgreSQL \(report.server)
            control       \(report.control)
            slices        \(report.slice)
            acknowledged  \(report.acknowledgedMeans)
            """ + (faults.map { "\nFAULT         \($0)" } + warnings.map { "\nWARNING       \($0)" }).joined())
        if !faults.isEmpty { throw ExitCode(2) }
        if !warnings.isEmpty { throw ExitCode(1) }
    }
}
