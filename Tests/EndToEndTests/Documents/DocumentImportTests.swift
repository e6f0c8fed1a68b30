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

        /// What an import that fails prints.
        private func complaint(_ cluster: LocalCluster, _ arguments: String...) async -> String {
            do {
                return "done: \(try await cluster.operate(["documents", "import", "--app", cluster.app] + arguments))"
            } catch {
                return "\(error)"
            }
        }

        @Test func filesThatAreBrokenSayWhereAndHowFarTheImportCame() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            for number in 0..<3 { try device.create("i-\(number)", name: "pen", stock: number) }
            try await device.upload()
            let folder = try folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            _ = try await cluster.operate(
                "documents", "export", "--app", cluster.app, "--partition", Device.partition, "--to", folder,
                "--format", "bson")
            let file = "\(folder)/Item.bson"
            let whole = try Data(contentsOf: URL(fileURLWithPath: file))
            try whole.dropLast(3).write(to: URL(fileURLWithPath: file))
            let cut = await complaint(cluster, "--partition", "copy", file)
            for words in [
                "exited with 65", "Item.bson, byte", "expected the rest of a document", "0 documents are written",
            ] {
                expectTrue(cut.contains(words), "\(cut)")
            }
            try whole.write(to: URL(fileURLWithPath: file))
            _ = try await cluster.shell("gzip", [file])
            let packed = try Data(contentsOf: URL(fileURLWithPath: file + ".gz"))
            try packed.dropLast(9).write(to: URL(fileURLWithPath: file + ".gz"))
            let cutPack = await complaint(cluster, "--partition", "copy", file + ".gz")
            expectTrue(cutPack.contains("expected the rest of the gzip file"), "\(cutPack)")
            // A folder within itself has its files once.
            try packed.write(to: URL(fileURLWithPath: file + ".gz"))
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/again", withDestinationPath: folder)
            let totals = try await cluster.operateJSON(
                Totals.self, "documents", "import", "--app", cluster.app, "--partition", "copy", folder)
            expectTrue(totals.written == 3 && totals.rejected == 0, "\(totals)")
        }

        @Test func aClassThatTheAppLacksIsShownBeforeAnythingIsWritten() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            _ = try await cluster.operate("apps", "set", cluster.app, "--no-development-mode")
            let folder = try folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let text = "{\"_id\": 1, \"text\": \"x\", \"stars\": 2}\n{\"_id\": 2, \"text\": 7}\n"
            try text.write(toFile: "\(folder)/Note.ndjson", atomically: true, encoding: .utf8)
            // Before it in the folder's order.
            try "{\"_id\": \"b\", \"name\": \"x\", \"stock\": 1}\n".write(
                toFile: "\(folder)/Item.ndjson", atomically: true, encoding: .utf8)
            let refusal = await complaint(cluster, "--partition", "copy", folder)
            for words in [
                "nothing was written", "Note: 2 documents; the app's schema has no such class",
                "text: int (1), string (1)",
            ] {
                expectTrue(refusal.contains(words), "\(refusal)")
            }
            let after = await complaint(cluster, "--partition", "copy", "\(folder)/none.ndjson")
            expectTrue(after.contains("none.ndjson"), "\(after)")
            try await expectTrue(
                cluster.operate("documents", "count", "--app", cluster.app, "--all-partitions", "Item").contains("1"))
            _ = try await cluster.operate("apps", "set", cluster.app, "--development-mode")
            let totals = try await cluster.operateJSON(
                Totals.self, "documents", "import", "--app", cluster.app, "--partition", "copy", folder)
            expectTrue(totals.written == 3, "\(totals)")
        }
    }
}
