import Foundation
import LocalCluster
import RealmState
import TestSupport
import Testing

@testable import DeviceSync

extension SharedClusterTests {
    /// An app that only Sluice's own SDK uses: from the command that creates it to what the store holds in the end.
    @Suite struct CompatibilityTests {
        private static let schema = [
            ObjectSchemaDescription(
                "Store", primaryKey: PropertyDescription("_id", .string),
                properties: [
                    PropertyDescription("shelves", .object("Shelf"), collection: .map),
                    PropertyDescription("codes", .any, collection: .set),
                ]),
            ObjectSchemaDescription(
                embedded: "Shelf",
                properties: [
                    PropertyDescription("name", .string, isOptional: true), PropertyDescription("places", .int),
                ]),
        ]

        private struct App: Decodable {
            var compatibility: String
        }

        private struct Verdict: Decodable {
            var replay: String
            var digest: String?
        }

        @Test func allCopiesOfAConvergentAppEndEqualToTheStoreWhateverWasWrittenOffline() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--compatibility", "convergent")
            try await expectEqual(
                cluster.operateJSON(App.self, "apps", "show", cluster.app).compatibility, "convergent")
            let first = try await Device(cluster, schema: Self.schema)
            try first.realm.write {
                try first.realm.dynamicCreate(
                    "Store", value: ["_id": "nw", "shelves": ["old": ["name": "old", "places": 1]]])
            }
            try await first.upload()
            let second = try await Device(cluster, schema: Self.schema)
            for device in [first, second] { try await device.suspend() }

            // Made at one key by both; replaced, and changed inside; one member of a set in two forms.
            try edit(first) { shelves, codes in
                shelves["new"] = ["name": "first"]
                shelves["old"] = ["name": "first"]
                codes.insert(1)
            }
            try edit(second) { shelves, codes in
                shelves["new"] = ["places": 7]
                (shelves["old"] as? DynamicObject)?["places"] = 7
                codes.insert(1.0)
            }
            for device in [first, second] {
                try device.session.resume()
                try await device.upload()
            }
            for device in [first, second] { try await device.download() }

            let third = try await Device(cluster, schema: Self.schema)
            let verdict = try await cluster.operateJSON(
                Verdict.self, "realms", "verify", "--app", cluster.app, "--realm", Device.partition)
            expectEqual(verdict.replay, "equal")
            for device in [first, second, third] {
                try expectEqual(digest(device), verdict.digest)
                let new = try shelves(device)["new"] as? DynamicObject
                expectTrue(new?["name"] as? String == "first" && new?["places"] as? Int == 7)
            }
        }

        private func shelves(_ device: Device) throws -> DynamicMap {
            let store = try #require(try device.realm.dynamicObject(ofType: "Store", forPrimaryKey: "nw"))
            return try #require(store["shelves"] as? DynamicMap)
        }

        private func edit(_ device: Device, _ body: (DynamicMap, DynamicSet) -> Void) throws {
            let store = try #require(try device.realm.dynamicObject(ofType: "Store", forPrimaryKey: "nw"))
            let shelves = try #require(store["shelves"] as? DynamicMap)
            let codes = try #require(store["codes"] as? DynamicSet)
            try device.realm.write { body(shelves, codes) }
        }

        private func digest(_ device: Device) throws -> String {
            StateDump.digest(of: try device.realm.instance.core.snapshot.state).description
        }
    }
}
