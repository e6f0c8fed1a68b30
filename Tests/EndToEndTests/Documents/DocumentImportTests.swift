import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// Documents that come from files and go into them, on a real cluster.
    @Suite struct DocumentImportTests {
        private struct Totals: Decodable {
            var written: Int
            var rejected: Int
        }

        private func folder() throws -> String {
            let path = FileManager.default.temporaryDirectory.appending(path: "documents-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return path
        }

        private func found(_ cluster: LocalCluster, _ partition: String) async throws -> String {
            try await cluster.operate(
                "documents", "find", "--app", cluster.app, "--partition", partition, "Item", "--canonical")
        }

        @Test(arguments: ["json", "bson"]) func whatIsExportedIsImportedAgain(format: String) async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            for number in 0..<20 { try device.create("i-\(number)", name: "pen \(number)", stock: number) }
            try await device.upload()
            let folder = try folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            _ = try await cluster.operate(
                "documents", "export", "--app", cluster.app, "--partition", Device.partition, "--to", folder,
                "--format", format)
            let file = "\(folder)/Item.\(format == "bson" ? "bson" : "ndjson")"
            _ = try await cluster.shell("gzip", [file])
            let totals = try await cluster.operateJSON(
                Totals.self, "documents", "import", "--app", cluster.app, "--partition", "copy", folder)
            expectTrue(totals.written == 20 && totals.rejected == 0, "\(totals)")
            try await expectEqual(found(cluster, "copy"), found(cluster, Device.partition))
        }

        @Test func rowsThatDoNotFitAreRejectedAndTheOthersGoOn() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            let folder = try folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let (file, rejects, progress) = ("\(folder)/Item.csv", "\(folder)/rejects", "\(folder)/progress")
            let rows = "_id,name,stock,store\n7,pen,3,north\n8,ink,many,north\n9,nib,5,south\n10,cap,6,\n"
            try rows.write(toFile: file, atomically: true, encoding: .utf8)
            let seen = try await cluster.operate("documents", "import", "--app", cluster.app, "--dry-run", file)
            expectTrue(seen.contains("Item: 3 documents, 1 that cannot be read"), "\(seen)")
            expectTrue(seen.contains("_id: string -> string"), "\(seen)")
            expectTrue(seen.contains("store: string (2) -> no such property"), "\(seen)")

            // A word for a number, and a row that goes to no partition. Given again, nothing is left to do.
            for _ in 0..<2 {
                let totals = try await cluster.operateJSON(
                    Totals.self, "documents", "import", "--app", cluster.app, "--partition-key", "store", "--rejects",
                    rejects, "--resume", progress, file)
                expectTrue(totals.written == 2 && totals.rejected == 2, "\(totals)")
            }
            await #expect(throws: (any Error).self, "the file of another import") {
                try await cluster.operate(
                    "documents", "import", "--app", cluster.app, "--partition", "west", "--resume", progress, file)
            }
            let reasons = try String(contentsOfFile: rejects, encoding: .utf8)
            expectEqual(reasons.split(separator: "\n").count, 2)
            expectTrue(reasons.contains("expected a value of type int64, came \\\"many\\\""), "\(reasons)")
            expectTrue(reasons.contains("it has no store, which says its partition"), "\(reasons)")
            try await expectTrue(found(cluster, "north").contains("\"_id\":\"7\""))
            try await expectTrue(found(cluster, "south").contains("\"_id\":\"9\""))
        }
    }
}
