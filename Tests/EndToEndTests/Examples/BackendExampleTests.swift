import AMQP
import DeviceSync
import Foundation
import LocalCluster
import Logging
import TestSupport
import Testing

/// Debian's modules for Python that the backends among the examples need.
private enum PythonModules {
    static func isThere(_ module: String) -> Bool {
        ["/usr/lib/python3/dist-packages", "/usr/local/lib/python3/dist-packages"].contains {
            FileManager.default.fileExists(atPath: "\($0)/\(module)")
        }
    }
}

/// The backends of docs/examples do what their READMEs say, beside devices, with feeds and their users as operators make them.
@Suite(.needsBroker, .ownBroker("--management"), .hangGuard, .serialized)
struct BackendExampleTests {
    /// A feed of the class `Item` of the cluster's app.
    ///
    /// - Returns: where its user logs in.
    private func makeFeed(_ name: String, in cluster: LocalCluster) async throws -> [String: String] {
        let url = try #require(TestBroker.managementURL)
        _ = try await cluster.operate("apps", "set", cluster.app, "--change-feed", "documents")
        let folder = "\(cluster.folder)/feeds"
        _ = try await cluster.shell(
            "env",
            [
                "SLUICE_MANAGEMENT_CREDENTIALS=guest:guest", "SLUICE_MANAGEMENT_URL=\(url)", cluster.sluice, "feeds",
                "create", name, "--app", cluster.app, "--class", "Item", "--credentials", folder,
            ])
        let line = try String(contentsOfFile: "\(folder)/feed-\(name).env", encoding: .utf8)
        let parts = line.trimmingCharacters(in: .newlines).split(separator: "=", maxSplits: 1).map(String.init)
        try #require(parts.count == 2)
        return [parts[0]: String(parts[1].prefix { $0 != "?" })]
    }

    private func names(_ device: Device) throws -> [String] {
        try device.realm.dynamicObjects("Item").compactMap { $0["name"] as? String }.sorted()
    }

    /// Takes a document's change, and all before it, out of a feed.
    private func take(_ id: String, from queue: String, in cluster: LocalCluster) async throws {
        let connection = AMQPConnection(
            configuration: try AMQPConfiguration(url: cluster.amqpURL),
            logger: Logger(label: "test.thief") { _ in SwiftLogNoOpLogHandler() })
        try await connection.start()
        let consumer = try await connection.openChannel().consume(queue: queue)
        var isFound = false
        while !isFound, let batch = try await consumer.nextBatch(max: 64) {
            isFound = batch.contains { String(decoding: $0.message.body, as: UTF8.self).contains("\"\(id)\"") }
            if let last = batch.last { try await consumer.ack(upTo: last) }
        }
        await connection.close()
        expectTrue(isFound)
    }

    @Test(.enabled(if: PythonModules.isThere("pika"), "Debian's python3-pika is not installed"))
    func aBackendInPythonAnswersWhatPeopleWrite() async throws {
        try await withCluster(workers: 1) { cluster in
            try await cluster.makeApp()
            let device = try await Device(cluster)
            // Written before there is a feed.
            try device.create("early", name: "? 1 + 1")
            try await device.upload()
            let login = try await makeFeed("answers", in: cluster)
            func answerer() async throws -> ExampleProgram {
                try await ExampleProgram(
                    script: "answerer/answerer.py", as: "answerer",
                    [
                        "--app", cluster.app, "--class", "Item", "--field", "name", "--queue",
                        "\(cluster.prefix).feed.answers",
                    ], settings: login, in: cluster)
            }
            var program = try await answerer()
            try await program.expect("answered 1 + 1 = 2")
            try await program.expect("answering")
            // An owner tells of changes a second or two after the feed was turned on.
            try device.create("plain", name: "pen")
            try device.create("first", name: "? 2 * 3")
            try await device.upload()
            try await eventually {
                try await device.download()
                return try names(device) == ["1 + 1 = 2", "2 * 3 = 6", "pen"]
            }
            // Killed, and what is asked meanwhile is answered by the next one, once.
            await program.kill()
            for number in 1...20 { try device.create("q\(number)", name: "? \(number) + 0") }
            try await device.upload()
            program = try await answerer()
            try await eventually {
                try await device.download()
                return try names(device).count { $0.hasSuffix(" + 0 = \(Int($0.prefix { $0 != " " }) ?? -1)") } == 20
            }
            try await program.terminate()
            try expectEqual(names(device).count, 23)
        }
    }

    @Test(
        .needsPostgres,
        .enabled(
            if: PythonModules.isThere("pika") && PythonModules.isThere("psycopg2"),
            "Debian's python3-pika and python3-psycopg2 are not installed"))
    func aTableIsInStepWithAClassWhateverHappensToWhoKeepsIt() async throws {
        let schema = PostgresSchema()
        _ = try await schema.sql("CREATE SCHEMA \(schema.name)")
        try await withCluster(workers: 1) { cluster in
            try await cluster.makeApp()
            let device = try await Device(cluster)
            for number in 0..<30 { try device.create("early \(number)", stock: number) }
            try await device.upload()
            var settings = try await makeFeed("warehouse", in: cluster)
            settings["DATABASE_URL"] = try TestPostgres.requireURL()
            settings["PGOPTIONS"] = "-c search_path=\(schema.name)"
            var started = 0
            func warehouse() async throws -> ExampleProgram {
                started += 1
                return try await ExampleProgram(
                    script: "warehouse/warehouse.py", as: "warehouse-\(started)",
                    ["--app", cluster.app, "--class", "Item", "--queue", "\(cluster.prefix).feed.warehouse"],
                    settings: settings, in: cluster)
            }
            // A service manager's part: it ends as long as the feed is too new to be told from its beginning.
            func start() async throws -> ExampleProgram {
                var program = try await warehouse()
                try await eventually("the warehouse follows") {
                    if program.lines.contains("following") { return true }
                    if !program.isRunning { program = try await warehouse() }
                    return false
                }
                return program
            }
            func expectInStep() async throws {
                try await device.upload()
                try await device.download()
                let wanted = try device.realm.dynamicObjects("Item").map { "\($0["_id"] ?? "") \($0["stock"] ?? "")" }
                var seen: [String] = []
                try await eventually("the table has what the device has") {
                    seen = try await schema.sql(
                        """
                        SELECT (document->>'_id') || ' ' || (document->>'stock') FROM \(schema.name).current_documents
                        """
                    ).split(separator: "\n").map(String.init)
                    return seen.sorted() == wanted.sorted()
                }
            }
            var program = try await start()
            try await expectInStep()
            for number in 0..<20 { try device.create("late \(number)", stock: number) }
            try await device.upload()
            _ = try await cluster.operate(
                "documents", "delete", "--app", cluster.app, "--partition", Device.partition, "Item", "early 3")
            try await expectInStep()
            // Killed while changes come: it goes on where it was, and what comes again changes nothing.
            await program.kill()
            for number in 0..<20 {
                _ = try await cluster.operate(
                    "documents", "update", "--app", cluster.app, "--partition", Device.partition, "Item",
                    "late \(number)", "--apply", #"{"$inc": {"stock": 100}}"#)
            }
            program = try await start()
            try await expectInStep()
            // The word that something was lost: the state is read anew.
            let row = "UPDATE \(schema.name).documents SET document = NULL WHERE id = '\"early 1\"'"
            _ = try await schema.sql(row)
            try await program.terminate()
            _ = try await cluster.shell(
                "amqp-publish",
                [
                    "-u", String(cluster.amqpURL.prefix { $0 != "?" }), "-e", "", "-r",
                    "\(cluster.prefix).feed.warehouse.lost", "-p", "-b", "{}",
                ])
            program = try await start()
            try await program.terminate()
            let restored = try await schema.sql(
                "SELECT count(*) FROM \(schema.name).documents WHERE document IS NOT NULL AND id = '\"early 1\"'")
            expectTrue(restored.contains("1"), "\(restored)")
            // The broker loses a change, here as somebody else takes it: the next one tells that.
            try device.create("taken", stock: 1)
            try await device.upload()
            try await take("taken", from: "\(cluster.prefix).feed.warehouse", in: cluster)
            try device.create("after", stock: 1)
            program = try await start()
            try await expectInStep()
            expectTrue(program.lines.contains { $0.contains("is missing") }, "\(program.lines)")
            try await program.terminate()
        }
        try await schema.drop()
    }
}
