import Foundation
import LocalCluster
import TestSupport
import Testing

extension ShakenPostgresClusterTests {
    /// A store that cannot be used, or is not the cluster's, is refused with what to do, and nothing of it changes.
    @Suite struct StoreMistakeTests {
        /// A cluster whose store is in a schema of its own, and what is tried on it.
        private struct Bench {
            let cluster: LocalCluster
            let schema: String
            let server: String
            let url: String
            private let place: PostgresSchema

            init() async throws {
                cluster = try SharedCluster.cluster
                place = try SharedCluster.schema
                (schema, url, server) = (place.name, try place.url, try TestPostgres.requireURL())
                try await cluster.makeApp()
            }

            func sql(_ statement: String) async throws -> String { try await place.sql(statement) }

            /// How a command or a process ends with another store.
            func outcome(_ arguments: [String], store: String, settings: [String: String] = [:]) async -> String {
                var environment = cluster.environment.merging(settings) { $1 }
                environment["SLUICE_STORE_URL"] = store
                do {
                    return "succeeded: "
                        + (try await Program.run(
                            "/usr/bin/env", ["timeout", "60", cluster.sluice] + arguments, environment: environment,
                            called: "sluice"))
                } catch {
                    return "\(error)"
                }
            }

            func expect(
                _ code: Int, _ words: String..., of arguments: [String], store: String,
                settings: [String: String] = [:],
                sourceLocation: SourceLocation = #_sourceLocation
            ) async {
                let outcome = await outcome(arguments, store: store, settings: settings)
                #expect(
                    outcome.contains("exited with \(code)") && words.allSatisfy(outcome.contains),
                    "\(arguments.joined(separator: " ")): \(outcome)", sourceLocation: sourceLocation)
                #expect(!outcome.contains("a wrong secret"), "it shows a password", sourceLocation: sourceLocation)
            }

            /// What everything in the schema is, row by row.
            func digest() async throws -> String {
                try await sql(
                    """
                    SELECT string_agg(t.table_name || query_to_xml(
                        format('SELECT * FROM %I.%I ORDER BY 1', t.table_schema, t.table_name), true, true, '')::text, '')
                    FROM information_schema.tables t WHERE t.table_schema = '\(schema)'
                    """)
            }
        }

        private static let processes = [["worker"], ["coordinator", "--port", "0"], ["gateway", "--port", "0"]]

        @Test func aWrongAddressUserOrPasswordIsRefused() async throws {
            let bench = try await Bench()
            let nowhere = "postgres://sluice:a%20wrong%20secret@127.0.0.1:\(FreePort.next())/postgres"
            let wrong = bench.server.replacing(/:[^:@\/]*@/, with: ":a%20wrong%20secret@")
            let missing = bench.server.replacing(/\/postgres$/, with: "/nowhere")
            for command in [["store", "check"], ["store", "migrate"], ["backup", bench.cluster.file("none")]] {
                await bench.expect(65, "store URL", of: command, store: "mysql://db/sluice")
                await bench.expect(65, "schema", of: command, store: "\(bench.server)?schema=No")
                await bench.expect(77, "refuses", of: command, store: wrong)
                await bench.expect(77, "nowhere", of: command, store: missing)
                await bench.expect(75, "cannot be reached", of: command, store: nowhere)
            }
            for process in Self.processes {
                await bench.expect(65, "store URL", of: process, store: "mysql://db/sluice")
                await bench.expect(77, "refuses", of: process, store: wrong)
                await bench.expect(77, "nowhere", of: process, store: missing)
            }
        }

        @Test func tablesOfAnotherVersionOrMadeInPartAreRefused() async throws {
            let bench = try await Bench()
            await bench.cluster.stop()
            let copy = bench.cluster.file("backup")
            func refused(
                _ words: String..., of commands: [[String]],
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let before = try await bench.digest()
                for command in commands {
                    let outcome = await bench.outcome(command, store: bench.url)
                    #expect(
                        outcome.contains("exited with 65") && words.allSatisfy(outcome.contains),
                        "\(command.joined(separator: " ")): \(outcome)", sourceLocation: sourceLocation)
                }
                #expect(try await bench.digest() == before, sourceLocation: sourceLocation)
            }
            let versions = try await bench.sql("SELECT part, version FROM \(bench.schema).sluice_schema ORDER BY 1")
            expectTrue(versions.contains("control|"))

            _ = try await bench.sql("UPDATE \(bench.schema).sluice_schema SET version = version + 1")
            try await refused("newer version", of: Self.processes + [["backup", copy]])
            await bench.expect(65, "newer version", of: ["store", "migrate"], store: bench.url)
            _ = try await bench.sql("UPDATE \(bench.schema).sluice_schema SET version = version - 1")

            // A migration that has come to one part and not to the other: who needs both stays out.
            _ = try await bench.sql("UPDATE \(bench.schema).sluice_schema SET version = 0 WHERE part = 'slice'")
            try await refused("store migrate", of: [["worker"], ["backup", copy]])
            for (part, version) in versions.split(separator: "\n").map({ $0.split(separator: "|") }).map({
                ($0[0], $0[1])
            })
            where part == "slice" {
                _ = try await bench.sql(
                    "UPDATE \(bench.schema).sluice_schema SET version = \(version) WHERE part = 'slice'")
            }

            // The cluster is well again with the right version.
            try await bench.cluster.makeWhole(workers: 2)
        }

        @Test func theStoreOfAnotherClusterIsRefused() async throws {
            let bench = try await Bench()
            let other = TestPostgres.uniqueName()
            let url = "\(bench.server)?schema=\(other)"
            // Empty tables, under a broker that has a cluster's queues.
            try await bench.cluster.operate("store", "init", "--without-roles", "--store", url)
            for process in Self.processes { await bench.expect(65, "there is no store", of: process, store: url) }
            // The tables of another cluster have these settings.
            _ = try await bench.sql(
                """
                INSERT INTO \(other).settings (name, value) VALUES
                    ('cluster', '00ff00ff00ff00ff'), ('cluster.prefix', '\(bench.cluster.prefix)'), ('slices', '\(bench.cluster.slices)')
                """)
            for process in Self.processes { await bench.expect(65, "belongs to", of: process, store: url) }
            // And those of a cluster with other queues.
            _ = try await bench.sql("UPDATE \(other).settings SET value = 'else' WHERE name = 'cluster.prefix'")
            for process in Self.processes { await bench.expect(65, "amqp.prefix \"else\"", of: process, store: url) }
            // A backup goes into no store that has something.
            let backup = bench.cluster.file("backup")
            try await bench.cluster.operate("backup", backup)
            await bench.expect(65, "already", of: ["restore", backup, "--force"], store: url)
            _ = try await bench.sql("DROP SCHEMA \(other) CASCADE")
        }
    }
}
