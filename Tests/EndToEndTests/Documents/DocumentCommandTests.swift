import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// An operator's and a backend's documents beside devices, on a real cluster.
    @Suite struct DocumentCommandTests {
        private func documents(_ cluster: LocalCluster, _ verb: String, _ arguments: String...) async throws -> String {
            try await cluster.operate(
                ["documents", verb, "--app", cluster.app, "--partition", Device.partition] + arguments
            ).trimmingCharacters(in: .newlines)
        }

        @Test func whatABackendAndADeviceWriteMeetsInBoth() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a", name: "pen", stock: 5)
            try await device.upload()
            try await device.suspend()
            try device.create("b", name: "ink", stock: 1)
            // A backend goes on while the device is offline.
            _ = try await documents(
                cluster, "update", "Item", "a", "--apply", #"{"$inc": {"stock": 7}}"#, "--only-if", #"{"name": "pen"}"#)
            _ = try await documents(cluster, "insert", "Item", #"{"_id": "c", "name": "paper", "stock": 2}"#)
            try device.session.resume()
            try await device.upload()
            try await device.download()
            try expectEqual(device.ids(), ["a", "b", "c"])
            let found = try await documents(
                cluster, "find", "Item", "--filter", #"{"stock": {"$gte": 2}}"#, "--fields", "stock")
            expectEqual(found, "{\"_id\":\"a\",\"stock\":12}\n{\"_id\":\"c\",\"stock\":2}")
            try await expectEqual(documents(cluster, "count", "Item"), "3")
        }

        @Test func debiansOwnToolCanWriteADocument() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            let realm = #"{"app": "\#(cluster.app)", "partition": "\#(Device.partition)"}"#
            let body =
                #"{"type": "write", "id": "w-1", "realm": \#(realm), "writes": [{"insert": "Item", "document": {"_id": "b", "name": "x", "stock": 1}}]}"#
            for _ in 0..<2 {
                _ = try await cluster.shell(
                    "amqp-publish",
                    [
                        "-u", String(cluster.amqpURL.prefix { $0 != "?" }), "-e", "\(cluster.prefix).slices", "-r", "0",
                        "-C", "application/json",
                        "-p", "-b", body,
                    ])
            }
            let written = try await cluster.operate(
                ["publish", "write", "--app", cluster.app, "--partition", Device.partition, "--wait", "--id", "w-2"]
                    + [#"{"upsert": "Item", "document": {"_id": "b", "name": "told"}}"#])
            expectTrue(written.contains("w-2 integrated as version"), "\(written)")
            try await device.download()
            try expectEqual(device.ids(), ["a", "b"])
        }

        @Test func documentsMaySayTheirPartitionThemselves() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            func write(_ id: String) -> String {
                #"{"upsert": "Item", "document": {"_id": "\#(id)", "name": "\#(Device.partition)", "stock": 1}}"#
            }
            // Any slice will do: the message is passed on.
            let realm = #"{"app": "\#(cluster.app)", "partitionKey": "name"}"#
            let body = #"{"type": "write", "id": "w-1", "realm": \#(realm), "writes": [\#(write("b"))]}"#
            for slice in ["0", "1"] {
                _ = try await cluster.shell(
                    "amqp-publish",
                    [
                        "-u", String(cluster.amqpURL.prefix { $0 != "?" }), "-e", "\(cluster.prefix).events", "-r",
                        slice,
                        "-C", "application/json", "-p", "-b", body,
                    ])
            }
            let key = ["--app", cluster.app, "--partition-key", "name"]
            _ = try await cluster.operate(["publish", "write", "--wait"] + key + [write("c")])
            let file = FileManager.default.temporaryDirectory.appending(path: "writes-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            try (write("d") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            _ = try await cluster.operate(["documents", "write", "--file", file] + key)
            try await eventually {
                try await device.download()
                return try device.ids() == ["a", "b", "c", "d"]
            }
            do {
                _ = try await cluster.operate(["publish", "write", #"{"delete": "Item", "id": "a"}"#] + key)
                expectTrue(false, "published")
            } catch {
                expectTrue("\(error)".contains("writes[0] has no document that says the partition"), "\(error)")
            }
        }

        @Test func documentsAreSearchedAndCounted() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            for (index, name) in ["pen", "ink", "pen", "paper"].enumerated() {
                try device.create("i\(index)", name: name, stock: index)
            }
            try await device.upload()
            for way in [
                ["--query", "name == 'pen' AND stock > 0"], ["--filter", #"{"name": "pen", "stock": {"$gt": 0}}"#],
            ] {
                for more in [[], ["--snapshot"], ["--user", device.user.id]] {
                    let realm = ["--app", cluster.app, "--partition", Device.partition]
                    let found = try await cluster.operate(
                        ["documents", "find", "Item", "--fields", #"{"stock": 1}"#] + realm + way + more)
                    expectEqual(found, #"{"_id":"i2","stock":2}"# + "\n", "\(way) \(more)")
                }
            }
            try await expectEqual(documents(cluster, "distinct", "Item", "name"), #""ink"\#n"paper"\#n"pen""#)
            let sums = try await documents(
                cluster, "aggregate", "Item",
                #"[{"$group": {"_id": "$name", "n": {"$sum": 1}, "stock": {"$sum": "$stock"}}}, {"$sort": {"n": -1, "_id": 1}}, {"$limit": 2}]"#
            )
            expectEqual(sums, #"{"_id":"pen","n":2,"stock":2}\#n{"_id":"ink","n":1,"stock":1}"#)
            // The same, of all partitions together.
            func everywhere(_ arguments: String...) async throws -> String {
                try await cluster.operate(
                    ["documents", arguments[0], "--app", cluster.app, "--all-partitions"] + arguments.dropFirst()
                ).trimmingCharacters(in: .newlines)
            }
            try await expectEqual(everywhere("count", "Item", "--json"), #"{"count":4,"realms":1}"#)
            try await expectEqual(everywhere("distinct", "Item", "name"), #""ink"\#n"paper"\#n"pen""#)
            try await expectEqual(everywhere("aggregate", "Item", #"[{"$count": "n"}]"#), #"{"n":4}"#)
            let way = try await documents(cluster, "explain", "Item", "--filter", #"{"_id": "i1"}"#)
            expectTrue(way.contains("by primary key: at most 1 objects"), "\(way)")
        }

        @Test func aShellWritesInstructionsAndSeesWhatBecomesOfThem() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a", stock: 5)
            try await device.upload()
            let instructions =
                #"[{"op":"AddInteger","class":"Item","key":"a","path":["stock"],"delta":7},{"op":"CreateObject","class":"Item","key":"b"}]"#
            let hex = try await cluster.operate("changeset", "encode", instructions).trimmingCharacters(in: .newlines)
            try await expectEqual(
                cluster.operate("changeset", "decode", hex).trimmingCharacters(in: .newlines), instructions)
            let realm = ["--app", cluster.app, "--partition", Device.partition]
            let written = try await cluster.operate(
                ["publish", "changeset", "--wait", "--id", "c-1", "--instructions", instructions] + realm)
            expectTrue(written.contains("c-1 integrated as version"), "\(written)")
            try await device.download()
            try expectEqual(device.ids(), ["a", "b"])
            let history = try await cluster.operate([
                "realms", "export", "--history", "--app", cluster.app, "--realm", Device.partition,
            ])
            expectTrue(history.contains(#""event":"c-1""#), "\(history)")
            // Lines may have either form; a line that has neither stops the file before anything is published.
            let file = FileManager.default.temporaryDirectory.appending(path: "changesets-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            let line =
                #"{"id": "c-2", "changesets": ["\#(hex)", [{"op": "EraseObject", "class": "Item", "key": "b"}]]}"#
            try (line + "\n" + #"{"id": "c-3", "changesets": [[{"op": "Bark"}]]}"# + "\n").write(
                toFile: file, atomically: true, encoding: .utf8)
            do {
                _ = try await cluster.operate(["publish", "changeset", "--check", "--file", file] + realm)
                expectTrue(false, "published")
            } catch {
                expectTrue("\(error)".contains("line 2: changesets[0]: [0]"), "\(error)")
            }
            let reset = try await cluster.operate(
                ["publish", "reset", "--yes", "--wait", "--id", "r-1"] + realm)
            expectTrue(reset.contains("campaign r-1 is open"), "\(reset)")
        }

        @Test func whatIsNotWrittenSaysWhy() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            func expect(_ code: Int, _ words: String, _ verb: String, _ arguments: String...) async {
                let all = ["documents", verb, "--app", cluster.app, "--partition", Device.partition] + arguments
                do {
                    let outcome = try await cluster.operate(all)
                    expectTrue(false, "done: \(outcome)")
                } catch {
                    expectTrue("\(error)".contains("exited with \(code):") && "\(error)".contains(words), "\(error)")
                }
            }
            await expect(65, "is there already", "insert", "Item", #"{"_id": "a", "name": "x", "stock": 1}"#)
            await expect(65, "stock", "update", "Item", "a", "--values", #"{"stock": "many"}"#)
            await expect(66, "there is no Item", "update", "Item", "z", "--values", #"{"stock": 1}"#)
            await expect(66, "there is no Item", "get", "Item", "z")
            await expect(65, "$near", "find", "Item", "--filter", #"{"name": {"$near": 1}}"#)
            await expect(65, "Thing", "count", "Thing")
        }

        @Test func whatAUserMayNotWriteIsNotWritten() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a", stock: 1)
            try await device.upload()
            func update(_ stock: Int, for user: String) async throws -> String {
                try await documents(
                    cluster, "update", "Item", "a", "--user", user, "--values", #"{"stock": \#(stock)}"#)
            }
            func complaint(for user: String) async -> String {
                do { return "done: \(try await update(9, for: user))" } catch { return "\(error)" }
            }
            let written = try await update(2, for: device.user.id)
            expectTrue(written.contains("integrated as version"), "\(written)")
            let nobody = await complaint(for: "0000000000000001000000ab")
            expectTrue(nobody.contains("exited with 66:"), "\(nobody)")
            // Rules that let nobody write.
            let file = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            try #"{"partition": {"read": true, "write": false}}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            _ = try await cluster.operate("rules", "set", cluster.app, file)
            let forbidden = await complaint(for: device.user.id)
            expectTrue(forbidden.contains("exited with 65:") && forbidden.contains("may not write"), "\(forbidden)")
            _ = try await documents(cluster, "update", "Item", "a", "--values", #"{"stock": 3}"#)
            let found = try await documents(cluster, "get", "Item", "a", "--user", device.user.id)
            expectTrue(found.contains("\"stock\":3"), "\(found)")
        }

        @Test func whatTakesAClassAwayIsAskedForAndACheckedFileIsPublishedAsAWholeOrNot() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            let realm = ["--app", cluster.app, "--partition", Device.partition]
            func complaint(_ arguments: [String]) async -> String {
                do { return "done: \(try await cluster.operate(["publish"] + arguments + realm))" } catch {
                    return "\(error)"
                }
            }
            for event in [
                ["changeset", "--instructions", #"[{"op": "EraseTable", "class": "Item"}]"#],
                ["write", #"{"delete": "Item", "filter": {}, "many": true}"#],
            ] {
                let words = await complaint(event)
                expectTrue(words.contains("cannot be undone: add --yes"), "\(words)")
            }
            // What no owner could read is not published at all; with --check nothing before it is.
            let file = FileManager.default.temporaryDirectory.appending(path: "writes-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            let good = #"{"id": "w-1", "writes": [{"delete": "Item", "id": "a"}]}"#
            let bad = #"{"id": "w-2", "writes": [{"update": "Item", "id": "a", "apply": {"$rename": {}}}]}"#
            try (good + "\n" + bad + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            let checked = await complaint(["write", "--check", "--wait", "--file", file])
            expectTrue(checked.contains("line 2: writes[0].apply.$rename"), "\(checked)")
            try await expectEqual(documents(cluster, "count", "Item"), "1")
            let stopped = await complaint(["write", "--wait", "--file", file])
            expectTrue(stopped.contains("published 1, stopped at line 2: writes[0]"), "\(stopped)")
            try await expectEqual(documents(cluster, "count", "Item"), "0")
            let stale = await complaint(["write", "--wait", "--if-version", "1", #"{"delete": "Item", "id": "a"}"#])
            expectTrue(stale.contains("exited with 65:") && stale.contains("refused: onlyIf.version"), "\(stale)")
        }
    }
}
